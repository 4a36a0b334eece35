//! The contract between the engines and the loops that time them.
//!
//! An engine opens an I/O object, a [`DatagramIo`], on a list of endpoints. An endpoint is a socket and its peer. The
//! object sends one batch per call ([`DatagramIo::transmit`]) or receives one ([`DatagramIo::receive`]); a loop that
//! only floods uses one of the two. A workload (see [`crate::workload`]) is a generic loop over I/O objects. Both
//! methods are `async`: a blocking call is simply always ready, and [`Engine::run`] drives the engine's futures. The
//! compiler turns each pair of loop and I/O object into one plain loop. Nothing in it is dynamic, allocates, locks or
//! reads a clock per datagram.

mod about;
mod controls;
pub(crate) mod counters;
mod datagram_io;
#[doc(hidden)]
pub mod null_endpoint;
pub mod payload;
mod queue_probe;
#[doc(hidden)]
pub mod verify;
mod wakeups;

use std::any::Any;
use std::future::Future;
use std::io;
use std::net::UdpSocket;
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

pub use self::about::{About, BusyPolling, ManyEndpoints, Partner, Selection, Trains};
pub use self::controls::{Arrived, ControlMemory, ControlReader, Controls};
#[doc(hidden)]
pub use self::counters::{
    FlowCounts, FlowMeter, OffloadedRequests, OutsideCounts, Refusals, SharedCount,
};
pub use self::counters::{Meter, SharedTally, Tally};
pub use self::datagram_io::{
    BatchFuture, DatagramIo, Direction, Endpoint, IoOptions, PerEndpoint, Remark, ready,
};
#[doc(hidden)]
pub use self::queue_probe::{ConnectionProbe, LosslessProbe};
pub use self::queue_probe::{QueueProbe, UdpProbe};
pub use self::wakeups::{Waits, Wakeups};
pub use crate::data::{Group, Transport};
pub use crate::sys::wakeup::block as block_wakeups;

/// All that most engines need of the contract: `use udpbench::engine::prelude::*`.
pub mod prelude {
    pub use super::payload::{Check, Fill, Origin};
    pub use super::{
        About, BatchCount, BatchFuture, BusyPolling, DatagramIo, Direction, Endpoint, Engine,
        Group, IoOptions, ManyEndpoints, Meter, Partner, PerEndpoint, Remark, Selection,
        ThreadArgs, Trains, Waits, Wakeups, ready,
    };
}

/// Datagrams and bytes that one call of an engine sent or received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchCount {
    /// Datagrams handed to the kernel, including refused ones, or taken from it.
    pub packets: u64,
    /// UDP payload that the kernel took, or that was taken from it, in bytes.
    pub bytes: u64,
}

impl BatchCount {
    /// Returns the count of one datagram with `bytes` bytes of payload.
    #[inline]
    pub fn one(bytes: usize) -> Self {
        Self::of(1, bytes as u64)
    }

    /// Returns the count of `packets` datagrams with `bytes` bytes of payload in total.
    #[inline]
    pub fn of(packets: u64, bytes: u64) -> Self {
        Self { packets, bytes }
    }
}

/// The outcome of a call that makes several operations (`mmsg`, `uring`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchOutcome {
    /// Datagrams and bytes moved by the operations that succeeded.
    pub moved: BatchCount,
    /// Failed operations, without the ones to repeat (`EAGAIN`, `EINTR`).
    pub failed: u32,
    /// The `errno` of the last failed operation. 0: unknown, and other operations succeeded.
    pub errno: i32,
}

impl BatchOutcome {
    /// Counts the failed operations and returns the received datagrams.
    ///
    /// # Errors
    /// Returns the last failure if nothing was received. The loop then counts that failure.
    #[inline]
    pub fn received(self, meter: &Meter) -> io::Result<BatchCount> {
        if self.failed == 0 {
            Ok(self.moved)
        } else {
            self.count_failed(meter)
        }
    }

    /// Counts the refused datagrams and returns the number of datagrams handed to the kernel.
    ///
    /// `is_full` returns whether the send buffer had no room for the failed datagrams. They are then sent again and
    /// do not count as refused.
    ///
    /// # Errors
    /// Returns the last failure if nothing was sent. The loop then counts all failures.
    #[inline]
    pub fn sent(self, meter: &Meter, is_full: impl FnOnce() -> bool) -> io::Result<BatchCount> {
        if self.failed == 0 {
            Ok(self.moved)
        } else {
            self.count_refused(meter, is_full)
        }
    }

    #[cold]
    fn count_failed(self, meter: &Meter) -> io::Result<BatchCount> {
        let returned = u64::from(self.moved.packets == 0);
        let failed = u64::from(self.failed) - returned;
        meter.errors.fetch_add(failed, Ordering::Relaxed);
        self.moved_or_error()
    }

    #[cold]
    fn count_refused(
        self,
        meter: &Meter,
        is_full: impl FnOnce() -> bool,
    ) -> io::Result<BatchCount> {
        let mut moved = self.moved_or_error()?;
        if is_full() {
            return Ok(moved);
        }
        meter.refusals.add(self.failed.into(), self.errno);
        moved.packets += u64::from(self.failed);
        Ok(moved)
    }

