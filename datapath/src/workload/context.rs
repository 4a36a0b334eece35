//! Context of a bench thread, and the state that it shares with the coordinator thread.
//!
//! Bench threads wait at the `StartBarrier`, and never pause afterwards. They publish their counts in their [`Meter`].
//! The coordinator thread reads the meters at the edges of a window, at no cost for the bench threads.

use std::io;
use std::path::Path;
#[cfg(feature = "calibration")]
use std::sync::atomic::AtomicU64;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::data::Sched;
use crate::engine::payload::Fill;
use crate::engine::{Meter, Pool, ThreadArgs, is_to_be_made_again, lock};

/// Error of a bench thread that was cancelled at the start barrier because another thread could not be set up.
pub const CALLED_OFF: io::ErrorKind = io::ErrorKind::ConnectionAborted;

/// Barrier at which bench threads wait until all are ready. If one cannot be set up, all of them leave.
#[derive(Debug, Default)]
pub struct StartBarrier {
    state: Mutex<BarrierState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct BarrierState {
    arrived: usize,
    failed: bool,
    open: bool,
}

impl StartBarrier {
    /// Waits until `is_over`. Returns false if a thread failed before.
    fn wait(&self, is_over: impl Fn(&BarrierState) -> bool) -> bool {
        let state = lock(&self.state);
        let goes_on = |state: &mut BarrierState| !is_over(state) && !state.failed;
        let waited = self.changed.wait_while(state, goes_on);
        !waited.unwrap_or_else(PoisonError::into_inner).failed
    }

    fn change(&self, change: impl FnOnce(&mut BarrierState)) {
        change(&mut lock(&self.state));
        self.changed.notify_all();
    }

    /// Waits until `threads` bench threads have arrived. Returns false if one of them failed.
    pub fn wait_for(&self, threads: usize) -> bool {
        self.wait(|state| state.arrived >= threads)
    }

    /// Opens the barrier.
    pub fn open(&self) {
        self.change(|state| state.open = true);
    }

    /// Cancels the run.
    pub fn fail(&self) {
        self.change(|state| state.failed = true);
    }
}

/// State that the bench threads of one run share: the start barrier and the two stop flags.
#[derive(Debug, Default)]
pub struct Control {
    /// Barrier at which the bench threads wait for each other.
    pub start_barrier: StartBarrier,
    stop_sending: AtomicBool,
    stop_receiving: AtomicBool,
    #[cfg(feature = "calibration")]
    delay_iterations: AtomicU64,
}

impl Control {
    /// Tells the senders to stop. Receivers continue, so that the queues become empty.
    pub fn stop_sending(&self) {
        self.stop_sending.store(true, Ordering::Relaxed);
    }

    /// Tells the receivers to stop.
    pub fn stop_receiving(&self) {
        self.stop_receiving.store(true, Ordering::Relaxed);
    }

    /// Adds `iterations` operations to the senders' work for each datagram. To be called before the start.
    #[cfg(feature = "calibration")]
    pub fn delay_senders(&self, iterations: u64) {
        self.delay_iterations.store(iterations, Ordering::Relaxed);
    }
}

/// Context of a bench thread's loop, apart from its engine.
#[derive(Debug)]
pub struct ThreadContext {
    /// Counters that the loop publishes.
    pub meter: Arc<Meter>,
    control: Arc<Control>,
    /// Worker threads that run it, instead of a thread of its own.
    pub pool: Option<Pool>,
    /// Program that runs the thread's loop in a process of its own.
    pub executable: Option<&'static Path>,
    /// Scheduling class of the loop, wherever it runs. `None`: that of the process.
    pub sched: Option<Sched>,
    /// Number of the thread's loops that still send.
    sending: AtomicUsize,
    faults: Mutex<Faults>,
}

/// Failed calls since the last one that moved a datagram.
#[derive(Clone, Copy, Debug, Default)]
struct Faults {
    packets: u64,
    streak: u32,
}

impl ThreadContext {
    /// Maximum number of failed calls in a row. A thread with more would only spin, so it ends.
    const MAX_STREAK: u32 = 1000;

    /// Creates the context of the bench thread that `meter` belongs to.
    pub fn new(control: Arc<Control>, meter: Arc<Meter>) -> Self {
        Self {
            meter,
            control,
            pool: None,
            executable: None,
            sched: None,
            sending: AtomicUsize::new(1),
            faults: Mutex::default(),
        }
    }

    /// Returns the information for the engine.
    pub fn brief(&self) -> ThreadArgs {
        ThreadArgs {
            wakeups: Arc::clone(&self.meter.wakeups),
            meter: Arc::clone(&self.meter),
            pool: self.pool.clone(),
        }
    }

    /// Waits at the start barrier until it opens.
    ///
    /// # Errors
    /// Fails if another bench thread could not be set up and the run is cancelled.
    pub fn wait_at_start(&self) -> io::Result<()> {
        let barrier = &self.control.start_barrier;
        barrier.change(|state| state.arrived += 1);
        if barrier.wait(|state| state.open) {
            Ok(())
        } else {
            Err(CALLED_OFF.into())
        }
    }

