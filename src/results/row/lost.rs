//! CPU time that was lost: a benchmark thread could have run, and something that is not of the case did.
//!
//! It errs on the low side: threads that share a CPU wait for each other, which is the case itself; each switch to
//! a thread takes a while, whatever else runs; and the program's own other threads may have run on any CPU.

use crate::data::{LaneSample, Sample, Side};
use crate::sys::run_queue::CpuTaken;

/// No switch to a thread takes longer. Judgement: 0.1 to 1 us were measured on an x86-64 virtual machine, and where
/// switches are so frequent that they matter, no CPU enters a deep idle state.
const LONGEST_SWITCH_NS: f64 = 20_000.0;

/// Of a single window, nobody knows how long its switches take. Judgement: above the 0.1 to 1 us that were measured, and
/// small boards are some times slower.
const USUAL_SWITCH_NS: f64 = 5_000.0;

/// How much of each window the thread lost that lost most, as a fraction of it. `None`: the kernel does not say.
pub(super) fn shares(samples: &[Sample]) -> Vec<Option<f64>> {
    let most = samples.iter().map(|sample| sample.lanes.len()).max();
    let lanes = 0..most.unwrap_or(0);
    let switch_ns: Vec<f64> = lanes.map(|n| shortest_switch_ns(samples, n)).collect();
    let samples = samples.iter();
    samples.map(|sample| share(sample, &switch_ns)).collect()
}

/// The same of one window, whose threads may wait so long for each switch that it is no disturbance.
pub(crate) fn share_of_one(sample: &Sample) -> Option<f64> {
    let switch_ns = vec![USUAL_SWITCH_NS; sample.lanes.len()];
    share(sample, &switch_ns)
}

/// The same over all windows, in percent.
pub(super) fn pct(samples: &[Sample], shares: &[Option<f64>]) -> Option<f64> {
    let lost_ns =
        |(sample, share): (&Sample, &Option<f64>)| Some((*share)? * sample.window_ns as f64);
    let lost_ns: f64 = samples
        .iter()
        .zip(shares)
        .map(lost_ns)
        .sum::<Option<f64>>()?;
    let window_ns: u64 = samples.iter().map(|sample| sample.window_ns).sum();
    (window_ns > 0).then(|| 100.0 * lost_ns / window_ns as f64)
}

/// What was taken of the threads' CPUs, in percent of the windows: the mean over threads that are pinned.
pub(super) fn taken_pct(samples: &[Sample], what: fn(CpuTaken) -> u64) -> Option<f64> {
    let (mut taken_ns, mut window_ns) = (0, 0);
    for sample in samples {
        for taken in sample.lanes.iter().filter_map(|lane| lane.taken) {
            taken_ns += what(taken);
            window_ns += sample.window_ns;
        }
    }
    // In ticks, a short window can have more than there is.
    (window_ns > 0).then(|| (100.0 * taken_ns as f64 / window_ns as f64).min(100.0))
}

fn share(sample: &Sample, switch_ns: &[f64]) -> Option<f64> {
    let ours = sample.other_cpu_ns.unwrap_or(0) + sample.coordinator_cpu_ns.unwrap_or(0);
    let lost_ns = |(lane, switch_ns): (&LaneSample, &f64)| {
        let switching = switches(lane) as f64 * switch_ns;
        let waited = waited_for_others(lane, sample)? - switching - ours as f64;
        // Of one tick, nothing is known but that it ended in this window.
        let steal_ns = lane.taken.map_or(0, |taken| taken.steal_ns);
        Some(waited.max(0.0) + steal_ns.saturating_sub(CpuTaken::TICK_NS) as f64)
    };
    let lanes = sample.lanes.iter().zip(switch_ns);
    let most = lanes.filter_map(lost_ns).max_by(f64::total_cmp)?;
    // A wait that ends in the window may have begun before it.
    Some((most / sample.window_ns as f64).min(1.0))
}

/// How long a lane waited less what the case's other lanes ran where it may have run, in nanoseconds.
fn waited_for_others(lane: &LaneSample, sample: &Sample) -> Option<f64> {
    let others = sample.lanes.iter();
    let others = others.filter(|other| !std::ptr::eq(*other, lane));
    let may_share = |other: &&LaneSample| other.cpu.zip(lane.cpu).is_none_or(|(a, b)| a == b);
    let ran: u64 = others
        .filter(may_share)
        .filter_map(|other| other.cpu_ns)
        .sum();
    Some(lane.waited_ns?.saturating_sub(ran) as f64)
}

/// How often a CPU was given up, and taken again.
fn switches(lane: &LaneSample) -> u64 {
    lane.voluntary_switches.unwrap_or(0) + lane.involuntary_switches.unwrap_or(0)
}

/// How long a lane waits each time, in the window where that was shortest: so long that it is no disturbance.
fn shortest_switch_ns(samples: &[Sample], lane: usize) -> f64 {
    let per_switch = samples.iter().filter_map(|sample| {
        let lane = sample.lanes.get(lane)?;
        let switches = switches(lane);
        (switches > 0).then_some(waited_for_others(lane, sample)? / switches as f64)
    });
    per_switch
        .min_by(f64::total_cmp)
        .map_or(0.0, |shortest| shortest.min(LONGEST_SWITCH_NS))
}

/// Where the kernel does not count waits: which part of its CPU the lanes used where a sender never slept. With
/// IRQ_TIME_ACCOUNTING, softirq time is not in it.
pub(super) fn used(sample: &Sample) -> Option<f64> {
    // Workers may have run anywhere.
    if sample.lanes.iter().any(|lane| lane.side == Side::Worker) {
        return None;
    }
    let never_slept = |lane: &&LaneSample| lane.side.sends() && lane.voluntary_switches == Some(0);
    let senders = sample.lanes.iter().filter(never_slept);
    let cpus = senders.filter_map(|sender| sender.cpu);
    let used = cpus.filter_map(|cpu| {
        let lanes = sample.lanes.iter().filter(|lane| lane.cpu == Some(cpu));
        let ran: u64 = lanes.map(|lane| lane.cpu_ns).sum::<Option<u64>>()?;
        Some(ran as f64 / sample.window_ns as f64)
    });
    used.min_by(f64::total_cmp)
}
