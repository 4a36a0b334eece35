//! The engines `mio-level`, `mio-exhaustive`, `mio-eager` and `mio-once`: four ways to use mio's readiness events.
//!
//! mio is edge-triggered only (`EPOLLET`): an event announces that something has arrived, not that something is
//! there. The four engines differ only in their behavior around an operation, which is their [`ReadinessPolicy`].

use std::io;
use std::marker::PhantomData;
use std::net::SocketAddr;

use mio::event::Source;
use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};

use super::selector::{ReadinessPolicy, Variant};
use crate::engine::prelude::*;
use crate::sys::busy_poll;

/// One datagram per event, then re-armed: behaves like level-triggered readiness.
pub(super) enum Level {}
/// Drains the socket until `WouldBlock` after each event, as mio is meant to be used.
pub(super) enum Exhaustive {}
/// Tries the socket first and waits only after `WouldBlock`: the planned next step of `rust_socket_benchmark`'s
/// author, named `MioUdpExhaustiveEdge` there.
pub(super) enum Eager {}
/// One datagram per edge and no re-arm: `MioUdp` of `rust_socket_benchmark`.
pub(super) enum Once {}

const ABOUT: About = About {
    group: Group::Readiness,
    selection: Selection::Default,
    busy_polling: BusyPolling::Epoll,
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
        selection: Selection::OnRequest,
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
        selection: Selection::OnRequest,
        starves: Some(
            "mio is edge-triggered: one receive per event leaves datagrams behind, and once the queue is \
             full no new edge comes: use mio-exhaustive or mio-level",
        ),
        ..ABOUT
    };
    const POLICY: ReadinessPolicy = ReadinessPolicy::ONE;
}

/// The mio engine with the policy of `V`.
pub(super) struct Mio<V>(PhantomData<V>);

impl<V: Variant> Engine for Mio<V> {
    const ABOUT: About = About {
        one_thread: V::POLICY.one_thread(),
        ..V::ABOUT
    };
    type DatagramIo = MioIo<V>;

    fn start(_brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self(PhantomData))
    }

    fn open(&self, mut options: IoOptions) -> io::Result<MioIo<V>> {
        let endpoint = options.only_endpoint()?;
        let peer = endpoint.peer_or_unspecified();
        let socket = std::net::UdpSocket::from(endpoint.socket);
        socket.set_nonblocking(true)?;
        let socket = UdpSocket::from_std(socket);
        let reactor = Reactor::new::<V>(socket, options.direction)?;
        if let Some(poll) = options.busy_poll {
            busy_poll::of_epoll(&reactor.poll, poll.us)?;
        }
        Ok(MioIo {
            is_connected: options.is_connected(),
            payload: options.payload(),
            buffer: options.buffer(),
            peer,
            reactor,
            marker: PhantomData,
        })
    }

    fn probe() -> Result<(), String> {
        Poll::new()
            .map(drop)
            .map_err(|error| format!("no epoll instance: {error}"))
    }
}

pub(super) struct MioIo<V> {
    reactor: Reactor<UdpSocket>,
    is_connected: bool,
    peer: SocketAddr,
    payload: Vec<u8>,
    buffer: Vec<u8>,
    marker: PhantomData<V>,
}

impl<V: Variant> MioIo<V> {
    #[inline(always)]
    fn send(&mut self, fill: &impl Fill) -> io::Result<BatchCount> {
        fill.fill(&mut self.payload);
        let sent = self.reactor.operate::<V>(WRITABLE, |socket| {
            if self.is_connected {
                socket.send(&self.payload)
            } else {
                socket.send_to(&self.payload, fill.destination().unwrap_or(self.peer))
            }
        })?;
        Ok(BatchCount::one(sent))
    }

    #[inline(always)]
    fn take<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        let mut source = None;
        let received = self.reactor.operate::<V>(READABLE, |socket| {
            if self.is_connected {
                socket.recv(&mut self.buffer)
            } else {
                let (received, from) = socket.recv_from(&mut self.buffer)?;
                source = Some(from);
                Ok(received)
            }
        })?;
        check.check_received(received, &self.buffer, || Origin::of(source));
        Ok(BatchCount::one(received))
    }
}

impl<V: Variant> DatagramIo for MioIo<V> {
    #[inline(always)]
    fn transmit(&mut self, _endpoint: usize, fill: &impl Fill) -> impl BatchFuture {
        ready(self.send(fill))
    }

    #[inline(always)]
    fn receive<C: Check>(&mut self, check: &mut C) -> impl BatchFuture {
        ready(self.take(check))
    }
}

/// One socket, its poll, and the events that have not been used up.
pub(super) struct Reactor<S> {
    socket: S,
    poll: Poll,
    events: Events,
    interest: Interest,
    /// True if the socket is only read or only written, so that all events are of one kind.
    is_one_way: bool,
    ready: u8,
}

// Bits of `Reactor::ready`.
pub(super) const READABLE: u8 = 1;
pub(super) const WRITABLE: u8 = 2;

impl<S: Source> Reactor<S> {
    /// Registers a non-blocking socket.
    pub(super) fn new<V: Variant>(mut socket: S, direction: Direction) -> io::Result<Self> {
        let interest = match direction {
            Direction::Sends => Interest::WRITABLE,
            Direction::Receives => Interest::READABLE,
            Direction::Both => Interest::READABLE | Interest::WRITABLE,
        };
        let poll = Poll::new()?;
        poll.registry().register(&mut socket, Token(0), interest)?;
        Ok(Self {
            socket,
            poll,
            events: Events::with_capacity(1),
            interest,
            is_one_way: direction != Direction::Both,
            ready: if V::POLICY.try_first {
                READABLE | WRITABLE
            } else {
                0
            },
        })
    }

    /// Waits for an event if one is needed, performs one operation, and updates the readiness and the registration by
    /// the policy of `V`.
    #[inline(always)]
    pub(super) fn operate<V: Variant>(
        &mut self,
        wanted: u8,
        operation: impl FnOnce(&S) -> io::Result<usize>,
    ) -> io::Result<usize> {
        if !V::POLICY.drain && self.is_one_way {
            self.poll.poll(&mut self.events, None)?;
        } else if self.ready & wanted == 0 {
            self.wait(wanted)?;
        }
        let outcome = operation(&self.socket);
        if !V::POLICY.is_still_ready(&outcome) {
            self.ready &= !wanted;
        }
        if V::POLICY.rearm {
            let registry = self.poll.registry();
            registry.reregister(&mut self.socket, Token(0), self.interest)?;
        }
        outcome
    }

    /// Waits until a wanted event has come. Not inlined: a loop that drains many operations per event compiles
    /// without the wait.
    #[inline(never)]
    fn wait(&mut self, wanted: u8) -> io::Result<()> {
        while self.ready & wanted == 0 {
            self.poll.poll(&mut self.events, None)?;
            if self.is_one_way {
                self.ready = wanted;
                break;
            }
            for event in &self.events {
                // An error makes the socket ready: the next call returns it.
                if event.is_readable() || event.is_error() {
                    self.ready |= READABLE;
                }
                if event.is_writable() || event.is_error() {
                    self.ready |= WRITABLE;
                }
            }
        }
        Ok(())
    }
}
