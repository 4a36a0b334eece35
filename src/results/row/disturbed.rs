//! Windows in which something unrelated to the case affected the result. They are counted and kept.
//!
//! Time is *preempted* if a bench thread could have run, but its CPU ran something unrelated to the case. That is a low
//! estimate: threads of the case that share a CPU wait for each other, each switch to a thread takes time, and other
//! threads of the program may have run on any CPU. None of these waits counts as preempted.
//!
//! A window is *disturbed* if a bench thread was preempted for long. It is *contaminated* if it is disturbed, or if a
//! CPU was throttled or slower than usual.
//!
//! Estimates tolerate some disturbed windows, and leaving out marked windows has improved no result. If the other
//! windows alone would give another result, the row has a warning.

use super::derived::{self, Value, cpu_ns_per_packet, ratio_of, received_pps};
use super::{CaseWarning, Environment, sensors};
use crate::data::{Sample, Side, ThreadSample};
use crate::stats;
use crate::sys::run_queue::CpuTaken;

/// Windows of a case, and their pairs with windows of the reference.
pub(super) struct Windows<'a> {
    /// Windows, each with whether it is disturbed.
    all: Vec<(&'a Sample, bool)>,
    /// Windows with that of the reference in the same round, and whether one of the two is disturbed.
    pairs: Vec<((&'a Sample, &'a Sample), bool)>,
    /// Number of contaminated windows.
    pub(super) contaminated: usize,
    /// Preempted time, in percent of the windows.
    pub(super) preempted_pct: Option<f64>,
}

impl<'a> Windows<'a> {
    pub(super) fn new(
        samples: &'a [Sample],
        reference: &'a [Sample],
        environment: &Environment,
    ) -> Self {
        let preempted_shares = shares(samples);
        let all = mark_disturbed(samples, &preempted_shares);
        let references = mark_disturbed(reference, &shares(reference));
        let pair = |&(sample, is_disturbed): &(&'a Sample, bool)| {
            let mut references = references.iter();
            let (other, is_other) = references.find(|(other, _)| other.round == sample.round)?;
            Some(((sample, *other), is_disturbed || *is_other))
        };
        let is_contaminated = |(sample, is_disturbed): &&(&Sample, bool)| {
            *is_disturbed
                || sensors::is_throttled(sample)
                || sensors::is_slow(sample, &environment.cpu_speeds)
        };
        Self {
            pairs: all.iter().filter_map(pair).collect(),
            contaminated: all.iter().filter(is_contaminated).count(),
            preempted_pct: pct(samples, &preempted_shares),
            all,
        }
    }

    /// Returns the number of disturbed windows.
    pub(super) fn disturbed(&self) -> usize {
        let disturbed = self.all.iter().filter(|(_, is_disturbed)| *is_disturbed);
        disturbed.count()
    }

    /// Returns a value of each window, or only of each undisturbed one.
    pub(super) fn values(&self, value: Value, only_undisturbed: bool) -> Vec<f64> {
        let windows = self.all.iter();
        let windows = windows.filter(|(_, is_disturbed)| !(only_undisturbed && *is_disturbed));
        windows.filter_map(|(sample, _)| value(sample)).collect()
    }

    /// Returns the ratio of a value to that of the reference in each round, or only where neither is disturbed. Drift
    /// affects both, and cancels.
    pub(super) fn ratios(&self, value: Value, only_undisturbed: bool) -> Vec<f64> {
        let pairs = self.pairs.iter();
        let pairs = pairs.filter(|(_, is_disturbed)| !(only_undisturbed && *is_disturbed));
        pairs
            .filter_map(|(pair, _)| ratio_of(*pair, value))
            .collect()
    }

    /// Returns the warnings about disturbed windows. `speaks`: there are estimates from all windows.
    pub(super) fn warnings(&self, speaks: bool) -> Vec<CaseWarning> {
        let mut warnings = Vec::new();
        if derived::move_estimates(self.disturbed(), self.all.len()) {
            warnings.push(CaseWarning::LostCpuTime);
        }
        let differ_in = |value: Value| {
            differ(&self.values(value, false), &self.values(value, true))
                || differ(&self.ratios(value, false), &self.ratios(value, true))
        };
        if speaks && (differ_in(received_pps) || differ_in(cpu_ns_per_packet)) {
            warnings.push(CaseWarning::DisturbedWindowsDiffer);
        }
        warnings
    }
}

