//! `poll`, `epoll-level`, `epoll-drain`: the kernel's own ways to wait for a socket, through nix. Between
//! two waits they make the calls of `std`.

use std::io;
use std::marker::PhantomData;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout};
use nix::sys::epoll::{self, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

use super::readiness_policy::{ReadinessPolicy, Variant};
use super::std::{StdReceiver, StdSender};
use crate::data::Group;
use crate::engine::payload::{Check, Fill};
use crate::engine::{
    About, Addressing, Burst, Engine, LaneBrief, Receive, ReceiveEnd, Selection, SendEnd, Transmit,
};

/// What is waited for.
#[derive(Clone, Copy)]
pub(super) enum Interest {
    Readable,
    Writable,
}

/// A way to wait until one socket is ready.
pub(super) trait Waiter: Variant + Sized {
    /// Gets ready to wait for `socket`, whose half of the engine keeps it open.
    fn new(socket: &UdpSocket, interest: Interest) -> io::Result<Self>;
    /// Waits. `false`: `recv_timeout` ran out.
    fn wait(&mut self, socket: &UdpSocket, recv_timeout: Option<Duration>) -> io::Result<bool>;
}

const ABOUT: About = About {
    group: Group::Readiness,
    selection: Selection::ByName,
    ..About::PLAIN
};

/// poll(2): the kernel is told at each call what to look at.
pub(super) struct Poll(PollFlags);

impl Variant for Poll {
    const ABOUT: About = About {
        name: "poll",
        summary: "poll(2), one datagram per wait",
        ..ABOUT
    };
    const POLICY: ReadinessPolicy = ReadinessPolicy::ONE;
}

impl Waiter for Poll {
    fn new(_socket: &UdpSocket, interest: Interest) -> io::Result<Self> {
        Ok(Self(match interest {
            Interest::Readable => PollFlags::POLLIN,
            Interest::Writable => PollFlags::POLLOUT,
        }))
    }

    #[inline]
    fn wait(&mut self, socket: &UdpSocket, recv_timeout: Option<Duration>) -> io::Result<bool> {
        let timeout = recv_timeout.map_or(PollTimeout::NONE, |recv_timeout| {
            recv_timeout.try_into().unwrap_or(PollTimeout::MAX)
        });
        let mut sockets = [PollFd::new(socket.as_fd(), self.0)];
        Ok(nix::poll::poll(&mut sockets, timeout)? > 0)
    }
}

/// An epoll instance that watches one socket.
pub(super) struct Epoll<T> {
    instance: epoll::Epoll,
    events: [EpollEvent; 1],
    trigger: PhantomData<T>,
}

/// Level-triggered: the event comes as long as there is something.
pub(super) enum Level {}
/// Edge-triggered: the event comes when there is something new, so what is there is drained first.
pub(super) enum Edge {}

impl Variant for Epoll<Level> {
    const ABOUT: About = About {
        name: "epoll-level",
        summary: "epoll(7), level-triggered, one datagram per event",
        ..ABOUT
    };
    const POLICY: ReadinessPolicy = ReadinessPolicy::ONE;
}

impl Variant for Epoll<Edge> {
    const ABOUT: About = About {
        name: "epoll-drain",
        summary: "epoll(7), edge-triggered, each event drained until WouldBlock",
        ..ABOUT
    };
    const POLICY: ReadinessPolicy = ReadinessPolicy::DRAIN;
}

impl<T> Waiter for Epoll<T>
where
    Self: Variant,
{
    fn new(socket: &UdpSocket, interest: Interest) -> io::Result<Self> {
        let ready = match interest {
            Interest::Readable => EpollFlags::EPOLLIN,
            Interest::Writable => EpollFlags::EPOLLOUT,
        };
        let trigger = if Self::POLICY.drain {
            EpollFlags::EPOLLET
        } else {
            EpollFlags::empty()
        };
        let instance = epoll::Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        instance.add(socket, EpollEvent::new(ready | trigger, 0))?;
        Ok(Self {
            instance,
            events: [EpollEvent::empty()],
            trigger: PhantomData,
        })
    }

    #[inline]
    fn wait(&mut self, _socket: &UdpSocket, recv_timeout: Option<Duration>) -> io::Result<bool> {
        let timeout = recv_timeout.map_or(EpollTimeout::NONE, |recv_timeout| {
            recv_timeout.try_into().unwrap_or(EpollTimeout::MAX)
        });
        Ok(self.instance.wait(&mut self.events, timeout)? > 0)
    }
}

/// The engine that waits with `W`.
pub(super) struct Readiness<W>(PhantomData<W>);

impl<W: Waiter> Engine for Readiness<W> {
    const ABOUT: About = About {
        one_thread: W::POLICY.one_thread(),
        ..W::ABOUT
    };
    type Sender<A: Addressing> = Waiting<W, StdSender<A>>;
    type Receiver<A: Addressing> = Waiting<W, StdReceiver<A>>;

    fn start(_brief: &LaneBrief) -> io::Result<Self> {
        Ok(Self(PhantomData))
    }

    fn sender<A: Addressing>(&self, end: SendEnd) -> io::Result<Self::Sender<A>> {
        end.socket.set_nonblocking(true)?;
        Ok(Waiting {
            waiter: W::new(&end.socket, Interest::Writable)?,
            half: StdSender::new(end),
            recv_timeout: None,
            ready: W::POLICY.try_first,
        })
    }

    fn receiver<A: Addressing>(&self, end: ReceiveEnd) -> io::Result<Self::Receiver<A>> {
        end.socket.set_nonblocking(true)?;
        Ok(Waiting {
            waiter: W::new(&end.socket, Interest::Readable)?,
            recv_timeout: end.recv_timeout,
            half: StdReceiver::new(end),
            ready: W::POLICY.try_first,
        })
    }
}

/// A half that waits for its socket, and whether the last event has been used up.
pub(super) struct Waiting<W, Half> {
    waiter: W,
    half: Half,
    recv_timeout: Option<Duration>,
    ready: bool,
}

impl<W: Waiter, Half> Waiting<W, Half> {
    #[inline]
    fn wait(&mut self, socket: impl Fn(&Half) -> &UdpSocket) -> io::Result<()> {
        if self.ready || self.waiter.wait(socket(&self.half), self.recv_timeout)? {
            Ok(())
        } else {
            Err(io::ErrorKind::WouldBlock.into())
        }
    }

    /// Takes note of what the operation says about the next one.
    #[inline]
    fn after(&mut self, outcome: io::Result<Burst>) -> io::Result<Burst> {
        self.ready = W::POLICY.is_still_ready(&outcome);
        outcome
    }
}

impl<W: Waiter, A: Addressing> Transmit for Waiting<W, StdSender<A>> {
    #[inline]
    async fn transmit(&mut self, fill: &impl Fill) -> io::Result<Burst> {
        self.wait(StdSender::socket)?;
        let outcome = self.half.send(fill);
        self.after(outcome)
    }
}

impl<W: Waiter, A: Addressing> Receive for Waiting<W, StdReceiver<A>> {
    #[inline]
    async fn receive<I: Check>(&mut self, check: &mut I) -> io::Result<Burst> {
        self.wait(StdReceiver::socket)?;
        let outcome = self.half.receive(check);
        self.after(outcome)
    }
}
