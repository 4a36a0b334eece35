//! The engines over poll(2), epoll(7) and mio with many sockets: one wait for all of them.
//!
//! The engine's policy decides what a loop does around an event, as it does with one socket. Between two waits the
//! loop makes the calls of `std`. On Linux these are also mio's calls: `mio::net::UdpSocket` only wraps them.

use std::collections::VecDeque;
use std::io;
use std::marker::PhantomData;
use std::mem;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use mio::unix::SourceFd;
use nix::sys::epoll::{self, EpollCreateFlags, EpollEvent, EpollTimeout};

use super::linux::poll_set::PollSet;
use super::readiness::{self, Interest};
use super::readiness_policy::Variant;
use super::std::StdIo;
use crate::data::BusyPoll;
use crate::engine::payload::{Check, Fill};
use crate::engine::{
    About, Addressing, BatchCount, DatagramIo, Engine, IoOptions, ManyEndpoints, ThreadArgs,
};
use crate::sys::busy_poll;

/// Maximum number of events per wait.
const EVENTS: usize = 256;

/// A way to wait until any of many sockets is ready. The caller keeps the sockets open.
pub(super) trait Selector: Send + Sized + 'static {
    /// The engine that waits this way.
    type Variant: Variant;
    /// Prepares to wait for `sockets`.
    fn new<'a>(
        sockets: impl Iterator<Item = &'a UdpSocket>,
        interest: Interest,
    ) -> io::Result<Self>;
    /// Has the waits busy-poll.
    fn busy_poll(&self, _poll: BusyPoll) -> io::Result<()> {
        Ok(())
    }
    /// Waits until at least one socket is ready, and calls `is_ready` with the index of each.
    fn wait(&mut self, is_ready: impl FnMut(usize)) -> io::Result<()>;
    /// Requests another event for a socket that may still be ready.
    fn rearm(&mut self, _socket: &UdpSocket, _link: usize) -> io::Result<()> {
        Ok(())
    }
}

/// Waits with poll(2): each call tells the kernel to check all sockets.
impl Selector for PollSet {
    type Variant = readiness::Poll;

    fn new<'a>(
        sockets: impl Iterator<Item = &'a UdpSocket>,
        interest: Interest,
    ) -> io::Result<Self> {
        Ok(Self::new(sockets, interest))
    }

    fn wait(&mut self, is_ready: impl FnMut(usize)) -> io::Result<()> {
        Self::wait(self)?;
        self.ready().for_each(is_ready);
        Ok(())
    }
}

/// Waits with one epoll instance.
pub(super) struct EpollSelector<T> {
    instance: epoll::Epoll,
    events: Box<[EpollEvent]>,
    trigger: PhantomData<T>,
}

impl<T: Send + 'static> Selector for EpollSelector<T>
where
    readiness::Epoll<T>: Variant,
{
    type Variant = readiness::Epoll<T>;

    fn new<'a>(
        sockets: impl Iterator<Item = &'a UdpSocket>,
        interest: Interest,
    ) -> io::Result<Self> {
        let flags = readiness::epoll_flags(interest, Self::Variant::POLICY);
        let instance = epoll::Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        for (endpoint, socket) in (0..).zip(sockets) {
            instance.add(socket, EpollEvent::new(flags, endpoint))?;
        }
        Ok(Self {
            instance,
            events: vec![EpollEvent::empty(); EVENTS].into(),
            trigger: PhantomData,
        })
    }

    fn busy_poll(&self, poll: BusyPoll) -> io::Result<()> {
        busy_poll::of_epoll(&self.instance.0, poll.us)
    }

    fn wait(&mut self, mut is_ready: impl FnMut(usize)) -> io::Result<()> {
        let count = self.instance.wait(&mut self.events, EpollTimeout::NONE)?;
        for event in &self.events[..count] {
            #[expect(clippy::cast_possible_truncation, reason = "it was a usize")]
            is_ready(event.data() as usize);
        }
        Ok(())
    }
}

/// Waits with one mio `Poll`.
pub(super) struct MioSelector<V> {
    poll: mio::Poll,
    events: mio::Events,
    interest: mio::Interest,
    variant: PhantomData<V>,
}

impl<V: Variant> Selector for MioSelector<V> {
    type Variant = V;

