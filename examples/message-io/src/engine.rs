//! The engine drives the library's network layer like the library's own benchmarks: `NetworkController::send`, and
//! `NetworkProcessor::process_poll_event` on the bench thread. The node layer above it would add a thread for
//! signals, and a lock around every message. A connected case uses the library's `connect` on both sides, an
//! unconnected one its `listen`.
//!
//! The library needs help to fit the contract in four places:
//! - It creates its own sockets and cannot be given one. So it creates one with a port of its own, which is never
//!   used, and [`replace`](crate::swap_fd::replace) puts our socket in its place. For TCP, the library's socket
//!   connects to a temporary listener of ours; for WebSocket, to one of the library's, for the handshake.
//! - One call receives until the socket says `WouldBlock`; in a flood, it may never return. So the receiver publishes
//!   the count of each message from the library's callback, as the workload does after each call of any other engine.
//!   The return value of the call brings the workload to the same total.
//! - Its TCP delivers whatever one read returned, and [`messages`](crate::messages) splits that into messages. If there
//!   is no room to send, it repeats the call until there is: its sender spins.
//! - Its WebSocket leaves messages in its own buffer until more arrives. After 50 ms without any, the receiver
//!   [prompts](Network::prompt) it.
//!
//! The library logs the reason why a datagram was refused and does not return it. [`logged_errno`] reads it from the
//! log.
//!
//! The library also restarts its wait after a signal. So its bench threads block signals and wait for at most 50 ms,
//! like the library's node layer.

use std::io;
use std::marker::PhantomData;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;

use message_io::network::{Endpoint, NetEvent, SendStatus};
use nix::sys::epoll::{Epoll, EpollCreateFlags};
use udpbench::data::Connection;
use udpbench::engine::payload::{Check, Fill, Origin};
use udpbench::engine::{
    self, About, BatchCount, BusyPolling, DatagramIo, Engine, Group, IoOptions, Meter, Tally,
    ThreadArgs, block_wakeups,
};

use crate::logged_errno;
use crate::messages::Messages;
use crate::network::{Adapter, Network, POLL_INTERVAL, Udp};

/// The library message-io with its transport `T`.
pub struct MessageIo<T> {
    meter: Arc<Meter>,
    adapter: PhantomData<T>,
}

impl<T: Adapter> Engine for MessageIo<T> {
    const ABOUT: About = About {
        name: "message-io",
        summary: "message-io, over mio, each event drained",
        group: Group::Readiness,
        busy_polling: BusyPolling::OF_LIBRARY,
        ..About::PLAIN
    };
    type DatagramIo = MessageIoSocket<T>;

    fn start(brief: &ThreadArgs) -> io::Result<Self> {
        block_wakeups()?;
        logged_errno::install_logger();
        Ok(Self {
            meter: Arc::clone(&brief.meter),
            adapter: PhantomData,
        })
    }

    fn open(&self, mut options: IoOptions) -> io::Result<MessageIoSocket<T>> {
        Ok(MessageIoSocket {
            network: T::open(options.only_endpoint()?, options.connection)?,
            connected: options.is_connected(),
            payload: options.payload(),
            messages: T::Messages::of(&options),
            meter: Arc::clone(&self.meter),
            total: Tally::default(),
            prompts: false,
            is_gone: false,
        })
    }

    /// Checks that the library's sockets can be replaced.
    fn probe() -> Result<(), String> {
        // The library panics if it cannot have one.
        Epoll::new(EpollCreateFlags::empty()).map_err(|error| format!("no epoll: {error}"))?;
        let adopt = || {
            let endpoint = |peer| -> io::Result<engine::Endpoint> {
                Ok(engine::Endpoint::of(UdpSocket::bind("127.0.0.1:0")?, peer))
            };
            let peer = Some((Ipv4Addr::LOCALHOST, 9).into());
            Udp::open(endpoint(peer)?, Connection::Connected)?;
            Udp::open(endpoint(None)?, Connection::Unconnected)
        };
        let adopted = adopt().map(drop);
        adopted.map_err(|error| format!("cannot give the library a socket: {error}"))
    }
}

/// A socket in a network of the library.
pub struct MessageIoSocket<T: Adapter> {
    network: Network,
    connected: bool,
    payload: Vec<u8>,
    messages: T::Messages,
    meter: Arc<Meter>,
    /// Datagrams received so far.
    total: Tally,
    /// True if the next receive looks into the library's buffer.
    prompts: bool,
    /// True once the remote end has closed the connection. The library reports this only once.
    is_gone: bool,
}

impl<T: Adapter> DatagramIo for MessageIoSocket<T> {
    #[inline]
    async fn transmit(&mut self, _endpoint: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        fill.fill(&mut self.payload);
        let to = fill.destination();
        let endpoint = self.network.endpoint;
        let to = to.map(|to| Endpoint::from_listener(endpoint.resource_id(), to));
        let to = to.unwrap_or(endpoint);
        match self.network.controller.send(to, &self.payload) {
            SendStatus::Sent => Ok(BatchCount::one(self.payload.len())),
            SendStatus::ResourceNotFound if T::IS_UDP => Err(logged_errno::take_last_error()),
            refused => Err(io::Error::other(format!("message-io: {refused:?}"))),
        }
    }

    #[inline]
    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        let before = self.total;
        let took = |event: NetEvent| match event {
            NetEvent::Message(from, data) => {
                let origin = || Origin::of((!self.connected).then(|| from.addr()));
                let moved = self.messages.take(data, origin, check);
                let total = self.total.add(moved);
                self.meter.received.publish(total);
            }
            NetEvent::Disconnected(_) => self.is_gone = true,
            NetEvent::Connected(..) | NetEvent::Accepted(..) => {}
        };
        if self.prompts {
            self.network.prompt()?;
        }
        let processor = &mut self.network.processor;
        processor.process_poll_event(Some(POLL_INTERVAL), took);
        let came = self.total != before;
        // Begins after a wait in vain, and goes on for as long as a prompt brings something.
        self.prompts = self.network.buffers() && self.prompts == came;
        if !came {
            let why = if self.is_gone {
                io::ErrorKind::UnexpectedEof
            } else {
                io::ErrorKind::WouldBlock
            };
            return Err(why.into());
        }
        Ok(BatchCount::of(
            self.total.packets - before.packets,
            self.total.bytes - before.bytes,
        ))
    }
}
