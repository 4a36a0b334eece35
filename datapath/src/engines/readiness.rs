//! The engines `poll`, `epoll-level` and `epoll-drain`: poll(2) and epoll(7) through nix. Between two waits they make
//! the system calls of `std`.

use std::io;
use std::marker::PhantomData;
use std::net::UdpSocket;
use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags, PollTimeout};
use nix::sys::epoll::{self, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

use super::readiness_policy::{ReadinessPolicy, Variant};
use super::std::StdIo;
use crate::data::{BusyPoll, Group};
use crate::engine::payload::{Check, Fill};
use crate::engine::{
    About, Addressing, BatchCount, BusyPolling, DatagramIo, Engine, IoOptions, Selection,
    ThreadArgs,
};
use crate::sys::busy_poll;

/// Event to wait for.
#[derive(Clone, Copy)]
pub(super) enum Interest {
    Readable,
    Writable,
}

/// A way to wait until one socket is ready.
pub(super) trait Waiter: Variant + Send + Sized {
    /// Prepares to wait for `socket`, which the caller keeps open. `None`: this direction is not used.
    fn new(socket: Option<&UdpSocket>, interest: Interest) -> io::Result<Self>;
    /// Has the waits busy-poll.
    fn busy_poll(&self, _poll: BusyPoll) -> io::Result<()> {
        Ok(())
    }
    /// Waits until the socket is ready.
    fn wait(&mut self, socket: &UdpSocket) -> io::Result<()>;
}

const ABOUT: About = About {
    group: Group::Readiness,
    selection: Selection::OnRequest,
    ..About::PLAIN
};

/// Waits with poll(2): each call tells the kernel which socket to watch.
pub(super) struct Poll(PollFlags);

impl Variant for Poll {
    const ABOUT: About = About {
        name: "poll",
        summary: "poll(2), one datagram per wait",
        busy_polling: BusyPolling::OutOfReach("in poll(2)"),
        ..ABOUT
    };
    const POLICY: ReadinessPolicy = ReadinessPolicy::ONE;
}

impl Waiter for Poll {
    fn new(_socket: Option<&UdpSocket>, interest: Interest) -> io::Result<Self> {
        Ok(Self(match interest {
            Interest::Readable => PollFlags::POLLIN,
            Interest::Writable => PollFlags::POLLOUT,
        }))
    }

    #[inline]
    fn wait(&mut self, socket: &UdpSocket) -> io::Result<()> {
        let mut sockets = [PollFd::new(socket.as_fd(), self.0)];
        nix::poll::poll(&mut sockets, PollTimeout::NONE)?;
        Ok(())
    }
}

/// Returns the epoll events to wait for. Events that are drained are edge-triggered.
pub(super) fn epoll_flags(interest: Interest, policy: ReadinessPolicy) -> EpollFlags {
    let ready = match interest {
        Interest::Readable => EpollFlags::EPOLLIN,
        Interest::Writable => EpollFlags::EPOLLOUT,
    };
    if policy.drain {
        ready | EpollFlags::EPOLLET
    } else {
        ready
    }
}

/// Waits with an epoll instance that watches one socket.
pub(super) struct Epoll<T> {
    instance: epoll::Epoll,
    events: [EpollEvent; 1],
    trigger: PhantomData<T>,
}

/// Level-triggered events, which come while there is anything to read or room to write.
pub(super) enum Level {}
/// Edge-triggered events, which come when there is something new. The socket is drained before the next wait.
pub(super) enum Edge {}

impl Variant for Epoll<Level> {
    const ABOUT: About = About {
        name: "epoll-level",
        summary: "epoll(7), level-triggered, one datagram per event",
        busy_polling: BusyPolling::Epoll,
        ..ABOUT
    };
    const POLICY: ReadinessPolicy = ReadinessPolicy::ONE;
}

impl Variant for Epoll<Edge> {
    const ABOUT: About = About {
        name: "epoll-drain",
        summary: "epoll(7), edge-triggered, each event drained until WouldBlock",
        busy_polling: BusyPolling::Epoll,
        ..ABOUT
    };
    const POLICY: ReadinessPolicy = ReadinessPolicy::DRAIN;
}

impl<T> Waiter for Epoll<T>
where
    Self: Variant,
{
    fn new(socket: Option<&UdpSocket>, interest: Interest) -> io::Result<Self> {
        let flags = epoll_flags(interest, Self::POLICY);
        let instance = epoll::Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        if let Some(socket) = socket {
            instance.add(socket, EpollEvent::new(flags, 0))?;
        }
        Ok(Self {
            instance,
            events: [EpollEvent::empty()],
            trigger: PhantomData,
        })
    }

    fn busy_poll(&self, poll: BusyPoll) -> io::Result<()> {
        busy_poll::of_epoll(&self.instance.0, poll.us)
    }

    #[inline]
    fn wait(&mut self, _socket: &UdpSocket) -> io::Result<()> {
        self.instance.wait(&mut self.events, EpollTimeout::NONE)?;
        Ok(())
    }
}

/// The engine that waits with `W`.
pub(super) struct Readiness<W>(PhantomData<W>);

impl<W: Waiter> Engine for Readiness<W> {
    const ABOUT: About = About {
        one_thread: W::POLICY.one_thread(),
        ..W::ABOUT
    };
    type DatagramIo<A: Addressing> = Waiting<W, A>;

    fn start(_brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self(PhantomData))
    }

    fn open<A: Addressing>(&self, mut options: IoOptions) -> io::Result<Waiting<W, A>> {
        let endpoint = options.only_endpoint()?;
        endpoint.set_nonblocking()?;
        let direction = options.direction;
        let calls = StdIo::new(&options, vec![endpoint])?;
        let sends = direction.sends().then_some(calls.socket(0));
        let receives = direction.receives().then_some(calls.socket(0));
        let readable: Readied<W> = Readied::new(receives, Interest::Readable)?;
        if let Some(poll) = options.busy_poll {
            readable.waiter.busy_poll(poll)?;
        }
        Ok(Waiting {
            writable: Readied::new(sends, Interest::Writable)?,
            readable,
            calls,
        })
    }
}

/// A socket that is awaited until it is ready, and then used with the calls of std.
pub(super) struct Waiting<W, A> {
    writable: Readied<W>,
    readable: Readied<W>,
    calls: StdIo<A>,
}

/// One direction of a socket, and whether it may still be ready.
struct Readied<W> {
    waiter: W,
    ready: bool,
}

impl<W: Waiter> Readied<W> {
    fn new(socket: Option<&UdpSocket>, interest: Interest) -> io::Result<Self> {
        Ok(Self {
            waiter: W::new(socket, interest)?,
            ready: W::POLICY.try_first,
        })
    }

    #[inline]
    fn wait(&mut self, socket: &UdpSocket) -> io::Result<()> {
        if self.ready {
            Ok(())
        } else {
            self.waiter.wait(socket)
        }
    }

    /// Updates the readiness from the outcome of an operation.
    #[inline]
    fn after(&mut self, outcome: io::Result<BatchCount>) -> io::Result<BatchCount> {
        self.ready = W::POLICY.is_still_ready(&outcome);
        outcome
    }
}

impl<W: Waiter, A: Addressing> DatagramIo for Waiting<W, A> {
    #[inline]
    async fn transmit(&mut self, _link: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        self.writable.wait(self.calls.socket(0))?;
        let outcome = self.calls.send(0, fill);
        self.writable.after(outcome)
    }

    #[inline]
    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        self.readable.wait(self.calls.socket(0))?;
        let outcome = self.calls.take(0, check);
        self.readable.after(outcome)
    }
}
