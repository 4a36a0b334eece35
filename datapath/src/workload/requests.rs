//! The loop of requests and responses. It runs clients, servers, and the senders of a paced flood.
//!
//! The [`Role`] decides the thread's next step at run time, so the loop is compiled once per engine. A round trip
//! takes far longer than this decision.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use super::client::Client;
use super::numbering::Numbering;
use super::open_loop_client::{Collector, Pacer};
use super::paced_flood::PacedFlood;
use super::server::Server;
use crate::engine::payload::{Check, Fill, Origin};
use crate::engine::verify::SequenceTracker;
use crate::engine::{DatagramIo, Engine};
use crate::sys::clock;
use crate::workload::context::ThreadContext;

/// Role of one thread in the request loop.
#[derive(Debug)]
pub enum Role {
    /// Sends requests and times the responses.
    Client(Client),
    /// Sends requests when they are due: the sending thread of a client with a fixed rate.
    Pacer(Pacer),
    /// Times the responses: the receiving thread of a client with a fixed rate.
    Collector(Collector),
    /// Sends datagrams when they are due.
    Flood(PacedFlood),
    /// Responds to requests.
    Server(Server),
}

/// Next step of a thread.
enum Turn {
    Send(usize),
    Receive,
    CheckStop,
    End,
}

/// Runs a role until told to stop. For roles that receive, the coordinator thread first waits until the queues are
/// empty or no longer change.
pub(crate) async fn drive(
    port: &mut impl DatagramIo,
    role: &mut Role,
    thread: &ThreadContext,
) -> io::Result<()> {
    clock::minimise_timer_slack();
    match role {
        Role::Pacer(pacer) => pacer.begin(),
        Role::Flood(flood) => flood.begin(),
        _ => {}
    }
    loop {
        match role.turn(thread) {
            Turn::Send(endpoint) => {
                let packets = match port.transmit(endpoint, role).await {
                    Ok(moved) => moved.packets,
                    Err(error) => thread.refused(error, port.packets_per_failure())?,
                };
                // A refused request is lost. The client waits for it like for any other lost request.
                if packets > 0 {
                    role.sent(packets);
                    thread.meter.sent.add(packets);
                } else {
                    role.not_sent();
                }
            }
            Turn::Receive => match port.receive(role).await {
                Ok(moved) => thread.meter.received.add(moved),
                Err(error) => thread.tolerate(error)?,
            },
            Turn::CheckStop => {}
            Turn::End => return Ok(()),
        }
    }
}

impl Role {
    /// Prepares for the start: starts a server's threads, if it needs any.
    pub(super) fn begin<E: Engine>(
        &mut self,
        engine: &E,
        payload_bytes: usize,
        thread: &ThreadContext,
    ) -> io::Result<()> {
        match self {
            Self::Server(server) => server.begin(engine.spawner(), payload_bytes, &thread.meter),
            _ => Ok(()),
        }
    }

    /// Returns the numbering of a client's requests.
    pub(super) fn numbering(&self) -> Option<&Numbering> {
        match self {
            Self::Client(client) => Some(&client.numbering),
            Self::Collector(collector) => Some(&collector.numbering),
            Self::Pacer(_) | Self::Flood(_) | Self::Server(_) => None,
        }
    }

    /// Returns the tracker of what a client or a server receives, while that is verified.
    pub fn tracker(&self) -> Option<Arc<SequenceTracker>> {
        match self {
            Self::Server(server) => server.tracker(),
            _ => self.numbering()?.response_tracker.clone(),
        }
    }

    fn turn(&mut self, thread: &ThreadContext) -> Turn {
        match self {
            Self::Pacer(_) | Self::Flood(_) if thread.sending_stopped() => {
                thread.done_sending();
                Turn::End
            }
            Self::Pacer(pacer) => pacer.wait_until_due().map_or(Turn::CheckStop, Turn::Send),
            Self::Flood(flood) => flood.wait_until_due().map_or(Turn::CheckStop, Turn::Send),
            _ if thread.receiving_stopped() => Turn::End,
            Self::Client(client) => {
                client.give_up(thread.timeout_tick());
                if thread.sending_stopped() {
                    if client.stop() {
                        thread.one_done_sending();
                    }
                } else if client.thinks() {
                    return Turn::CheckStop;
                } else if let Some(endpoint) = client.prepare() {
                    return Turn::Send(endpoint);
                }
                Turn::Receive
            }
            Self::Collector(_) => Turn::Receive,
            Self::Server(server) => {
                if thread.sending_stopped() {
                    server.clients_stopped();
                }
                server.next().map_or(Turn::Receive, |endpoint| {
                    server.serve();
                    Turn::Send(endpoint)
                })
            }
        }
    }

    /// Handles a call that sent nothing and will be repeated.
    fn not_sent(&mut self) {
        if let Self::Flood(flood) = self {
            flood.not_sent();
        }
    }
}

impl Fill for Role {
    fn fill(&self, memory: &mut [u8]) {
        match self {
            Self::Client(client) => client.fill(memory),
            Self::Pacer(pacer) => pacer.fill(memory),
            Self::Server(server) => server.fill(memory),
            Self::Flood(flood) => flood.fill(memory),
            Self::Collector(_) => {}
        }
    }

    fn sent(&mut self, packets: u64) {
        match self {
            Self::Client(client) => client.sent(packets),
            Self::Pacer(pacer) => pacer.sent(packets),
            Self::Server(server) => server.sent(packets),
            Self::Flood(flood) => flood.sent(packets),
            Self::Collector(_) => {}
        }
    }

    fn destination(&self) -> Option<SocketAddr> {
        match self {
            Self::Server(server) => server.destination(),
            _ => None,
        }
    }
}

impl Check for Role {
    const READS_PAYLOAD: bool = true;

    fn check(&mut self, datagram: &[u8], origin: Origin) {
        match self {
            Self::Client(client) => client.check(datagram, origin),
            Self::Collector(collector) => collector.check(datagram, origin),
            Self::Server(server) => server.check(datagram, origin),
            Self::Pacer(_) | Self::Flood(_) => {}
        }
    }
}
