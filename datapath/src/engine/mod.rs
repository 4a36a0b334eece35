//! The contract between engines and the loops that time them: what an engine is, and what it may count on.
//!
//! An engine opens a [`Port`] on a list of links; a link is a socket and its peer. A port moves one burst out
//! ([`Port::transmit`]) or in ([`Port::receive`]); a loop that only floods uses one of the two. A workload (see
//! [`crate::workload`]) is a generic loop over ports. Both methods are `async`: a blocking call is simply always
//! ready, and [`Engine::run`] says how the engine's futures are driven. The compiler turns each pair of loop and
//! port into one plain loop, so that nothing per datagram is dynamic, allocates, locks or reads a clock.

mod about;
pub(crate) mod counters;
pub mod null_link;
pub mod payload;
mod port;
mod tap;
pub mod verify;
mod wakeups;

use std::any::Any;
use std::future::Future;
use std::io;
use std::net::UdpSocket;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

pub use self::about::{About, ManyLinks, Partner, Selection};
pub use self::counters::{
    Beside, FlowCounts, FlowMeter, Meter, Refusals, SharedCount, SharedTally, Tally,
};
pub use self::port::{Direction, Link, PerLink, Port, PortOptions, Remark};
pub use self::tap::{ConnectionTap, LosslessTap, Tap, UdpTap};
pub use self::wakeups::{Waits, Wakeups};

/// What one call of an engine moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Burst {
    /// Datagrams handed to the kernel, whether or not it refused them, or taken from it.
    pub packets: u64,
    /// UDP payload that the kernel took, or that was taken from it, in bytes.
    pub bytes: u64,
}

impl Burst {
    /// One datagram of `bytes` bytes of payload.
    #[inline]
    pub fn one(bytes: usize) -> Self {
        Self::of(1, bytes as u64)
    }

    /// `packets` datagrams with `bytes` bytes of payload in all of them.
    #[inline]
    pub fn of(packets: u64, bytes: u64) -> Self {
        Self { packets, bytes }
    }
}

/// The outcome of a call that makes several operations (`mmsg`, `uring`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Batched {
    /// What those moved that did not fail.
    pub moved: Burst,
    /// How many failed. Those that are to be made again (`EAGAIN`, `EINTR`) are not among them.
    pub failed: u32,
    /// The `errno` of the last of these. 0: it is not known, beside others that were moved.
    pub errno: i32,
}

impl Batched {
    /// Counts what failed beside datagrams that were received, and returns these.
    ///
    /// # Errors
    /// The last failure, if nothing was moved: the loop counts one.
    #[inline]
    pub fn received(self, meter: &Meter) -> io::Result<Burst> {
        if self.failed == 0 {
            return Ok(self.moved);
        }
        let told = u64::from(self.moved.packets == 0);
        self.count_failed(meter, told);
        self.moved_or_error()
    }

    /// Counts what was refused beside datagrams that the kernel took, and returns how many were handed to it.
    ///
    /// `is_full`: whether there was no room in the send buffer for those that did not go. Then they are to be sent again.
    ///
    /// # Errors
    /// The last failure, if nothing was moved: the loop counts all of them.
    #[inline]
    pub fn sent(self, meter: &Meter, is_full: impl FnOnce() -> bool) -> io::Result<Burst> {
        if self.failed == 0 {
            Ok(self.moved)
        } else {
            self.count_refused(meter, is_full)
        }
    }

    #[cold]
    fn count_failed(self, meter: &Meter, less: u64) {
        let failed = u64::from(self.failed) - less;
        meter.errors.fetch_add(failed, Ordering::Relaxed);
    }

    #[cold]
    fn count_refused(self, meter: &Meter, is_full: impl FnOnce() -> bool) -> io::Result<Burst> {
        let mut burst = self.moved_or_error()?;
        if is_full() {
            return Ok(burst);
        }
        meter.refusals.add(self.failed.into(), self.errno);
        burst.packets += u64::from(self.failed);
        Ok(burst)
    }

    fn moved_or_error(self) -> io::Result<Burst> {
        if self.moved.packets == 0 {
            Err(io::Error::from_raw_os_error(self.errno))
        } else {
            Ok(self.moved)
        }
    }
}

/// Whether a call that failed is to be made again: no datagram was lost by it.
pub fn is_to_be_made_again(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
    )
}

/// What an engine may want to know before it starts its worker threads.
#[derive(Clone)]
pub struct PoolBrief {
    /// How many it is to start.
    pub workers: usize,
    /// What each of them is to do first.
    pub at_start: Arc<dyn Fn() + Send + Sync>,
}