/// Marks the disturbed windows. `preempted_shares`: the preempted time of each window's most preempted thread, as a
/// fraction of the window.
fn mark_disturbed<'a>(
    samples: &'a [Sample],
    preempted_shares: &[Option<f64>],
) -> Vec<(&'a Sample, bool)> {
    let windows = samples.iter().zip(preempted_shares);
    let marked = windows.map(|(sample, share)| (sample, disturbs(*share, sample)));
    marked.collect()
}

/// Returns whether the estimates from all values and from the rest of them differ by more than half of the interval of
/// the first.
fn differ(all: &[f64], rest: &[f64]) -> bool {
    let estimates = stats::estimate(all).zip(stats::estimate(rest));
    estimates.is_some_and(|(all, rest)| {
        let half = all.low.zip(all.high).map(|(low, high)| (high - low) / 2.0);
        half.is_some_and(|half| (all.middle - rest.middle).abs() > half)
    })
}

/// Limit of the time of a switch to a thread. Judgement: 0.1 to 1 us were measured on an x86-64 virtual machine, and
/// where switches are frequent enough to matter, no CPU enters a deep idle state.
const LONGEST_SWITCH_NS: f64 = 20_000.0;

/// Assumed time of a switch in a single window, where it cannot be estimated. Judgement: above the 0.1 to 1 us that
/// were measured, because small boards are several times slower.
const USUAL_SWITCH_NS: f64 = 5_000.0;

/// A window is disturbed if a thread was preempted for more than this fraction of it. Judgement: undisturbed windows
/// differ by about as much (`cv_pct` of 1 to 7 on an x86-64 virtual machine).
const MAX_PREEMPTED: f64 = 0.05;
/// A window is disturbed if a sender that never slept used less than this fraction of its CPU. Decides if the kernel
/// does not count preempted time.
const MIN_SENDER_CPU: f64 = 0.97;

/// Returns whether a window is disturbed. `share`: its preempted time, as a fraction.
pub(crate) fn disturbs(share: Option<f64>, sample: &Sample) -> bool {
    match share {
        Some(share) => share > MAX_PREEMPTED,
        None => busy_sender_share(sample).is_some_and(|used| used < MIN_SENDER_CPU),
    }
}

/// Returns for each window the preempted time of the most preempted thread, as a fraction of the window. `None`: not
/// counted by the kernel.
fn shares(samples: &[Sample]) -> Vec<Option<f64>> {
    let most = samples.iter().map(|sample| sample.threads.len()).max();
    let threads = 0..most.unwrap_or(0);
    let switch_ns: Vec<f64> = threads.map(|n| shortest_switch_ns(samples, n)).collect();
    let samples = samples.iter();
    samples.map(|sample| share(sample, &switch_ns)).collect()
}

/// Returns the preempted time of the most preempted thread in a single window, as a fraction. A usual waiting time
/// for each switch is no disturbance.
pub(crate) fn share_of_one(sample: &Sample) -> Option<f64> {
    let switch_ns = vec![USUAL_SWITCH_NS; sample.threads.len()];
    share(sample, &switch_ns)
}

/// Returns the preempted time over all windows, in percent. `shares`: the fraction of each window.
fn pct(samples: &[Sample], shares: &[Option<f64>]) -> Option<f64> {
    let windows = samples.iter().zip(shares);
    let preempted_ns = windows.map(|(sample, share)| Some((*share)? * sample.window_ns as f64));
    let preempted_ns: f64 = preempted_ns.sum::<Option<f64>>()?;
    let window_ns: u64 = samples.iter().map(|sample| sample.window_ns).sum();
    (window_ns > 0).then(|| 100.0 * preempted_ns / window_ns as f64)
}

