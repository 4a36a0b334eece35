//! `mio-level`, `mio-exhaustive`, `mio-eager`, `mio-once`: four ways to use mio's readiness events.
//!
//! mio is edge-triggered only (`EPOLLET`): one event announces that something came, not that something
//! is there. What a loop does around its operation is therefore all that tells the four apart, and it is
//! their [`ReadinessPolicy`].

use std::io;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::time::Duration;

use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};

use super::readiness_policy::{ReadinessPolicy, Variant};
use crate::data::Group;
use crate::engine::payload::{Check, Fill};
use crate::engine::{
    About, Addressing, Burst, Engine, LaneBrief, Receive, ReceiveEnd, Selection, SendEnd, Transmit,
};

/// One datagram per event, re-armed: what level-triggered readiness would do.
pub(super) enum Level {}
/// Drain to `WouldBlock` after each event: how mio wants to be used.
pub(super) enum Exhaustive {}
/// Try first, wait only when the socket says `WouldBlock`: what the author of `rust_socket_benchmark` meant
/// to try next, as `MioUdpExhaustiveEdge`.
pub(super) enum Eager {}
/// One datagram per edge and no re-arm: `MioUdp` of `rust_socket_benchmark`.
pub(super) enum Once {}

const ABOUT: About = About {
    group: Group::Readiness,
    selection: Selection::Default,
    ..About::PLAIN
};

impl Variant for Level {
    const ABOUT: About = About {
        name: "mio-level",
        summary: "mio, one datagram per readiness event, re-armed by re-registering",
        ..ABOUT
    };
    const POLICY: ReadinessPolicy = ReadinessPolicy {
        rearm: true,
        ..ReadinessPolicy::ONE
    };
}

impl Variant for Exhaustive {
    const ABOUT: About = About {
        name: "mio-exhaustive",
        summary: "mio, each event drained until the socket says WouldBlock",
        ..ABOUT
    };
    const POLICY: ReadinessPolicy = ReadinessPolicy::DRAIN;
}

impl Variant for Eager {
    const ABOUT: About = About {
        name: "mio-eager",
        summary: "mio, the socket tried first; waits only when it says WouldBlock",
        selection: Selection::ByName,
        ..ABOUT
    };
    const POLICY: ReadinessPolicy = ReadinessPolicy {
        try_first: true,
        ..ReadinessPolicy::DRAIN
    };
}

impl Variant for Once {
    const ABOUT: About = About {
        name: "mio-once",
        summary: "mio, one datagram per edge and no re-arm: starves, kept to show it",
        selection: Selection::ByName,
        starves: Some(
            "mio is edge-triggered: one receive per event leaves datagrams behind, and once the queue is \
             full no new edge comes: use mio-exhaustive or mio-level",
        ),
        ..ABOUT
    };
    const POLICY: ReadinessPolicy = ReadinessPolicy::ONE;
}

/// mio with the policy of `V`.
pub(super) struct Mio<V>(PhantomData<V>);

impl<V: Variant> Engine for Mio<V> {
    const ABOUT: About = About {
        one_thread: V::POLICY.one_thread(),
        ..V::ABOUT
    };
    type Sender<A: Addressing> = MioSender<A, V>;
    type Receiver<A: Addressing> = MioReceiver<A, V>;

    fn start(_brief: &LaneBrief) -> io::Result<Self> {
        Ok(Self(PhantomData))
    }

    fn sender<A: Addressing>(&self, end: SendEnd) -> io::Result<MioSender<A, V>> {
        Ok(MioSender {
            payload: end.payload(),
            reactor: Reactor::new::<V>(end.socket, Interest::WRITABLE, None)?,
            peer: end.peer,
            marker: PhantomData,
        })
    }

    fn receiver<A: Addressing>(&self, end: ReceiveEnd) -> io::Result<MioReceiver<A, V>> {
        Ok(MioReceiver {
            reactor: Reactor::new::<V>(end.socket, Interest::READABLE, end.recv_timeout)?,
            buffer: vec![0; end.payload_bytes],
            marker: PhantomData,
        })
    }

    fn probe() -> Result<(), String> {
        Poll::new()
            .map(drop)
            .map_err(|error| format!("no epoll instance: {error}"))
    }
}

pub(super) struct MioSender<A, V> {
    reactor: Reactor,
    peer: SocketAddr,
    payload: Vec<u8>,
    marker: PhantomData<(A, V)>,
}

impl<A: Addressing, V: Variant> Transmit for MioSender<A, V> {
    #[inline]
    async fn transmit(&mut self, fill: &impl Fill) -> io::Result<Burst> {
        fill.fill(&mut self.payload);
        let sent = self.reactor.operate::<V>(|socket| {
            if A::CONNECTED {
                socket.send(&self.payload)
            } else {
                socket.send_to(&self.payload, self.peer)
            }
        })?;
        Ok(Burst::one(sent))
    }
}

pub(super) struct MioReceiver<A, V> {
    reactor: Reactor,
    buffer: Vec<u8>,
    marker: PhantomData<(A, V)>,
}

impl<A: Addressing, V: Variant> Receive for MioReceiver<A, V> {
    #[inline]
    async fn receive<I: Check>(&mut self, check: &mut I) -> io::Result<Burst> {
        let received = self.reactor.operate::<V>(|socket| {
            if A::CONNECTED {
                socket.recv(&mut self.buffer)
            } else {
                socket.recv_from(&mut self.buffer).map(|(bytes, _)| bytes)
            }
        })?;
        check.check_first(received, &self.buffer);
        Ok(Burst::one(received))
    }
}

/// One socket, its poll, and whether its last event has been used up.
struct Reactor {
    socket: UdpSocket,
    poll: Poll,
    events: Events,
    interest: Interest,
    recv_timeout: Option<Duration>,
    ready: bool,
}

impl Reactor {
    fn new<V: Variant>(
        socket: std::net::UdpSocket,
        interest: Interest,
        recv_timeout: Option<Duration>,
    ) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let mut socket = UdpSocket::from_std(socket);
        let poll = Poll::new()?;
        poll.registry().register(&mut socket, Token(0), interest)?;
        Ok(Self {
            socket,
            poll,
            events: Events::with_capacity(1),
            interest,
            recv_timeout,
            ready: V::POLICY.try_first,
        })
    }

    /// Waits for an event where one is needed, does one operation, and leaves the socket as `V` says.
    #[inline]
    fn operate<V: Variant>(
        &mut self,
        operation: impl FnOnce(&UdpSocket) -> io::Result<usize>,
    ) -> io::Result<usize> {
        if !self.ready {
            self.poll.poll(&mut self.events, self.recv_timeout)?;
            if self.events.is_empty() {
                return Err(io::ErrorKind::WouldBlock.into());
            }
        }
        let outcome = operation(&self.socket);
        self.ready = V::POLICY.is_still_ready(&outcome);
        if V::POLICY.rearm {
            let registry = self.poll.registry();
            registry.reregister(&mut self.socket, Token(0), self.interest)?;
        }
        outcome
    }
}