    fn moved_or_error(self) -> io::Result<BatchCount> {
        if self.moved.packets == 0 {
            Err(io::Error::from_raw_os_error(self.errno))
        } else {
            Ok(self.moved)
        }
    }
}

/// Returns whether to repeat a failed call. Such a call has lost no datagram.
pub fn is_to_be_made_again(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
    )
}

/// Arguments of [`Engine::pool`].
#[derive(Clone)]
pub struct PoolArgs {
    /// Number of worker threads to start.
    pub workers: usize,
    /// Function that each worker thread calls first.
    pub at_start: Arc<dyn Fn() + Send + Sync>,
}

/// Arguments of [`Engine::start`].
#[derive(Clone, Debug)]
pub struct ThreadArgs {
    /// Wakers of the bench thread's futures, for engines whose futures suspend.
    pub wakeups: Arc<Wakeups>,
    /// Counters of the bench thread. An engine whose single call may last for a whole flood updates them during the
    /// call.
    pub meter: Arc<Meter>,
    /// Worker threads that run the bench thread's loop. `None`: the bench thread runs it.
    pub pool: Option<Pool>,
}

/// Worker threads shared by the bench threads of a run. Only their engine knows the type behind this.
pub type Pool = Arc<dyn Any + Send + Sync>;

/// One of several loops run by a thread, with everything that the loop needs.
pub type Loop = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// Work for another thread.
pub type Job = Box<dyn FnOnce() + Send>;

/// Function that hands a job to another thread, which runs it at once or when it is free.
pub type Spawner = Arc<dyn Fn(Job) + Send + Sync>;

/// A way to move datagrams: a socket API or an event loop.
pub trait Engine: Sized + 'static {
    /// Description and properties of the engine.
    const ABOUT: About;
    /// Type of the object that sends and receives datagrams.
    type DatagramIo: DatagramIo + 'static;

    /// Starts the parts shared by the bench thread's I/O objects (a runtime; nothing for most engines), on the bench
    /// thread itself.
    ///
    /// # Errors
    /// Returns the error of the system call. The case then becomes a `failed` row.
    fn start(brief: &ThreadArgs) -> io::Result<Self>;

    /// Opens an I/O object, on the bench thread itself, before the trial starts. Most bench threads have one. A case
    /// with a single thread, which sends and receives in turn, has one for each direction.
    ///
    /// # Errors
    /// Returns the error of the system call. The case then becomes a `failed` row.
    fn open(&self, options: IoOptions) -> io::Result<Self::DatagramIo>;

    /// Starts the worker threads that all bench threads of a run share, for engines with [`About::shares_workers`].
    ///
    /// # Errors
    /// Returns the error of the system call. The case then becomes a `failed` row. Fails with `Unsupported` if the
    /// engine has no worker threads.
    fn pool(_brief: PoolArgs) -> io::Result<Pool> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns the function that runs blocking jobs on the engine's own threads. `None`: the engine has no such
    /// threads.
    fn spawner(&self) -> Option<Spawner> {
        None
    }

    /// Opens a view of the drops and the queue of a receiving socket. The default reads them from the kernel; an
    /// engine that counts for itself overrides it.
    ///
    /// # Errors
    /// Fails if the kernel does not report the drops of the socket.
    fn queue_probe(socket: &UdpSocket) -> io::Result<Box<dyn QueueProbe>> {
        Ok(Box::new(UdpProbe::new(socket)?))
    }

    /// Checks that the engine can run on this machine.
    ///
    /// # Errors
    /// Returns the reason why the engine cannot run, for the plan and for `udpbench engines`.
    fn probe() -> Result<(), String> {
        Ok(())
    }

    /// Runs several loops to their ends, in turn on this thread, for engines with [`ManyEndpoints::IoEach`].
    ///
    /// # Errors
    /// Returns the first error of a loop. Fails with `Unsupported` if the engine has no such loops.
    fn run_all(&self, _loops: Vec<Loop>) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Runs one of the engine's futures to its end, on this thread or on others while this one waits. The default is
    /// for engines that never suspend.
    fn run<F: Future<Output: Send> + Send>(&self, future: F) -> F::Output {
        poll_once(future)
    }
}

/// Runs a future that never suspends.
///
/// # Panics
/// Panics if the future suspends: its engine then needs its own [`Engine::run`].
#[inline]
pub fn poll_once<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("a blocking engine's future suspended"),
    }
}

/// Locks a mutex, also one whose owner has panicked: no data behind one is left in between two states.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the message of a panic.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no reason given")
}

/// Returns the future as a trait object. The code that drives it is then compiled once, at the cost of an indirect
/// call per wait.
pub fn erased<'a, T>(
    future: Pin<&'a mut (impl Future<Output = T> + Send)>,
) -> Pin<&'a mut (dyn Future<Output = T> + Send + 'a)> {
    future
}

#[cfg(test)]
mod tests;
