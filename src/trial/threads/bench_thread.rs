//! One bench thread: its life, pinned to a CPU, and the coordinator thread's view of it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::errno::Errno;

use crate::data::{Sched, Side, ThreadSample};
use crate::engine::{FlowCounts, Meter, Remark, Tally};
use crate::sys::cpu_speed::{self, CpuSpeed};
use crate::sys::run_queue::RunQueueWait;
use crate::sys::scheduling::{self, Class};
use crate::sys::{clock, wakeup};
use crate::workload::context::{Control, ThreadContext};
use crate::workload::{PaceMeter, RoundTripMeter};

/// Poll interval of the coordinator thread while it waits for bench threads to drain or to stop.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_micros(100);
/// CPU time in which any receive queue is emptied, in nanoseconds: 8 MiB hold 10,000 of the smallest datagrams, at 1 us
/// each.
const FAIR_CHANCE_NS: u64 = 50_000_000;

/// One bench thread, seen from the coordinator thread.
#[derive(Default)]
pub(crate) struct BenchThread {
    pub(crate) side: Side,
    pub(crate) meter: Arc<Meter>,
    pub(crate) cpu: Option<usize>,
    /// True if workers run it as a task.
    pub(crate) is_pooled: bool,
    /// Speed of its CPU right after the thread stopped. Known once the thread is joined.
    pub(crate) pace: Option<CpuSpeed>,
    /// Remark of its engine. Known once the thread is joined.
    pub(crate) remark: Remark,
    /// Received datagrams at the last look: see
    /// [`BenchThreads::wake_stalled`](crate::trial::threads::BenchThreads::wake_stalled).
    pub(crate) last_look: Option<Tally>,
    /// Round trips of a client.
    pub(crate) round_trips: Option<Arc<RoundTripMeter>>,
    /// Pacing of a sender that floods at a rate.
    pub(crate) pace_meter: Option<Arc<PaceMeter>>,
    /// Counts of each flow, if the thread has many flows.
    pub(crate) flow_counts: Option<FlowCounts>,
    pub(crate) handle: Option<JoinHandle<io::Result<ThreadOutcome>>>,
    /// Time that the thread waits for a CPU. Known from the start barrier on, if the kernel counts it.
    pub(crate) wait: Option<RunQueueWait>,
}

/// Result of a bench thread: the remark of its engine, and the speed of its CPU.
pub(crate) type ThreadOutcome = (Remark, Option<CpuSpeed>);

impl BenchThread {
    /// Returns the CPU that the thread is really pinned to.
    pub(crate) fn pinned_cpu(&self) -> Option<u32> {
        let pinned = self.meter.pinned.load(Ordering::Relaxed);
        self.cpu.filter(|_| pinned)?.try_into().ok()
    }

    /// Returns the ID of the thread, unless workers or another process do its work.
    fn tid(&self) -> Option<i32> {
        (!self.works_elsewhere()).then(|| self.meter.tid.load(Ordering::Relaxed))
    }

    /// Returns whether workers or another process do its work.
    pub(crate) fn works_elsewhere(&self) -> bool {
        self.is_pooled || self.meter.outside_pid().is_some()
    }

    /// Returns the CPU time of the thread so far, in nanoseconds: that of the process that does its work, if there is
    /// one.
    pub(crate) fn cpu_ns(&self) -> Option<u64> {
        match self.meter.outside_pid() {
            Some(pid) => clock::cpu_ns_of_process(pid),
            None => clock::thread_cpu_ns(self.tid()?),
        }
    }

    /// Starts to watch how long the thread waits for a CPU.
    pub(crate) fn watch_wait(&mut self) {
        self.wait = self.tid().and_then(RunQueueWait::of);
    }

    /// Returns the time that the thread has waited for a CPU so far, in nanoseconds.
    pub(crate) fn waited_ns(&self) -> Option<u64> {
        self.wait.as_ref()?.ns()
    }

    /// Returns the context switches of the thread so far.
    pub(crate) fn switches(&self) -> Option<clock::Switches> {
        clock::thread_switches(self.tid()?)
    }