    /// Returns whether senders must stop. One relaxed load.
    #[inline]
    pub fn sending_stopped(&self) -> bool {
        self.control.stop_sending.load(Ordering::Relaxed)
    }

    /// Returns whether receivers must stop. One relaxed load.
    #[inline]
    pub fn receiving_stopped(&self) -> bool {
        self.control.stop_receiving.load(Ordering::Relaxed)
    }

    /// Returns the meter's `timeout_tick`: when it changes, requests that timed out must be given up. One relaxed load.
    #[inline]
    pub(crate) fn timeout_tick(&self) -> u32 {
        self.meter.timeout_tick.load(Ordering::Relaxed)
    }

    /// Performs the additional operations of [`Control::delay_senders`] for each datagram of a batch.
    #[cfg(feature = "calibration")]
    #[inline]
    pub(crate) fn delay(&self, packets: u64) {
        let iterations = self.control.delay_iterations.load(Ordering::Relaxed);
        crate::workload::delay::run_operations(iterations * packets);
    }

    /// Declares that this thread sends no more, so that its count is final.
    pub fn done_sending(&self) {
        self.meter.done_sending.store(true, Ordering::Release);
    }

    /// Sets the number of loops that share this thread.
    pub(crate) fn share(&self, loops: usize) {
        self.sending.store(loops, Ordering::Relaxed);
    }

    /// Declares that one of its loops sends no more.
    pub(crate) fn one_done_sending(&self) {
        if self.sending.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.done_sending();
        }
    }

    /// Handles a failed send: counts, numbers and publishes the datagrams that are lost. Returns the new total of sent
    /// datagrams.
    ///
    /// # Errors
    /// Returns `error` if 1000 calls in a row have failed with a permanent error.
    #[cold]
    pub(crate) fn refused_of(
        &self,
        sent: u64,
        fill: &mut impl Fill,
        error: io::Error,
        packets: u64,
    ) -> io::Result<u64> {
        let lost = self.refused(error, packets)?;
        fill.sent(lost);
        self.meter.sent.publish(sent + lost);
        Ok(sent + lost)
    }

    /// Counts a failed send of `packets` datagrams. Returns the number that was handed to the kernel and lost: all, or
    /// none if the call is to be repeated.
    ///
    /// # Errors
    /// Returns `error` if 1000 calls in a row have failed with a permanent error.
    #[cold]
    pub fn refused(&self, error: io::Error, packets: u64) -> io::Result<u64> {
        if is_to_be_made_again(&error) {
            self.tolerate(error)?;
            return Ok(0);
        }
        let taken = self.moved();
        let errno = error.raw_os_error().unwrap_or(0);
        self.meter.refusals.add(packets, errno);
        if may_pass(errno) {
            Ok(packets)
        } else {
            self.end_streak(error, taken).map(|()| packets)
        }
    }

    /// Counts a call that moved nothing.
    ///
    /// # Errors
    /// Returns `error` if 1000 calls in a row have failed. Interruptions and full or empty queues are not failures.
    #[cold]
    pub fn tolerate(&self, error: io::Error) -> io::Result<()> {
        match error.kind() {
            // The coordinator thread's wakeup (see `sys::wakeup`): the loop checks its stop flag.
            io::ErrorKind::Interrupted => return Ok(()),
            io::ErrorKind::WouldBlock => {
                self.meter.would_blocks.fetch_add(1, Ordering::Relaxed);
                return Ok(());
            }
            _ => {}
        }
        self.meter.errors.fetch_add(1, Ordering::Relaxed);
        self.end_streak(error, self.moved())
    }

    /// Returns the datagrams that the kernel accepted or delivered.
    fn moved(&self) -> u64 {
        let taken = (self.meter.sent.read()).saturating_sub(self.meter.refusals.packets());
        taken + self.meter.received.read().packets
    }

    /// Counts one more failed call. The streak restarts if `packets`, the datagrams moved so far, has changed.
    fn end_streak(&self, error: io::Error, packets: u64) -> io::Result<()> {
        let mut faults = lock(&self.faults);
        if faults.packets != packets {
            *faults = Faults { packets, streak: 0 };
        }
        faults.streak += 1;
        if faults.streak < Self::MAX_STREAK {
            Ok(())
        } else {
            Err(error)
        }
    }
}

/// Returns whether a send error may be temporary: there was no room, or this datagram or an earlier one was refused on
/// its way. Any other error is a mistake of the program.
fn may_pass(errno: i32) -> bool {
    matches!(
        errno,
        libc::ENOBUFS
            | libc::ENOMEM
            | libc::EPERM
            | libc::EACCES
            | libc::ENETDOWN
            | libc::ENETUNREACH
            | libc::EHOSTDOWN
            | libc::EHOSTUNREACH
            | libc::ECONNREFUSED
    )
}
