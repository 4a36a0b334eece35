//! A lane: what one thread runs, and all that it shares with the coordinator.
//!
//! Lanes wait at the `StartBarrier`, then never pause. They publish what they did in their [`Meter`]; the
//! coordinator reads the meters at the edges of a window, which costs the lanes nothing.

use std::io;
#[cfg(feature = "calibration")]
use std::sync::atomic::AtomicU64;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::start_barrier::StartBarrier;
use crate::engine::payload::Fill;
use crate::engine::{Burst, LaneBrief, Meter, Pool, Tally, is_to_be_made_again};

/// What the lanes of one run share: the start barrier and the two stop flags.
#[derive(Debug, Default)]
pub struct Control {
    /// Where lanes wait for each other.
    pub start_barrier: StartBarrier,
    stop_sending: AtomicBool,
    stop_receiving: AtomicBool,
    #[cfg(feature = "calibration")]
    delay_iterations: AtomicU64,
}

impl Control {
    /// Asks the senders to stop. Receivers go on, so that the queues empty.
    pub fn stop_sending(&self) {
        self.stop_sending.store(true, Ordering::Relaxed);
    }

    /// Asks the receivers to stop.
    pub fn stop_receiving(&self) {
        self.stop_receiving.store(true, Ordering::Relaxed);
    }

    /// Makes senders do so much more for each datagram. To be set before the start.
    #[cfg(feature = "calibration")]
    pub fn delay_senders(&self, iterations: u64) {
        self.delay_iterations.store(iterations, Ordering::Relaxed);
    }
}

/// What a lane's loop has in hand besides its engine.
#[derive(Debug)]
pub struct LaneContext {
    /// Where the loop publishes what it did.
    pub meter: Arc<Meter>,
    control: Arc<Control>,
    pool: Option<Pool>,
    /// Its loops, and how many of them still send.
    loops: AtomicUsize,
    sending: AtomicUsize,
    faults: Mutex<Faults>,
}

/// Failed calls since the last one that moved something.
#[derive(Clone, Copy, Debug, Default)]
struct Faults {
    packets: u64,
    streak: u32,
}

impl LaneContext {
    /// A lane that gives up after so many failed calls in a row would only spin.
    const MAX_STREAK: u32 = 1000;

    /// The context of the lane that `meter` belongs to.
    pub fn new(control: Arc<Control>, meter: Arc<Meter>) -> Self {
        Self {
            meter,
            control,
            pool: None,
            loops: AtomicUsize::new(1),
            sending: AtomicUsize::new(1),
            faults: Mutex::default(),
        }
    }

    /// Whether other threads than its own run it.
    pub fn is_pooled(&self) -> bool {
        self.pool.is_some()
    }

    /// The same lane, run by the threads of `pool`.
    pub fn on(self, pool: Option<Pool>) -> Self {
        Self { pool, ..self }
    }

    /// What the engine may want to know.
    pub fn brief(&self) -> LaneBrief {
        LaneBrief {
            wakeups: Arc::clone(&self.meter.wakeups),
            meter: Arc::clone(&self.meter),
            pool: self.pool.clone(),
        }
    }

    /// Arrives at the start barrier and waits until it opens.
    ///
    /// # Errors
    /// When another lane could not be built and the run is called off.
    pub fn wait_at_start(&self) -> io::Result<()> {
        self.control.start_barrier.arrive_and_wait()
    }

    /// Whether senders are to stop. One relaxed load.
    #[inline]
    pub fn sending_stopped(&self) -> bool {
        self.control.stop_sending.load(Ordering::Relaxed)
    }

    /// Whether receivers are to stop. One relaxed load.
    #[inline]
    pub fn receiving_stopped(&self) -> bool {
        self.control.stop_receiving.load(Ordering::Relaxed)
    }

    /// How often it has been time to give up what does not come. One relaxed load.
    #[inline]
    pub(crate) fn overdue(&self) -> u32 {
        self.meter.overdue.load(Ordering::Relaxed)
    }

    /// Does what [`Control::delay_senders`] asked for, for each datagram of a burst.
    #[cfg(feature = "calibration")]
    #[inline]
    pub(crate) fn delay(&self, packets: u64) {
        let iterations = self.control.delay_iterations.load(Ordering::Relaxed);
        crate::workload::delay::spend(iterations * packets);
    }

    /// Says that this lane sends no more, so that its count is final.
    pub fn done_sending(&self) {
        self.meter.done_sending.store(true, Ordering::Release);
    }

    /// So many loops take turns in this lane.
    pub(crate) fn share(&self, loops: usize) {
        self.loops.store(loops, Ordering::Relaxed);
        self.sending.store(loops, Ordering::Relaxed);
    }

    /// Counts datagrams that one of its loops has sent, whose own total is `own`.
    pub(crate) fn count_sent(&self, own: &mut u64, packets: u64) {
        *own += packets;
        if self.has_one_loop() {
            self.meter.sent.publish(*own);
        } else {
            self.meter.sent.add(packets);
        }
    }

    /// Counts a burst that one of its loops has received, whose own total is `own`.
    pub(crate) fn count_received(&self, own: &mut Tally, burst: Burst) {
        let total = own.add(burst);
        if self.has_one_loop() {
            self.meter.received.publish(total);
        } else {
            self.meter.received.add(burst);
        }
    }

    fn has_one_loop(&self) -> bool {
        self.loops.load(Ordering::Relaxed) == 1
    }

    /// Says that one of its loops sends no more.
    pub(crate) fn one_done_sending(&self) {
        if self.sending.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.done_sending();
        }
    }

    /// Counts, numbers and publishes what such a call leaves sent: returns the new total.
    ///
    /// # Errors
    /// As for [`LaneContext::refused`].
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

    /// Counts a call that sent nothing, although it was for that many datagrams. Returns how many of them were handed to
    /// the kernel and are lost: all, or none if the call is to be made again.
    ///
    /// # Errors
    /// The same error, when 1000 calls in a row have failed with such a one: it will not pass.
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

    /// Takes note of a call that moved nothing.
    ///
    /// # Errors
    /// The same error, when 1000 calls in a row have failed.
    #[cold]
    pub fn tolerate(&self, error: io::Error) -> io::Result<()> {
        match error.kind() {
            // The coordinator's wakeup (see `sys::wakeup`): the loop looks at its stop flag.
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

    /// Datagrams that the kernel took, or gave.
    fn moved(&self) -> u64 {
        let taken = (self.meter.sent.read()).saturating_sub(self.meter.refusals.packets());
        taken + self.meter.received.read().packets
    }

    /// Counts one more failure since that many datagrams have moved.
    fn end_streak(&self, error: io::Error, packets: u64) -> io::Result<()> {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
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

/// Whether a send may work again that failed so: there was no room, or the datagram, or one before it, was refused on its
/// way. Anything else is a mistake of the program.
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
