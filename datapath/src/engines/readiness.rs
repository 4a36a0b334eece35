//! The engines `poll`, `epoll-level` and `epoll-drain` (poll(2) and epoll(7)) with one socket, and those and mio's with
//! many sockets, for which one wait is enough.
//!
//! The engine's policy decides what a loop does around an event. Between two waits the loop makes the calls of `std`.
//! On Linux these are also mio's calls: `mio::net::UdpSocket` only wraps them.

use std::collections::VecDeque;
use std::io;
use std::marker::PhantomData;
use std::mem;
use std::net::UdpSocket;

use super::selector::{Edge, Epoll, Interest, Level, PollSet, ReadinessPolicy, Selector, Variant};
use super::std::StdIo;
use crate::engine::prelude::*;

const ABOUT: About = About {
    group: Group::Readiness,
    ..About::PLAIN
};

impl Variant for PollSet {
    const ABOUT: About = About {
        name: "poll",
        summary: "poll(2), one datagram per wait",
        busy_polling: BusyPolling::OutOfReach("in poll(2)"),
        ..ABOUT
    };
    const POLICY: ReadinessPolicy = ReadinessPolicy::ONE;
}

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

/// Opens non-blocking sockets, and selectors of writable and of readable ones. That of an unused direction has none.
fn open<S: Selector>(mut options: IoOptions) -> io::Result<(StdIo, [S; 2])> {
    let endpoints = mem::take(&mut options.endpoints);
    for endpoint in &endpoints {
        endpoint.set_nonblocking()?;
    }
    let calls = StdIo::new(&options, endpoints)?;
    let sockets: Vec<_> = (0..calls.endpoints()).map(|n| calls.socket(n)).collect();
    let selector = |is_used, interest| S::new(if is_used { &sockets } else { &[] }, interest);
    let writable = selector(options.direction.sends(), Interest::Writable)?;
    let readable = selector(options.direction.receives(), Interest::Readable)?;
    if let Some(poll) = options.busy_poll {
        readable.busy_poll(poll)?;
    }
    Ok((calls, [writable, readable]))
}

/// The engine that waits for one socket with `S`.
pub(super) struct Readiness<S>(PhantomData<S>);

impl<S: Selector> Engine for Readiness<S> {
    const ABOUT: About = About {
        one_thread: S::POLICY.one_thread(),
        ..S::ABOUT
    };
    type DatagramIo = Waiting<S>;

    fn start(_brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self(PhantomData))
    }

    fn open(&self, mut options: IoOptions) -> io::Result<Waiting<S>> {
        options.endpoints = vec![options.only_endpoint()?];
        let (calls, selectors) = open(options)?;
        let [writable, readable] = selectors.map(|selector| Readied {
            selector,
            ready: S::POLICY.try_first,
        });
        Ok(Waiting {
            writable,
            readable,
            calls,
        })
    }
}

/// A socket that is awaited until it is ready, and then used with the calls of std.
pub(super) struct Waiting<S> {
    writable: Readied<S>,
    readable: Readied<S>,
    calls: StdIo,
}

/// One direction of a socket, and whether it may still be ready.
struct Readied<S> {
    selector: S,
    ready: bool,
}

impl<S: Selector> Readied<S> {
    #[inline]
    fn wait(&mut self) -> io::Result<()> {
        if self.ready {
            Ok(())
        } else {
            self.selector.wait_for_one()
        }
    }

    /// Updates the readiness from the outcome of an operation.
    #[inline]
    fn after(&mut self, outcome: io::Result<BatchCount>) -> io::Result<BatchCount> {
        self.ready = S::POLICY.is_still_ready(&outcome);
        outcome
    }
}

impl<S: Selector> Waiting<S> {
    #[inline(always)]
    fn send(&mut self, fill: &impl Fill) -> io::Result<BatchCount> {
        self.writable.wait()?;
        let outcome = self.calls.send(0, fill);
        self.writable.after(outcome)
    }

    #[inline(always)]
    fn take<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        self.readable.wait()?;
        let outcome = self.calls.take(0, check);
        self.readable.after(outcome)
    }
}

impl<S: Selector> DatagramIo for Waiting<S> {
    #[inline(always)]
    fn transmit(&mut self, _endpoint: usize, fill: &impl Fill) -> impl BatchFuture {
        ready(self.send(fill))
    }

    #[inline(always)]
    fn receive<C: Check>(&mut self, check: &mut C) -> impl BatchFuture {
        ready(self.take(check))
    }
}

/// The engine of `S`, for many sockets.
pub(super) struct Multiplex<S>(PhantomData<S>);

impl<S: Selector> Engine for Multiplex<S> {
    const ABOUT: About = About {
        many_endpoints: ManyEndpoints::OneIo,
        ..S::ABOUT
    };
    type DatagramIo = Multiplexed<S>;

    fn start(_brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self(PhantomData))
    }

    fn open(&self, options: IoOptions) -> io::Result<Multiplexed<S>> {
        let (calls, selectors) = open(options)?;
        let endpoints = calls.endpoints();
        let [writable, readable] = selectors.map(|selector| Ready {
            selector,
            endpoints: vec![S::POLICY.try_first; endpoints],
            queue: (0..endpoints).filter(|_| S::POLICY.try_first).collect(),
        });
        Ok(Multiplexed {
            writable,
            readable,
            calls,
        })
    }
}

/// Sockets that are awaited until one is ready, and then used with the calls of std.
pub(super) struct Multiplexed<S> {
    writable: Ready<S>,
    readable: Ready<S>,
    calls: StdIo,
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
    fn wait(&mut self) -> io::Result<()> {
        self.selector.wait(|endpoint| {
            if !mem::replace(&mut self.endpoints[endpoint], true) {
                self.queue.push_back(endpoint);
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
        if !S::POLICY.is_still_ready(&outcome) {
            self.endpoints[endpoint] = false;
            self.queue.pop_front();
            self.selector.rearm(socket, endpoint)?;
        }
        outcome
    }
}

impl<S: Selector> Multiplexed<S> {
    #[inline(always)]
    fn send(&mut self, endpoint: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        self.writable.until(endpoint)?;
        let outcome = self.calls.send(endpoint, fill);
        (self.writable).after(endpoint, self.calls.socket(endpoint), outcome)
    }

    #[inline(always)]
    fn take<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        let endpoint = self.readable.first()?;
        let outcome = self.calls.take(endpoint, check);
        (self.readable).after(endpoint, self.calls.socket(endpoint), outcome)
    }
}

impl<S: Selector> DatagramIo for Multiplexed<S> {
    fn transmit(&mut self, endpoint: usize, fill: &impl Fill) -> impl BatchFuture {
        ready(self.send(endpoint, fill))
    }

    fn receive<C: Check>(&mut self, check: &mut C) -> impl BatchFuture {
        ready(self.take(check))
    }
}
