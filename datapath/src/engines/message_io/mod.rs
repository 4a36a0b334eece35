//! The engine `message-io`: the library of that name, over mio, with its UDP, TCP and framed TCP.
//!
//! The engine drives the library's network layer like the library's own benchmarks: `NetworkController::send`, and
//! `NetworkProcessor::process_poll_event` on the bench thread. The node layer above it would add a thread for
//! signals, and a lock around every message. A connected case uses the library's `connect` on both sides, an
//! unconnected one its `listen`.
//!
//! The library needs help to fit the contract in three places:
//! - It creates its own sockets and cannot be given one. So it creates one with a UDP port of its own, which is never
//!   used, and [`replace`](super::linux::swap_fd::replace) puts our socket in its place. For TCP, the library's
//!   socket connects to a temporary listener of ours.
//! - One call receives until the socket says `WouldBlock`; in a flood, it may never return. So the receiver publishes
//!   the count of each message from the library's callback, as the workload does after each call of any other engine.
//!   The return value of the call brings the workload to the same total.
//! - Its TCP delivers whatever one read returned, and [`messages`] splits that into messages. If there is no room to
//!   send, it repeats the call until there is: its sender spins.
//!
//! The library logs the reason why a datagram was refused and does not return it. [`logged_errno`] reads it from the
//! log.
//!
//! The library also restarts its wait after a signal. So its bench threads block signals and wait for at most 50 ms,
//! like the library's node layer.

mod logged_errno;
mod messages;
mod network;

use std::io;
use std::marker::PhantomData;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use message_io::network::{Endpoint, NetEvent, SendStatus};

use self::messages::Messages;
use self::network::{Adapter, Network, POLL_INTERVAL};
pub(super) use self::network::{FramedTcp, Tcp, Udp};
use crate::data::Group;
use crate::engine::payload::{Check, Fill, Origin};
use crate::engine::{
    About, Addressing, BatchCount, Connected, DatagramIo, Engine, IoOptions, Meter, Tally,
    ThreadArgs, Unconnected,
};
use crate::sys::wakeup;

pub(super) struct MessageIo<T> {
    meter: Arc<Meter>,
    adapter: PhantomData<T>,
}

impl<T: Adapter> Engine for MessageIo<T> {
    const ABOUT: About = About {
        name: "message-io",
        summary: "message-io, over mio, each event drained",
        group: Group::Readiness,
        ..About::PLAIN
    };
    type DatagramIo<A: Addressing> = MessageIoSocket<T::Messages>;

    fn start(brief: &ThreadArgs) -> io::Result<Self> {
        wakeup::block()?;
        logged_errno::install_logger();
        Ok(Self {
            meter: Arc::clone(&brief.meter),
            adapter: PhantomData,
        })
    }

    fn open<A: Addressing>(
        &self,
        mut options: IoOptions,
    ) -> io::Result<MessageIoSocket<T::Messages>> {
        let endpoint = options.only_endpoint()?;
        let (network, endpoint) = T::open::<A>(endpoint.socket, endpoint.peer)?;
        Ok(MessageIoSocket {
            network,
            endpoint,
            is_udp: T::IS_UDP,
            connected: A::CONNECTED,
            payload: options.payload(),
            messages: T::Messages::of(&options),
            meter: Arc::clone(&self.meter),
            total: Tally::default(),
            is_gone: false,
        })
    }

    /// Checks that the library's sockets can be replaced.
    fn probe() -> Result<(), String> {
        mio::Poll::new().map_err(|error| format!("no epoll instance: {error}"))?;
        let adopt = || {
            let socket = || UdpSocket::bind("127.0.0.1:0").map(OwnedFd::from);
            Udp::open::<Connected>(socket()?, Some((Ipv4Addr::LOCALHOST, 9).into()))?;
            Udp::open::<Unconnected>(socket()?, None)
        };
        let adopted = adopt().map(drop);
        adopted.map_err(|error| format!("cannot give the library a socket: {error}"))
    }
}

pub(super) struct MessageIoSocket<M> {
    network: Network,
    endpoint: Endpoint,
    is_udp: bool,
    connected: bool,
    payload: Vec<u8>,
    messages: M,
    meter: Arc<Meter>,
    /// Datagrams received so far.
    total: Tally,
    /// True once the remote end has closed the connection. The library reports this only once.
    is_gone: bool,
}

impl<M: Messages> DatagramIo for MessageIoSocket<M> {
    #[inline]
    async fn transmit(&mut self, _link: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        fill.fill(&mut self.payload);
        let to = fill.destination();
        let to = to.map(|to| Endpoint::from_listener(self.endpoint.resource_id(), to));
        let to = to.unwrap_or(self.endpoint);
        match self.network.controller.send(to, &self.payload) {
            SendStatus::Sent => Ok(BatchCount::one(self.payload.len())),
            SendStatus::ResourceNotFound if self.is_udp => Err(logged_errno::take_last_error()),
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
        let processor = &mut self.network.processor;
        processor.process_poll_event(Some(POLL_INTERVAL), took);
        if self.total == before {
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
