//! One thread: how it lives, pinned to its CPU, and how the coordinator sees it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};

use nix::errno::Errno;

use super::GLANCE;
use crate::data::{LaneSample, Side};
use crate::engine::{FlowCounts, Meter, Remark, Tally};
use crate::sys::cpu_speed::{self, CpuSpeed};
use crate::sys::run_queue::RunQueueWait;
use crate::sys::{clock, wakeup};
use crate::workload::lane::{Control, LaneContext};
use crate::workload::{PaceMeter, RoundTripMeter};

/// So much CPU time empties any receive queue: 8 MiB of the smallest datagrams are 10,000, at 1 us each.
const FAIR_CHANCE_NS: u64 = 50_000_000;

/// One thread, seen from the coordinator.
pub(super) struct Lane {
    pub(super) side: Side,
    pub(super) meter: Arc<Meter>,
    pub(super) cpu: Option<usize>,
    /// Whether workers run it.
    pub(super) is_pooled: bool,
    /// How fast its CPU ran when it had just stopped. Known once it is joined.
    pub(super) pace: Option<CpuSpeed>,
    /// What its engine has to say. Known once it is joined.
    pub(super) remark: Remark,
    /// What it had received when that was last looked at: see
    /// [`LaneThreads::wake_stalled`](super::threads::LaneThreads::wake_stalled).
    pub(super) last_look: Option<Tally>,
    /// Of a client.
    pub(super) round_trips: Option<Arc<RoundTripMeter>>,
    /// Of a sender that floods at a rate.
    pub(super) pace_meter: Option<Arc<PaceMeter>>,
    /// Of what its flows are counted in, if there are many.
    pub(super) flow_counts: Option<FlowCounts>,
    pub(super) thread: Option<JoinHandle<io::Result<ThreadOutcome>>>,
    /// How long it waits for a CPU. Known from the start barrier on, where the kernel counts it.
    pub(super) wait: Option<RunQueueWait>,
}

/// What a thread leaves behind: see the fields of [`Lane`].
pub(super) type ThreadOutcome = (Remark, Option<CpuSpeed>);

impl Lane {
    pub(super) fn worker(meter: Arc<Meter>, remark: Remark) -> Self {
        Self {
            side: Side::Worker,
            meter,
            cpu: None,
            is_pooled: false,
            pace: None,
            remark,
            last_look: None,
            round_trips: None,
            pace_meter: None,
            flow_counts: None,
            thread: None,
            wait: None,
        }
    }

    /// The CPU that the lane is really pinned to.
    pub(super) fn pinned_cpu(&self) -> Option<u32> {
        let pinned = self.meter.pinned.load(Ordering::Relaxed);
        self.cpu.filter(|_| pinned)?.try_into().ok()
    }

    /// The thread that does the lane's work, if it is one.
    fn tid(&self) -> Option<i32> {
        (!self.is_pooled).then(|| self.meter.tid.load(Ordering::Relaxed))
    }

    /// CPU time that the lane has used so far, in nanoseconds.
    pub(super) fn cpu_ns(&self) -> Option<u64> {
        clock::thread_cpu_ns(self.tid()?)
    }

    /// Looks at how long the lane waits for a CPU, from now on.
    pub(super) fn watch_wait(&mut self) {
        self.wait = self.tid().and_then(RunQueueWait::of);
    }

    /// Time that the lane has waited for a CPU so far, in nanoseconds.
    pub(super) fn waited_ns(&self) -> Option<u64> {
        self.wait.as_ref()?.ns()
    }

    /// The lane's context switches so far.
    pub(super) fn switches(&self) -> Option<clock::Switches> {
        clock::thread_switches(self.tid()?)
    }

    /// What it has received so far, and nothing else of what it did.
    pub(super) fn received_so_far(&self) -> LaneSample {
        let received = self.meter.received.read();
        LaneSample {
            received_packets: received.packets,
            received_bytes: received.bytes,
            ..LaneSample::idle(self.side)
        }
    }

    /// What it did in the window, with what is known once it is joined.
    pub(super) fn sample(&self, in_window: &LaneSample) -> LaneSample {
        LaneSample {
            cpu: self.pinned_cpu(),
            refusal: self.refusal(),
            pace: self.pace,
            remark: self.remark.map(str::to_owned),
            ..*in_window
        }
    }

    pub(super) fn interrupt(&self) {
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

    /// Whether it is a server that has received more requests than it has answered, or was refused to answer.
    pub(super) fn owes_answers(&self) -> bool {
        self.side == Side::Server && self.meter.sent.read() < self.meter.received.read().packets
    }

    /// Returns why the last datagram was refused: see [`LaneSample::refusal`](crate::data::LaneSample::refusal).
    fn refusal(&self) -> Option<String> {
        let errno = self.meter.refusals.errno()?;
        match Errno::from_raw(errno) {
            Errno::UnknownErrno => Some(format!("errno {errno}")),
            known => Some(format!("{known:?}")),
        }
    }

    /// Waits until `seen`, or until the thread has ended, nudging it out of whatever it waits for.
    pub(super) fn wait_until(&self, seen: impl Fn() -> bool) {
        let Some(thread) = &self.thread else { return };
        while !seen() && !thread.is_finished() {
            thread::sleep(GLANCE);
            self.interrupt();
        }
    }
}

/// Pins the calling thread to a CPU. Whether that worked.
fn pin_to(id: usize) -> bool {
    core_affinity::set_for_current(core_affinity::CoreId { id })
}

/// The life of one lane's thread: pins itself, runs its program, and times its CPU.
pub(super) fn live(
    run: impl FnOnce(&Arc<LaneContext>) -> io::Result<Remark>,
    cpu: Option<usize>,
    control: &Control,
    context: &Arc<LaneContext>,
) -> io::Result<ThreadOutcome> {
    /// Also when the lane panics: no thread may wait for it at the start barrier.
    struct OpenToFailure<'a>(&'a Control);
    impl Drop for OpenToFailure<'_> {
        fn drop(&mut self) {
            self.0.start_barrier.fail();
        }
    }

    let guard = OpenToFailure(control);
    if let Some(cpu) = cpu {
        let pinned = pin_to(cpu);
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