/// What an engine may want to know before it starts.
#[derive(Clone, Debug)]
pub struct LaneBrief {
    /// For engines whose futures suspend.
    pub wakeups: Arc<Wakeups>,
    /// For engines of which one call may last as long as the flood: they publish from within.
    pub meter: Arc<Meter>,
    /// The threads that are to run the lane, if not its own.
    pub pool: Option<Pool>,
}

/// Whether the sockets of a case are connected: decided once, as a type, outside every loop.
pub trait Addressing: Send + 'static {
    /// `true`: `send`/`recv` on connected sockets. `false`: `send_to`/`recv_from`.
    const CONNECTED: bool;
}

/// `connect(2)` was called; datagrams carry no address. See [`Addressing`].
pub enum Connected {}
/// Every datagram names its destination and reports its source. See [`Addressing`].
pub enum Unconnected {}

impl Addressing for Connected {
    const CONNECTED: bool = true;
}
impl Addressing for Unconnected {
    const CONNECTED: bool = false;
}

/// Threads that the lanes of a run share, and what they run: only their engine knows.
pub type Pool = Arc<dyn Any + Send + Sync>;

/// One of several loops that a thread runs, with all that it needs.
pub type Loop = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// Work for another thread.
pub type Job = Box<dyn FnOnce() + Send>;

/// Has another thread do it, at once or when one is free.
pub type Spawner = Arc<dyn Fn(Job) + Send + Sync>;

/// A way to move datagrams: a socket API plus its loop.
pub trait Engine: Sized + 'static {
    /// What people need to know before they choose it.
    const ABOUT: About;
    /// What it moves datagrams through.
    type Port<A: Addressing>: Port + 'static;

    /// Starts what the lane's ports share (a runtime, mostly nothing), on the lane's own thread.
    ///
    /// # Errors
    /// What the system said; the case becomes a `failed` row.
    fn start(brief: &LaneBrief) -> io::Result<Self>;

    /// Opens a port, on the lane's own thread, before the start. Mostly there is one; the only thread of a case,
    /// which sends and receives in turn, has one for each.
    ///
    /// # Errors
    /// As for [`Engine::start`].
    fn open<A: Addressing>(&self, options: PortOptions) -> io::Result<Self::Port<A>>;

    /// Starts the worker threads that all lanes of a run share, for engines with [`About::shares_workers`].
    ///
    /// # Errors
    /// As for [`Engine::start`].
    fn pool(_brief: PoolBrief) -> io::Result<Pool> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Hands work to threads that the engine has for what blocks, if it has.
    fn spawner(&self) -> Option<Spawner> {
        None
    }

    /// What sees the receiving end of a link from outside: of its socket, unless the engine counts for itself.
    ///
    /// # Errors
    /// When the kernel does not say its drops.
    fn tap(socket: &UdpSocket) -> io::Result<Box<dyn Tap>> {
        Ok(Box::new(UdpTap::new(socket)?))
    }

    /// Can it run here?
    ///
    /// # Errors
    /// The reason why not, for the plan and for `udpbench engines`.
    fn probe() -> Result<(), String> {
        Ok(())
    }

    /// Drives several loops to their ends, in turn on this thread. The default is for libraries whose own way to wait
    /// for many is a set of futures.
    ///
    /// # Errors
    /// The first of theirs.
    fn run_all(&self, loops: Vec<Loop>) -> io::Result<()> {
        self.run(async {
            let mut loops: FuturesUnordered<Loop> = loops.into_iter().collect();
            while let Some(ended) = loops.next().await {
                ended?;
            }
            Ok(())
        })
    }

    /// Drives one of the engine's futures to its end, on this thread or, while this one waits, on others. The
    /// default is for engines that never suspend.
    fn run<F: Future<Output: Send> + Send>(&self, future: F) -> F::Output {
        poll_once(future)
    }
}

/// Drives a future that never suspends.
///
/// # Panics
/// If it does suspend: then its engine needs a [`Engine::run`] of its own.
#[inline]
pub fn poll_once<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("a blocking engine's future suspended"),
    }
}

/// A future as any other: what drives it is compiled once, and costs an indirect call per wait.
pub fn erased<'a, T>(
    future: Pin<&'a mut (impl Future<Output = T> + Send)>,
) -> Pin<&'a mut (dyn Future<Output = T> + Send + 'a)> {
    future
}

#[cfg(test)]
mod tests;
