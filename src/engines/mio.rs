//! `mio-level`, `mio-exhaustive`, `mio-eager`, `mio-once`: four ways to use mio's readiness events.
//!
//! mio is edge-triggered only (`EPOLLET`): one event announces that something came, not that something
//! is there. What a loop does around its operation is therefore all that tells the four apart, and it is
//! a type ([`Discipline`]), so that each compiles to a loop of its own.

use std::io;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::time::Duration;

use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};

use crate::data::Group;
use crate::engine::payload::{Check, Fill};
use crate::engine::{
    About, Addressing, Burst, Engine, LaneBrief, Receive, ReceiveEnd, Selection, SendEnd, Transmit,
};

/// What a loop does before the first operation, and after each.
pub(super) trait Discipline: Send + 'static {
    const ABOUT: About;
    /// Go on without a new event until the socket says `WouldBlock`.
    const EXHAUST: bool;
    /// Try the socket before the first event.
    const EAGER: bool = false;
    /// Register again, which makes epoll look at the socket afresh (`EPOLL_CTL_MOD`, epoll_ctl(2)).
    const REARM: bool;
}

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

impl Discipline for Level {
    const ABOUT: About = About {
        name: "mio-level",
        summary: "mio, one datagram per readiness event, re-armed by re-registering",
        ..ABOUT
    };
    const EXHAUST: bool = false;
    const REARM: bool = true;
}

impl Discipline for Exhaustive {
    const ABOUT: About = About {
        name: "mio-exhaustive",
        summary: "mio, each event drained until the socket says WouldBlock",
        one_thread: Err(super::EXHAUSTIVE_STARVES_ALONE),
        ..ABOUT
    };
    const EXHAUST: bool = true;
    const REARM: bool = false;
}

impl Discipline for Eager {
    const ABOUT: About = About {
        name: "mio-eager",
        summary: "mio, the socket tried first; waits only when it says WouldBlock",
        selection: Selection::ByName,
        ..Exhaustive::ABOUT
    };
    const EXHAUST: bool = true;
    const EAGER: bool = true;
    const REARM: bool = false;
}

impl Discipline for Once {
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
    const EXHAUST: bool = false;
    const REARM: bool = false;
}

/// mio with discipline `D`.
pub(super) struct Mio<D>(PhantomData<D>);

impl<D: Discipline> Engine for Mio<D> {
    const ABOUT: About = D::ABOUT;
    type Sender<A: Addressing> = MioSender<A, D>;
    type Receiver<A: Addressing> = MioReceiver<A, D>;

    fn start(_brief: &LaneBrief) -> io::Result<Self> {
        Ok(Self(PhantomData))
    }

    fn sender<A: Addressing>(&self, end: SendEnd) -> io::Result<MioSender<A, D>> {
        Ok(MioSender {
            payload: end.payload(),
            reactor: Reactor::new::<D>(end.socket, Interest::WRITABLE, None)?,
            peer: end.peer,
            marker: PhantomData,
        })
    }

    fn receiver<A: Addressing>(&self, end: ReceiveEnd) -> io::Result<MioReceiver<A, D>> {
        Ok(MioReceiver {
            reactor: Reactor::new::<D>(end.socket, Interest::READABLE, end.recv_timeout)?,
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

pub(super) struct MioSender<A, D> {
    reactor: Reactor,
    peer: SocketAddr,
    payload: Vec<u8>,
    marker: PhantomData<(A, D)>,
}

impl<A: Addressing, D: Discipline> Transmit for MioSender<A, D> {
    #[inline]
    async fn transmit(&mut self, fill: &impl Fill) -> io::Result<Burst> {
        fill.fill(&mut self.payload);
        let sent = self.reactor.operate::<D>(|socket| {
            if A::CONNECTED {
                socket.send(&self.payload)
            } else {
                socket.send_to(&self.payload, self.peer)
            }
        })?;
        Ok(Burst::one(sent))
    }
}

pub(super) struct MioReceiver<A, D> {
    reactor: Reactor,
    buffer: Vec<u8>,
    marker: PhantomData<(A, D)>,
}

impl<A: Addressing, D: Discipline> Receive for MioReceiver<A, D> {
    #[inline]
    async fn receive<I: Check>(&mut self, check: &mut I) -> io::Result<Burst> {
        let received = self.reactor.operate::<D>(|socket| {
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
    fn new<D: Discipline>(
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
            ready: D::EAGER,
        })
    }

    /// Waits for an event where one is needed, does one operation, and leaves the socket as `D` says.
    #[inline]
    fn operate<D: Discipline>(
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
        let exhausted = matches!(&outcome, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
        self.ready = D::EXHAUST && !exhausted;
        if D::REARM {
            let registry = self.poll.registry();
            registry.reregister(&mut self.socket, Token(0), self.interest)?;
        }
        outcome
    }
}
