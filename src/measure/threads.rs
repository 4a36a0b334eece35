//! The threads of one run, from the start to the last join.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};

use anyhow::{Context, anyhow, bail};
use nix::sys::eventfd::{EfdFlags, EventFd};

use super::GLANCE;
use super::workers::{self, Workers};
use crate::data::{Case, Side};
use crate::engine::{Meter, Pool, Remark, Tally};
use crate::engines::{self, Engines};
use crate::platform::placement::Placement;
use crate::sys::cpu_speed::{self, CpuSpeed};
use crate::sys::{clock, wakeup};
use crate::workload::lane::{Control, LaneContext};
use crate::workload::{CALLED_OFF, Program};

/// So much CPU time empties any receive queue: 8 MiB of the smallest datagrams are 10,000, at 1 us each.
const FAIR_CHANCE_NS: u64 = 50_000_000;

/// The lanes of one run. Dropping it stops and joins them, whatever they are doing.
pub(super) struct LaneThreads {
    control: Arc<Control>,
    /// The workers last.
    pub(super) lanes: Vec<Lane>,
    pool: Option<Pool>,
    /// Can be read once a lane has ended.
    pub(super) ended: Arc<EventFd>,
}

/// One thread, seen from the coordinator.
pub(super) struct Lane {
    pub(super) side: Side,
    pub(super) meter: Arc<Meter>,
    cpu: Option<usize>,
    /// Whether workers run it.
    pooled: bool,
    /// How fast its CPU ran when it had just stopped. Known once it is joined.
    pub(super) pace: Option<CpuSpeed>,
    /// What its engine has to say. Known once it is joined.
    pub(super) remark: Remark,
    thread: Option<JoinHandle<io::Result<ThreadOutcome>>>,
}

/// What a thread leaves behind: see the fields of [`Lane`].
type ThreadOutcome = (Remark, Option<CpuSpeed>);

impl LaneThreads {
    /// Starts a thread for each program and waits until all of them are at the start barrier.
    ///
    /// # Errors
    /// When a thread cannot be started, or an engine cannot open its port. No thread is left waiting.
    pub(super) fn assemble(
        case: &Case,
        engines: Engines,
        programs: Vec<Program>,
        placement: &Placement,
    ) -> anyhow::Result<Self> {
        wakeup::install()
            .context("cannot install the signal handler that wakes benchmark threads")?;
        let ended = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK);
        let mut threads = Self {
            control: Arc::default(),
            lanes: Vec::with_capacity(programs.len()),
            pool: None,
            ended: Arc::new(ended.context("cannot make an eventfd")?),
        };
        let workers = workers::start(case, engines, placement)?;
        threads.pool = workers.as_ref().map(|workers| Arc::clone(&workers.pool));
        let mut cpus = placement.cpus();
        for program in programs {
            threads.start(case, engines, program, cpus.next().flatten())?;
        }
        if !threads.control.start_barrier.wait_for(threads.lanes.len()) {
            threads.finish()?;
            bail!("a benchmark thread failed before the start");
        }
        if let Some(Workers { meters, remark, .. }) = workers {
            let as_lane = |meter| Lane::worker(meter, remark);
            threads.lanes.extend(meters.into_iter().map(as_lane));
        }
        Ok(threads)
    }

    fn start(
        &mut self,
        case: &Case,
        (sender, receiver): Engines,
        program: Program,
        cpu: Option<usize>,
    ) -> anyhow::Result<()> {
        let (side, connection) = (program.side(), case.connection);
        let entry = match (side.sends(), side.receives()) {
            (true, true) => engines::together(sender, receiver).unwrap_or(sender),
            (true, false) => sender,
            _ => receiver,
        };
        let meter = Arc::new(Meter::default());
        let pool = self.pool.clone().filter(|_| entry.runs_on_workers(case));
        let pooled = pool.is_some();
        let cpu = cpu.filter(|_| !pooled);
        let thread = thread::Builder::new()
            .name(format!("{side} {}", self.lanes.len()))
            .spawn({
                let control = Arc::clone(&self.control);
                let meter = Arc::clone(&meter);
                let ended = Ended(Arc::clone(&self.ended));
                let context = LaneContext::new(Arc::clone(&control), Arc::clone(&meter)).on(pool);
                move || {
                    let _ended = ended;
                    let run = |context: &LaneContext| (entry.lane)(program, connection, context);
                    live(run, cpu, &control, &context)
                }
            })
            .with_context(|| format!("cannot start thread {}", self.lanes.len() + 1))?;
        self.lanes.push(Lane {
            side,
            meter,
            cpu,
            pooled,
            pace: None,
            remark: None,
            thread: Some(thread),
        });
        Ok(())
    }

    /// Whether a lost datagram would leave a lane waiting for it: one that sends and receives in turn.
    pub(super) fn may_stall(&self) -> bool {
        self.lanes.iter().any(|lane| lane.side == Side::Alone)
    }

    /// Ends the wait of each such lane in which nothing has moved since the totals were `then`. Returns what they
    /// are now.
    pub(super) fn wake_stalled(&self, then: &[Tally]) -> Vec<Tally> {
        let alone = self.lanes.iter().filter(|lane| lane.side == Side::Alone);
        let look = |(n, lane): (usize, &Lane)| {
            let now = lane.meter.received.read();
            if then.get(n) == Some(&now) {
                lane.interrupt();
            }
            now
        };
        alone.enumerate().map(look).collect()
    }

    /// Lets the lanes go.
    pub(super) fn open_start(&self) {
        self.control.start_barrier.open();
    }

    /// Makes the senders do so many operations more for each datagram.
    #[cfg(feature = "calibration")]
    pub(super) fn delay_senders(&self, iterations: u32) {
        self.control.delay_senders(iterations.into());
    }

    /// Calls of lanes that send that failed so far.
    pub(super) fn failed_sends(&self) -> u64 {
        let senders = self.lanes.iter().filter(|lane| lane.side.sends());
        senders
            .map(|lane| lane.meter.errors.load(Ordering::Relaxed))
            .sum()
    }

    /// Stops the senders and waits until their counts are final.
    pub(super) fn stop_sending(&self) {
        self.control.stop_sending();
        for lane in self.lanes.iter().filter(|lane| lane.side.sends()) {
            lane.wait_until(|| lane.meter.done_sending.load(Ordering::Acquire));
        }
    }

    /// Stops and joins every lane.
    ///
    /// # Errors
    /// The first error that ended a lane.
    pub(super) fn finish(&mut self) -> anyhow::Result<()> {
        self.control.stop_sending();
        self.control.stop_receiving();
        let mut outcome = Ok(());
        for lane in &mut self.lanes {
            lane.wait_until(|| false);
            let Some(thread) = lane.thread.take() else {
                continue;
            };
            let ended = match thread.join() {
                Ok(Ok(outcome)) => {
                    (lane.remark, lane.pace) = outcome;
                    Ok(())
                }
                // Not the cause, and the cause is another lane's error.
                Ok(Err(error)) if error.kind() == CALLED_OFF => Ok(()),
                Ok(Err(error)) => Err(anyhow!(error).context(format!("the {} failed", lane.side))),
                Err(_) => Err(anyhow!("the {} panicked", lane.side)),
            };
            outcome = outcome.and(ended);
        }
        // Ends the workers: this was the last reference.
        self.pool = None;
        outcome
    }
}

