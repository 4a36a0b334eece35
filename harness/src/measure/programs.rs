//! What the threads of a site do: a program each, with the ports that it opens.

use std::io;
use std::net::UdpSocket;
use std::sync::Arc;

use super::site::{Flow, Part};
use crate::data::{Batch, Case, Connection, Rate, Verified, Wait};
use crate::engine::null_link::{NullLink, NullQueue};
use crate::engine::verify::{SequenceTracker, SequenceWriter};
use crate::engine::{Direction, Link, PortOptions};
use crate::engines::{Engines, Entry};
use crate::workload::{
    Client, Collector, InFlight, Incoming, Numbering, Outgoing, Pacer, Program, Role, Server,
};

/// What datagrams are entered in while an engine is verified.
#[derive(Clone, Default)]
pub(super) struct Trackers {
    /// What receivers and servers get.
    received: Option<Arc<SequenceTracker>>,
    /// What clients get.
    answers: Option<Arc<SequenceTracker>>,
}

impl Trackers {
    /// For a case that is verified.
    pub(super) fn of(case: &Case) -> Self {
        let tracker = || Arc::new(SequenceTracker::new(case.payload.bytes()));
        Self {
            received: Some(tracker()),
            answers: case.asks().then(tracker),
        }
    }

    /// What was found at the threads of `part`.
    pub(super) fn verified(&self, part: Part) -> Option<Verified> {
        let received = self.received.iter().filter(|_| part.receives());
        let answers = self.answers.iter().filter(|_| part.sends());
        let found = received.chain(answers).map(|tracker| tracker.verified());
        found.reduce(|mut all, one| {
            all += one;
            all
        })
    }
}

/// What the programs of a case follow from.
pub(super) struct ProgramBuilder<'a> {
    pub(super) case: &'a Case,
    pub(super) engines: Engines,
    pub(super) flows: &'a [Flow],
    pub(super) trackers: &'a Trackers,
}

impl ProgramBuilder<'_> {
    /// Those of the threads here, senders first.
    ///
    /// # Errors
    /// When a socket cannot be had twice.
    pub(super) fn programs(
        &self,
        receivers: Vec<UdpSocket>,
        senders: Vec<UdpSocket>,
    ) -> io::Result<Vec<Program>> {
        if let Some(tracker) = &self.trackers.received {
            for (n, flow) in (0..).zip(self.flows) {
                tracker.expect_source(n, flow.source);
            }
        }
        if self.case.asks() {
            self.ask_programs(receivers, senders)
        } else {
            Ok(self.flood_programs(receivers, senders))
        }
    }

    fn flood_programs(&self, receivers: Vec<UdpSocket>, senders: Vec<UdpSocket>) -> Vec<Program> {
        let (sender, receiver) = self.engines;
        let queues: Vec<Arc<NullQueue>> = self.flows.iter().map(|_| Arc::default()).collect();
        let incoming = receivers.into_iter().enumerate().map(|(n, socket)| {
            let here = self.flows.iter().zip(&queues);
            let here = here.filter(|(flow, _)| flow.receiver == n);
            let null = NullLink {
                incoming: here.map(|(_, queue)| Arc::clone(queue)).collect(),
                ..NullLink::default()
            };
            let peer = None;
            let link = Link { socket, peer, null };
            Incoming {
                options: self.options(link, Direction::Receives, receiver),
                tracker: self.trackers.received.clone(),
            }
        });
        let flows = self.flows.iter().zip(&queues);
        let outgoing = (0..).zip(senders.into_iter().zip(flows));
        let outgoing = outgoing.map(|(n, (socket, (flow, queue)))| {
            let peer = Some(flow.peer);
            let null = NullLink {
                out: Arc::clone(queue),
                ..NullLink::default()
            };
            let link = Link { socket, peer, null };
            let tracker = self.trackers.received.as_ref();
            Outgoing {
                options: self.options(link, Direction::Sends, sender),
                writer: tracker.map(|_| SequenceWriter::new(n, self.case.payload.bytes())),
            }
        });
        if self.case.threads.is_alone() {
            let pairs = outgoing.zip(incoming);
            pairs.map(|(out, into)| Program::Turns(out, into)).collect()
        } else {
            let floods = outgoing.map(Program::Flood);
            floods.chain(incoming.map(Program::Sink)).collect()
        }
    }

    fn ask_programs(
        &self,
        receivers: Vec<UdpSocket>,
        senders: Vec<UdpSocket>,
    ) -> io::Result<Vec<Program>> {
        let mut clients = Vec::with_capacity(senders.len());
        let mut collectors = Vec::new();
        for (n, (socket, flow)) in (0..).zip(senders.into_iter().zip(self.flows)) {
            let peer = Some(flow.peer);
            if let Some(rate) = self.case.rate {
                let copy = Link::of(socket.try_clone()?, peer);
                let (pacer, collector) = self.paced(n, rate, Link::of(socket, peer), copy);
                clients.push(pacer);
                collectors.push(collector);
            } else {
                clients.push(self.waiting(n, Link::of(socket, peer)));
            }
        }
        let servers = receivers.into_iter().map(|socket| {
            // One that serves several clients is not connected.
            let connection = match socket.peer_addr() {
                Ok(_) => Connection::Connected,
                Err(_) => Connection::Unconnected,
            };
            let link = Link::of(socket, None);
            let server = Server::new(self.case.service, self.trackers.received.clone());
            Program::Requests(
                self.options(link, Direction::Both, self.engines.1),
                Role::Server(server, connection),
            )
        });
        let clients = clients.into_iter();
        Ok(clients.chain(servers).chain(collectors).collect())
    }

    /// A client that asks again when it has its answer.
    fn waiting(&self, n: u16, link: Link) -> Program {
        let outstanding = self.case.outstanding_requests();
        let client = Client::new(self.numbering(n), outstanding, Arc::default());
        let options = self.options(link, Direction::Both, self.engines.0);
        Program::Requests(options, Role::Client(client))
    }

    /// A client that asks at a rate: what sends, and what receives.
    fn paced(&self, n: u16, rate: Rate, out: Link, into: Link) -> (Program, Program) {
        let (engine, numbering) = (self.engines.0, self.numbering(n));
        let clients = self.case.threads.senders() as f64;
        let gap_ns = 1e9 * clients / rate.per_second();
        let arrivals = self.case.arrivals.unwrap_or_default();
        let shared = (Arc::new(InFlight::every(gap_ns)), Arc::default());
        let pacer = Pacer::new(numbering.clone(), gap_ns, arrivals, shared.clone());
        let collector = Collector::new(numbering, shared);
        let out = self.options(out, Direction::Sends, engine);
        let into = self.options(into, Direction::Receives, engine);
        (
            Program::Requests(out, Role::Pacer(pacer)),
            Program::Requests(into, Role::Collector(collector)),
        )
    }

    fn numbering(&self, n: u16) -> Numbering {
        Numbering::new(n, self.trackers.answers.clone())
    }

    fn options(&self, link: Link, direction: Direction, engine: &Entry) -> PortOptions {
        let (case, verifies) = (self.case, self.trackers.received.is_some());
        let payload_bytes = case.payload.bytes();
        PortOptions {
            // Verification has to see datagrams that are too long, too.
            buffer_bytes: payload_bytes + usize::from(verifies),
            batch: case.batch.map_or(1, Batch::count),
            // Two ports over one socket have to wait in one way.
            spins: (direction.receives() || case.asks())
                && case.wait == Some(Wait::Spin)
                && engine.about.can_spin,
            own_payloads: verifies,
            ..PortOptions::of(vec![link], direction, payload_bytes)
        }
    }
}
