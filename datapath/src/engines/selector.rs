//! Ways to wait until one of some sockets is ready, and what a loop does around an event. The engines over poll(2),
//! epoll(7), mio, tokio and quinn-udp share them.
//!
//! Policies are constants of a type, so that each engine compiles to its own loop.

use std::io;
use std::marker::PhantomData;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use mio::unix::SourceFd;
use nix::errno::Errno;
use nix::sys::epoll::{self, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

use crate::data::BusyPoll;
use crate::engine::About;
use crate::sys::busy_poll;

/// Maximum number of events per wait.
const EVENTS: usize = 256;

/// Behavior of a loop before and after a readiness event.
#[derive(Clone, Copy)]
pub(super) struct ReadinessPolicy {
    /// Continue without a new event until the socket says `WouldBlock`.
    pub(super) drain: bool,
    /// Try the socket before the first event.
    pub(super) try_first: bool,
    /// Register the socket again after each operation, so that epoll checks it afresh (`EPOLL_CTL_MOD`,
    /// epoll_ctl(2)). For edge-triggered events that are not drained.
    pub(super) rearm: bool,
}

impl ReadinessPolicy {
    /// One operation per event.
    pub(super) const ONE: Self = Self {
        drain: false,
        try_first: false,
        rearm: false,
    };
    /// Operations until `WouldBlock` after each event.
    pub(super) const DRAIN: Self = Self {
        drain: true,
        ..Self::ONE
    };

    /// Returns whether the next operation needs no new event.
    #[inline]
    pub(super) fn is_still_ready<T>(self, outcome: &io::Result<T>) -> bool {
        let exhausted = matches!(outcome, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
        self.drain && !exhausted
    }

    /// Returns the value of [`About::one_thread`] for an engine with this policy.
    pub(super) const fn one_thread(self) -> Result<(), &'static str> {
        if self.drain {
            Err("starves with 1 thread: it sends until WouldBlock and never receives")
        } else {
            Ok(())
        }
    }
}

/// An engine out of several that differ only in their policy.
pub(super) trait Variant: Send + 'static {
    /// Description of the engine. [`About::one_thread`] follows from the policy.
    const ABOUT: About;
    const POLICY: ReadinessPolicy;
}

/// Event to wait for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Interest {
    Readable,
    Writable,
}

/// A way to wait until any of some sockets is ready, as one of several engines does. The caller keeps the sockets open.
pub(super) trait Selector: Variant + Sized {
    /// Prepares to wait for `sockets`.
    fn new(sockets: &[&UdpSocket], interest: Interest) -> io::Result<Self>;
    /// Has the waits busy-poll.
    fn busy_poll(&self, _poll: BusyPoll) -> io::Result<()> {
        Ok(())
    }
    /// Waits until at least one socket is ready, and calls `is_ready` with the index of each.
    fn wait(&mut self, is_ready: impl FnMut(usize)) -> io::Result<()>;
    /// Waits until the only socket is ready.
    #[inline]
    fn wait_for_one(&mut self) -> io::Result<()> {
        self.wait(|_| ())
    }
    /// Requests another event for a socket that may still be ready.
    fn rearm(&mut self, _socket: &UdpSocket, _endpoint: usize) -> io::Result<()> {
        Ok(())
    }
}

/// Waits with poll(2): each call tells the kernel to check all sockets. A closed one would count as ready (`POLLNVAL`),
/// or stand for another file that has its descriptor number now.
pub(super) struct PollSet(Vec<libc::pollfd>);

impl Selector for PollSet {
    fn new(sockets: &[&UdpSocket], interest: Interest) -> io::Result<Self> {
        let events = match interest {
            Interest::Readable => libc::POLLIN,
            Interest::Writable => libc::POLLOUT,
        };
        let entry = |socket: &&UdpSocket| libc::pollfd {
            fd: socket.as_raw_fd(),
            events,
            revents: 0,
        };
        Ok(Self(sockets.iter().map(entry).collect()))
    }

    #[inline]
    fn wait(&mut self, mut is_ready: impl FnMut(usize)) -> io::Result<()> {
        const NO_TIMEOUT: libc::c_int = -1;
        let count = self.0.len().try_into().map_err(io::Error::other)?;
        #[expect(
            unsafe_code,
            reason = "the wrapper of nix borrows the sockets, which live beside it"
        )]
        // SAFETY: the kernel reads and writes `count` entries (poll(2)), which is their number. Descriptors are only
        // numbers to it.
        let outcome = unsafe { libc::poll(self.0.as_mut_ptr(), count, NO_TIMEOUT) };
        Errno::result(outcome)?;
        for (endpoint, entry) in self.0.iter().enumerate() {
            // Ready, or with an error, which the next call on it returns.
            if entry.revents != 0 {
                is_ready(endpoint);
            }
        }
        Ok(())
    }
}