/// Tells that a lane has ended, also when it panics.
struct Ended(Arc<EventFd>);

impl Drop for Ended {
    fn drop(&mut self) {
        // It can only fail where 2^64 lanes have ended.
        let _ = self.0.write(1);
    }
}

impl Drop for LaneThreads {
    fn drop(&mut self) {
        // No thread waits at the start barrier any more, or all are to leave it.
        self.control.start_barrier.fail();
        let _ = self.finish();
    }
}

impl Lane {
    fn worker(meter: Arc<Meter>, remark: Remark) -> Self {
        Self {
            side: Side::Worker,
            meter,
            cpu: None,
            pooled: false,
            pace: None,
            remark,
            thread: None,
        }
    }

    /// The CPU that the lane is really pinned to.
    pub(super) fn pinned_cpu(&self) -> Option<u32> {
        let pinned = self.meter.pinned.load(Ordering::Relaxed);
        self.cpu.filter(|_| pinned)?.try_into().ok()
    }

    /// Whether workers run it.
    pub(super) fn is_pooled(&self) -> bool {
        self.pooled
    }

    /// The thread that does the lane's work, if it is one.
    fn tid(&self) -> Option<i32> {
        (!self.pooled).then(|| self.meter.tid.load(Ordering::Relaxed))
    }

    /// CPU time that the lane has used so far, in nanoseconds.
    pub(super) fn cpu_ns(&self) -> Option<u64> {
        clock::thread_cpu_ns(self.tid()?)
    }

    /// The lane's context switches so far.
    pub(super) fn switches(&self) -> Option<clock::Switches> {
        clock::thread_switches(self.tid()?)
    }

    fn interrupt(&self) {
        // 0 would be the process itself.
        match self.meter.tid.load(Ordering::Relaxed) {
            0 => {}
            tid => wakeup::interrupt(tid),
        }
        self.meter.wakeups.interrupt();
    }

    /// Whether the lane, with its CPU clock at `cpu_ns` when something last moved, could have moved more
    /// if there were anything that it can move: it sleeps, or has run for a while since. On a busy
    /// machine, the time of day says nothing of this kind.
    pub(super) fn had_its_chance(&self, cpu_ns: Option<u64>) -> bool {
        let ran = self
            .cpu_ns()
            .zip(cpu_ns)
            .map(|(now, then)| now.saturating_sub(then));
        let asleep = clock::thread_is_asleep(self.meter.tid.load(Ordering::Relaxed));
        asleep.unwrap_or(true) || ran.is_none_or(|ran_ns| ran_ns >= FAIR_CHANCE_NS)
    }

    /// Waits until `seen`, or until the thread has ended, nudging it out of whatever it waits for.
    fn wait_until(&self, seen: impl Fn() -> bool) {
        let Some(thread) = &self.thread else { return };
        while !seen() && !thread.is_finished() {
            thread::sleep(GLANCE);
            self.interrupt();
        }
    }
}

/// The life of one lane's thread.
fn live(
    run: impl FnOnce(&LaneContext) -> io::Result<Remark>,
    cpu: Option<usize>,
    control: &Control,
    context: &LaneContext,
) -> io::Result<ThreadOutcome> {
    /// Also when the lane panics: no thread may wait for it at the start barrier.
    struct OpenToFailure<'a>(&'a Control);
    impl Drop for OpenToFailure<'_> {
        fn drop(&mut self) {
            self.0.start_barrier.fail();
        }
    }

    let guard = OpenToFailure(control);
    if let Some(id) = cpu {
        let pinned = core_affinity::set_for_current(core_affinity::CoreId { id });
        context.meter.pinned.store(pinned, Ordering::Relaxed);
    }
    let tid = nix::unistd::gettid().as_raw();
    context.meter.tid.store(tid, Ordering::Relaxed);
    let remark = run(context)?;
    std::mem::forget(guard);
    // At once: an idle CPU lowers its clock.
    let pace = if context.is_pooled() {
        None
    } else {
        cpu_speed::here()
    };
    Ok((remark, pace))
}