/// Returns the time that interrupts or the hypervisor took from the threads' CPUs, in percent of the windows. The
/// mean is over pinned threads.
pub(super) fn taken_pct(samples: &[Sample], what: fn(CpuTaken) -> u64) -> Option<f64> {
    let (mut taken_ns, mut window_ns) = (0, 0);
    for sample in samples {
        for taken in sample.threads.iter().filter_map(|thread| thread.taken) {
            taken_ns += what(taken);
            window_ns += sample.window_ns;
        }
    }
    // Time in ticks can exceed a short window.
    (window_ns > 0).then(|| (100.0 * taken_ns as f64 / window_ns as f64).min(100.0))
}

fn share(sample: &Sample, switch_ns: &[f64]) -> Option<f64> {
    let ours = sample.other_cpu_ns.unwrap_or(0) + sample.coordinator_cpu_ns.unwrap_or(0);
    let preempted_ns = |(thread, switch_ns): (&ThreadSample, &f64)| {
        let switching = switches(thread) as f64 * switch_ns;
        let waited = waited_for_others(thread, sample)? - switching - ours as f64;
        // Ignore one tick, of which only its end is known to be in this window.
        let steal_ns = thread.taken.map_or(0, |taken| taken.steal_ns);
        Some(waited.max(0.0) + steal_ns.saturating_sub(CpuTaken::TICK_NS) as f64)
    };
    let threads = sample.threads.iter().zip(switch_ns);
    let most = threads.filter_map(preempted_ns).max_by(f64::total_cmp)?;
    // A wait that ends in the window may have begun before it.
    Some((most / sample.window_ns as f64).min(1.0))
}

/// Returns the time that a thread waited, less the time that other threads of the case ran on CPUs that it may have
/// used, in nanoseconds.
fn waited_for_others(thread: &ThreadSample, sample: &Sample) -> Option<f64> {
    let others = sample.threads.iter();
    let others = others.filter(|other| !std::ptr::eq(*other, thread));
    let may_share = |other: &&ThreadSample| other.cpu.zip(thread.cpu).is_none_or(|(a, b)| a == b);
    let ran: u64 = others
        .filter(may_share)
        .filter_map(|other| other.cpu_ns)
        .sum();
    Some(thread.waited_ns?.saturating_sub(ran) as f64)
}

/// Returns the number of context switches of a thread.
fn switches(thread: &ThreadSample) -> u64 {
    thread.voluntary_switches.unwrap_or(0) + thread.involuntary_switches.unwrap_or(0)
}

/// Returns the time that a thread waits per switch, in the window where it is shortest. Waits of this length are no
/// disturbance.
fn shortest_switch_ns(samples: &[Sample], thread: usize) -> f64 {
    let per_switch = samples.iter().filter_map(|sample| {
        let thread = sample.threads.get(thread)?;
        let switches = switches(thread);
        (switches > 0).then_some(waited_for_others(thread, sample)? / switches as f64)
    });
    per_switch
        .min_by(f64::total_cmp)
        .map_or(0.0, |shortest| shortest.min(LONGEST_SWITCH_NS))
}

/// Returns the smallest fraction that the bench threads used of a CPU with a sender that never slept. For kernels
/// that do not count preempted time. With IRQ_TIME_ACCOUNTING, softirq time is not included.
fn busy_sender_share(sample: &Sample) -> Option<f64> {
    // Workers may have run on any CPU.
    if derived::has(sample, Side::Worker) {
        return None;
    }
    let never_slept =
        |thread: &&ThreadSample| thread.side.sends() && thread.voluntary_switches == Some(0);
    let senders = sample.threads.iter().filter(never_slept);
    let cpus = senders.filter_map(|sender| sender.cpu);
    let used = cpus.filter_map(|cpu| {
        let threads = sample.threads.iter();
        let threads = threads.filter(|thread| thread.cpu == Some(cpu));
        let ran: u64 = threads.map(|thread| thread.cpu_ns).sum::<Option<u64>>()?;
        Some(ran as f64 / sample.window_ns as f64)
    });
    used.min_by(f64::total_cmp)
}