    fn new<'a>(
        sockets: impl Iterator<Item = &'a UdpSocket>,
        interest: Interest,
    ) -> io::Result<Self> {
        let interest = match interest {
            Interest::Readable => mio::Interest::READABLE,
            Interest::Writable => mio::Interest::WRITABLE,
        };
        let poll = mio::Poll::new()?;
        for (endpoint, socket) in sockets.enumerate() {
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

/// The engine of `S`, for many sockets.
pub(super) struct Multiplex<S>(PhantomData<S>);

impl<S: Selector> Engine for Multiplex<S> {
    const ABOUT: About = About {
        many_endpoints: ManyEndpoints::OneIo,
        ..S::Variant::ABOUT
    };
    type DatagramIo<A: Addressing> = Multiplexed<S, A>;

    fn start(_brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self(PhantomData))
    }

    fn open<A: Addressing>(&self, mut options: IoOptions) -> io::Result<Multiplexed<S, A>> {
        let endpoints = mem::take(&mut options.endpoints);
        for endpoint in &endpoints {
            endpoint.set_nonblocking()?;
        }
        let (sends, receives) = (options.direction.sends(), options.direction.receives());
        let calls = StdIo::new(&options, endpoints)?;
        let readable = receives.then(|| Ready::<S>::new(&calls, Interest::Readable));
        let readable = readable.transpose()?;
        if let Some((readable, poll)) = readable.as_ref().zip(options.busy_poll) {
            readable.selector.busy_poll(poll)?;
        }
        Ok(Multiplexed {
            writable: sends
                .then(|| Ready::new(&calls, Interest::Writable))
                .transpose()?,
            readable,
            calls,
        })
    }
}

/// Sockets that are awaited until one is ready, and then used with the calls of std. Unused directions are `None`.
pub(super) struct Multiplexed<S, A> {
    writable: Option<Ready<S>>,
    readable: Option<Ready<S>>,
    calls: StdIo<A>,
}

/// One direction of the sockets, and the events that have not been used up.
struct Ready<S> {
    selector: S,
    /// Readiness of each socket.
    endpoints: Vec<bool>,
    /// Indices of the ready sockets, in the order in which they became ready.
    queue: VecDeque<usize>,
}

impl<S: Selector> Ready<S> {
    fn new<A: Addressing>(calls: &StdIo<A>, interest: Interest) -> io::Result<Self> {
        let (endpoints, try_first) = (calls.endpoints(), S::Variant::POLICY.try_first);
        Ok(Self {
            selector: S::new(calls.sockets(), interest)?,
            endpoints: vec![try_first; endpoints],
            queue: (0..endpoints).filter(|_| try_first).collect(),
        })
    }

    fn wait(&mut self) -> io::Result<()> {
        let Self {
            selector,
            endpoints,
            queue,
        } = self;
        selector.wait(|endpoint| {
            if !mem::replace(&mut endpoints[endpoint], true) {
                queue.push_back(endpoint);
            }
        })
    }

    /// Waits until the given socket is ready.
    fn until(&mut self, endpoint: usize) -> io::Result<()> {
        while !self.endpoints[endpoint] {
            self.wait()?;
            // A sender waits for one socket and does not use the events of the others.
            self.queue.clear();
        }
        Ok(())
    }

    /// Waits until a socket is ready, and returns the one that became ready first.
    fn first(&mut self) -> io::Result<usize> {
        loop {
            match self.queue.front() {
                Some(&endpoint) => return Ok(endpoint),
                None => self.wait()?,
            }
        }
    }

    /// Updates the readiness from the outcome of an operation.
    fn after(
        &mut self,
        endpoint: usize,
        socket: &UdpSocket,
        outcome: io::Result<BatchCount>,
    ) -> io::Result<BatchCount> {
        if !S::Variant::POLICY.is_still_ready(&outcome) {
            self.endpoints[endpoint] = false;
            self.queue.pop_front();
            self.selector.rearm(socket, endpoint)?;
        }
        outcome
    }
}

/// Returns the error for a direction that was not opened.
fn not_open() -> io::Error {
    io::ErrorKind::Unsupported.into()
}

impl<S: Selector, A: Addressing> DatagramIo for Multiplexed<S, A> {
    async fn transmit(&mut self, endpoint: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        let writable = self.writable.as_mut().ok_or_else(not_open)?;
        writable.until(endpoint)?;
        let outcome = self.calls.send(endpoint, fill);
        writable.after(endpoint, self.calls.socket(endpoint), outcome)
    }

    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        let readable = self.readable.as_mut().ok_or_else(not_open)?;
        let endpoint = readable.first()?;
        let outcome = self.calls.take(endpoint, check);
        readable.after(endpoint, self.calls.socket(endpoint), outcome)
    }
}