    /// Returns a sample with the received datagrams so far, and nothing else.
    pub(crate) fn received_so_far(&self) -> ThreadSample {
        self.meter.refresh();
        let received = self.meter.received.read();
        ThreadSample {
            received_packets: received.packets,
            received_bytes: received.bytes,
            ..ThreadSample::zero(self.side)
        }
    }

    /// Completes the sample of the window with the facts that are known once the thread is joined.
    pub(crate) fn sample(&self, in_window: &ThreadSample) -> ThreadSample {
        ThreadSample {
            cpu: self.pinned_cpu(),
            refusal: self.refusal(),
            pace: self.pace,
            remark: self.remark.map(str::to_owned),
            ..*in_window
        }
    }

    pub(crate) fn interrupt(&self) {
        // 0 would mean the process itself.
        match self.meter.tid.load(Ordering::Relaxed) {
            0 => {}
            tid => wakeup::interrupt(tid),
        }
        self.meter.wakeups.interrupt();
    }

    /// Returns whether the thread had a chance to move more datagrams since its CPU clock stood at `cpu_ns`, when
    /// something last moved.
    ///
    /// A thread had its chance if it sleeps, or has run for a while since. On a busy machine, elapsed time tells
    /// nothing.
    pub(crate) fn had_its_chance(&self, cpu_ns: Option<u64>) -> bool {
        let ran = self
            .cpu_ns()
            .zip(cpu_ns)
            .map(|(now, then)| now.saturating_sub(then));
        let asleep = match self.meter.outside_pid() {
            Some(pid) => clock::process_is_asleep(pid),
            None => clock::thread_is_asleep(self.meter.tid.load(Ordering::Relaxed)),
        };
        asleep.unwrap_or(true) || ran.is_none_or(|ran_ns| ran_ns >= FAIR_CHANCE_NS)
    }

    /// Returns whether this is a server that has received more requests than it has answered, or tried to answer.
    pub(crate) fn owes_answers(&self) -> bool {
        self.meter.refresh();
        self.side == Side::Server && self.meter.sent.read() < self.meter.received.read().packets
    }

    /// Returns why the last datagram was refused: see [`ThreadSample::refusal`](crate::data::ThreadSample::refusal).
    fn refusal(&self) -> Option<String> {
        let errno = self.meter.refusals.errno()?;
        match Errno::from_raw(errno) {
            Errno::UnknownErrno => Some(format!("errno {errno}")),
            known => Some(format!("{known:?}")),
        }
    }

    /// Waits until `seen` returns true or the thread has ended, and interrupts whatever the thread waits for.
    pub(crate) fn wait_until(&self, seen: impl Fn() -> bool) {
        let Some(handle) = &self.handle else { return };
        while !seen() && !handle.is_finished() {
            thread::sleep(POLL_INTERVAL);
            self.interrupt();
        }
    }
}

/// Sets the scheduling class of the calling thread.
///
/// # Errors
/// Fails if it is not permitted.
pub(crate) fn set_class(class: Class, priority: u8) -> io::Result<()> {
    scheduling::set_class(class, priority)
        .map_err(|error| io::Error::new(error.kind(), format!("--sched: {error}")))
}

/// Runs a bench thread: pins it, runs its program, and measures the speed of its CPU.
pub(crate) fn live(
    run: impl FnOnce(&Arc<ThreadContext>) -> io::Result<Remark>,
    cpu: Option<usize>,
    control: &Control,
    context: &Arc<ThreadContext>,
) -> io::Result<ThreadOutcome> {
    /// Opens the start barrier on failure, also if the thread panics: no other thread may wait for it there.
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
    if let Some((class, priority)) = context.sched.map(Sched::class) {
        // A thread whose loop a program runs only watches the program, on the same CPU. It has to be able to end it.
        let is_above = context.executable.is_some() && class != Class::Other;
        set_class(class, priority + u8::from(is_above))?;
    }
    let tid = nix::unistd::gettid().as_raw();
    context.meter.tid.store(tid, Ordering::Relaxed);
    let remark = run(context)?;
    std::mem::forget(guard);
    // Measured at once, since an idle CPU lowers its clock.
    let pace = if context.pool.is_some() {
        None
    } else {
        cpu_speed::current()
    };
    Ok((remark, pace))
}