/// Waits with one epoll instance.
pub(super) struct Epoll<T> {
    instance: epoll::Epoll,
    events: Box<[EpollEvent]>,
    trigger: PhantomData<T>,
}

/// Level-triggered events, which come while there is anything to read or room to write.
pub(super) enum Level {}
/// Edge-triggered events, which come when there is something new. The socket is drained before the next wait.
pub(super) enum Edge {}

impl<T> Selector for Epoll<T>
where
    Self: Variant,
{
    fn new(sockets: &[&UdpSocket], interest: Interest) -> io::Result<Self> {
        let mut flags = match interest {
            Interest::Readable => EpollFlags::EPOLLIN,
            Interest::Writable => EpollFlags::EPOLLOUT,
        };
        // Events that are drained are edge-triggered.
        flags.set(EpollFlags::EPOLLET, Self::POLICY.drain);
        let events = vec![EpollEvent::empty(); sockets.len().clamp(1, EVENTS)];
        let instance = epoll::Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        for (endpoint, socket) in (0..).zip(sockets) {
            instance.add(socket, EpollEvent::new(flags, endpoint))?;
        }
        Ok(Self {
            instance,
            events: events.into(),
            trigger: PhantomData,
        })
    }

    fn busy_poll(&self, poll: BusyPoll) -> io::Result<()> {
        busy_poll::of_epoll(&self.instance.0, poll.us)
    }

    #[inline]
    fn wait(&mut self, mut is_ready: impl FnMut(usize)) -> io::Result<()> {
        let count = self.instance.wait(&mut self.events, EpollTimeout::NONE)?;
        for event in &self.events[..count] {
            #[expect(clippy::cast_possible_truncation, reason = "it was a usize")]
            is_ready(event.data() as usize);
        }
        Ok(())
    }

    #[inline]
    fn wait_for_one(&mut self) -> io::Result<()> {
        self.instance.wait(&mut self.events, EpollTimeout::NONE)?;
        Ok(())
    }
}

/// Waits with one mio `Poll`, as `V` does with one socket.
pub(super) struct MioSelector<V> {
    poll: mio::Poll,
    events: mio::Events,
    interest: mio::Interest,
    variant: PhantomData<V>,
}

impl<V: Variant> Variant for MioSelector<V> {
    const ABOUT: About = V::ABOUT;
    const POLICY: ReadinessPolicy = V::POLICY;
}

impl<V: Variant> Selector for MioSelector<V> {
    fn new(sockets: &[&UdpSocket], interest: Interest) -> io::Result<Self> {
        let interest = match interest {
            Interest::Readable => mio::Interest::READABLE,
            Interest::Writable => mio::Interest::WRITABLE,
        };
        let poll = mio::Poll::new()?;
        for (endpoint, socket) in sockets.iter().enumerate() {
            let fd = socket.as_raw_fd();
            let registry = poll.registry();
            registry.register(&mut SourceFd(&fd), mio::Token(endpoint), interest)?;
        }
        Ok(Self {
            poll,
            events: mio::Events::with_capacity(EVENTS),
            interest,
            variant: PhantomData,
        })
    }

    fn busy_poll(&self, poll: BusyPoll) -> io::Result<()> {
        busy_poll::of_epoll(&self.poll, poll.us)
    }

    fn wait(&mut self, mut is_ready: impl FnMut(usize)) -> io::Result<()> {
        self.poll.poll(&mut self.events, None)?;
        for event in &self.events {
            is_ready(event.token().0);
        }
        Ok(())
    }

    fn rearm(&mut self, socket: &UdpSocket, endpoint: usize) -> io::Result<()> {
        if V::POLICY.rearm {
            let fd = socket.as_raw_fd();
            let registry = self.poll.registry();
            registry.reregister(&mut SourceFd(&fd), mio::Token(endpoint), self.interest)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drained_socket_is_ready_until_it_would_block() {
        let would_block: io::Result<()> = Err(io::ErrorKind::WouldBlock.into());
        let refused: io::Result<()> = Err(io::ErrorKind::ConnectionRefused.into());
        assert!(ReadinessPolicy::DRAIN.is_still_ready(&Ok(())));
        assert!(ReadinessPolicy::DRAIN.is_still_ready(&refused));
        assert!(!ReadinessPolicy::DRAIN.is_still_ready(&would_block));
    }

    #[test]
    fn one_operation_uses_up_an_event_that_is_not_drained() {
        assert!(!ReadinessPolicy::ONE.is_still_ready(&Ok(())));
    }
}
