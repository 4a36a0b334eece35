//! Numbers computed from the raw counters of windows.

use std::time::{Duration, UNIX_EPOCH};

use super::counters_by_name::summed;
use super::rounding::decimals;
use crate::data::{Sample, Side, ThreadSample, WindowAccounting};
use crate::stats::{self, Estimate};

/// Estimates from the windows of a case.
pub(super) struct Speeds {
    pub(super) received_pps: Option<Estimate>,
    pub(super) received_mbps: Option<Estimate>,
    pub(super) sent_pps: Option<Estimate>,
    pub(super) sender_cpu_ns_per_packet: Option<Estimate>,
    pub(super) receiver_cpu_ns_per_packet: Option<Estimate>,
    pub(super) cpu_ns_per_packet: Option<Estimate>,
    pub(super) other_cpu_ns_per_packet: Option<Estimate>,
    /// Datagrams received, relative to the reference in the same round.
    pub(super) ratio: Option<Estimate>,
    /// CPU time per datagram received, relative to the reference in the same round.
    pub(super) cpu_ratio: Option<Estimate>,
    /// Rounds in which both the case and the reference have a window.
    pub(super) pairs: usize,
    /// Scatter of the paired ratios: standard deviation of their natural logarithms, in percent.
    pub(super) ratio_sd_pct: Option<f64>,
    /// Scatter of the paired ratios of CPU time: standard deviation of their natural logarithms, in percent.
    pub(super) cpu_ratio_sd_pct: Option<f64>,
    /// Confidence level of the intervals, in percent.
    pub(super) interval_pct: Option<f64>,
    /// Coefficient of variation of the datagrams received, in percent.
    pub(super) cv_pct: Option<f64>,
}

impl Speeds {
    /// Estimates the speeds from these windows, and the ratios from these pairs of a window and the window of the
    /// reference in the same round.
    pub(super) fn of(windows: &[&Sample], pairs: &[(&Sample, &Sample)]) -> Self {
        let values = |value: fn(&Sample) -> Option<f64>| -> Vec<f64> {
            windows.iter().filter_map(|sample| value(sample)).collect()
        };
        let over = |value| stats::estimate(&values(value));
        let ratios = paired_ratios(pairs, received_pps);
        let cpu_ratios = paired_ratios(pairs, cpu_ns_per_packet);
        let scatter = |ratios: &[f64]| {
            let deviation = stats::log_deviation(ratios);
            deviation.map(|deviation| decimals::<3>(100.0 * deviation))
        };
        let cv = stats::coefficient_of_variation(&values(received_pps));
        Self {
            received_pps: over(received_pps),
            received_mbps: over(received_mbps),
            sent_pps: over(sent_pps),
            sender_cpu_ns_per_packet: over(sender_cpu_ns_per_packet),
            receiver_cpu_ns_per_packet: over(receiver_cpu_ns_per_packet),
            cpu_ns_per_packet: over(cpu_ns_per_packet),
            other_cpu_ns_per_packet: over(other_cpu_ns_per_packet),
            ratio: stats::estimate(&ratios),
            pairs: ratios.len(),
            cpu_ratio: stats::estimate(&cpu_ratios),
            ratio_sd_pct: scatter(&ratios),
            cpu_ratio_sd_pct: scatter(&cpu_ratios),
            interval_pct: (windows.len() > 1)
                .then(|| decimals::<1>(100.0 * stats::coverage(windows.len()))),
            cv_pct: cv.map(|cv| decimals::<2>(100.0 * cv)),
        }
    }
}

/// Returns the ratio of the datagrams received in windows to those of other windows in the same round.
pub(super) fn ratio(samples: &[Sample], others: &[Sample]) -> Option<Estimate> {
    let partner = |sample: &Sample| others.iter().find(|other| other.round == sample.round);
    let pairs = samples
        .iter()
        .filter_map(|sample| Some((sample, partner(sample)?)));
    stats::estimate(&paired_ratios(&pairs.collect::<Vec<_>>(), received_pps))
}

/// Returns whether `windows` outliers among `all` windows can move an estimate arbitrarily far. A Hodges-Lehmann
/// estimate tolerates 29 % (Huber & Ronchetti, *Robust Statistics*, section 3.4).
pub(super) fn move_estimates(windows: usize, all: usize) -> bool {
    windows > 0 && 100 * windows >= 29 * all
}

/// Returns the number of failed system calls in the windows. Calls that would block and refused datagrams are not
/// included.
pub(super) fn failed_calls(samples: &[Sample]) -> u64 {
    let threads = samples.iter().flat_map(|sample| &sample.threads);
    threads.map(|thread| thread.errors).sum()
}

/// Returns the number of datagrams by which the queues grew during the windows. Negative: they emptied.
pub(super) fn queue_growth(samples: &[Sample]) -> i64 {
    samples.iter().map(Sample::queue_growth).sum()
}

/// Returns the number of windows in which the queues grew or emptied by more than 5 % of the datagrams received.
/// Such windows are not in the steady state of a longer run.
pub(super) fn unsteady_windows(samples: &[Sample]) -> usize {
    let is_unsteady =
        |sample: &&Sample| sample.queue_growth().unsigned_abs() > received(sample) / 20;
    samples.iter().filter(is_unsteady).count()
}

/// Returns the datagrams that were sent and not received, for any reason, in percent of those sent. It is a lower
/// bound if more arrived than were sent. Duplicates in one window or direction do not offset losses in another.
pub(super) fn loss_pct(accounting: WindowAccounting) -> Option<f64> {
    percent(accounting.lost(), accounting.sent).map(decimals::<4>)
}

pub(super) fn total_accounting(samples: &[Sample]) -> WindowAccounting {
    let mut total = WindowAccounting::default();
    for sample in samples {
        total += sample.account();
    }
    total
}

pub(super) fn window_seconds(sample: &Sample) -> f64 {
    Duration::from_nanos(sample.window_ns).as_secs_f64()
}

/// Returns the middle length of the windows, in milliseconds.
pub(super) fn window_ms(samples: &[Sample]) -> Option<f64> {
    let windows = samples.iter().map(|sample| 1000.0 * window_seconds(sample));
    middle::<3>(stats::estimate(&windows.collect::<Vec<f64>>()))
}

fn sum(sample: &Sample, count: fn(&ThreadSample) -> u64) -> u64 {
    sample.threads.iter().map(count).sum()
}

fn per_second(sample: &Sample, amount: f64) -> Option<f64> {
    let seconds = window_seconds(sample);
    (seconds > 0.0).then(|| amount / seconds)
}

/// Returns the datagrams received that count as the result. For requests, these are the responses.
pub(super) fn received(sample: &Sample) -> u64 {
    sum(sample, concluded)
}

fn concluded(thread: &ThreadSample) -> u64 {
    thread.result().0
}

/// Returns the datagrams handed to the kernel, without responses.
pub(super) fn sent(sample: &Sample) -> u64 {
    sum(sample, initiated)
}

fn initiated(thread: &ThreadSample) -> u64 {
    u64::from(thread.side.initiates()) * thread.sent_packets
}

fn served(thread: &ThreadSample) -> u64 {
    u64::from(thread.side == Side::Server) * thread.received_packets
}

/// Returns the datagrams received per second.
pub(crate) fn received_pps(sample: &Sample) -> Option<f64> {
    per_second(sample, received(sample) as f64)
}

fn received_mbps(sample: &Sample) -> Option<f64> {
    let bits = 8.0 * sum(sample, |thread| thread.result().1) as f64;
    per_second(sample, bits / 1e6)
}

fn sent_pps(sample: &Sample) -> Option<f64> {
    per_second(sample, sent(sample) as f64)
}

/// Returns the CPU time of the threads that satisfy `counts`, per datagram that `packets` counts.
fn cpu_ns_per(
    sample: &Sample,
    counts: impl Fn(&ThreadSample) -> bool,
    packets: fn(&ThreadSample) -> u64,
) -> Option<f64> {
    let threads = || sample.threads.iter().filter(|thread| counts(thread));
    let cpu_ns: u64 = threads().map(|thread| thread.cpu_ns).sum::<Option<u64>>()?;
    let packets: u64 = sum(sample, packets);
    (threads().count() > 0 && packets > 0).then(|| cpu_ns as f64 / packets as f64)
}

/// Returns whether a window has threads of this side.
pub(super) fn has(sample: &Sample, side: Side) -> bool {
    sample.threads.iter().any(|thread| thread.side == side)
}

/// Returns the CPU time of the senders per datagram sent, in nanoseconds. For requests, all CPU time of the clients
/// counts.
fn sender_cpu_ns_per_packet(sample: &Sample) -> Option<f64> {
    let sends = |thread: &ThreadSample| match thread.side {
        Side::Sender | Side::Client => true,
        Side::Receiver => has(sample, Side::Server),
        Side::Alone | Side::Server | Side::Worker => false,
    };
    cpu_ns_per(sample, sends, initiated)
}

fn receiver_cpu_ns_per_packet(sample: &Sample) -> Option<f64> {
    // For requests, the receivers are the servers; threads that receive responses belong to clients.
    if has(sample, Side::Server) {
        cpu_ns_per(sample, |thread| thread.side == Side::Server, served)
    } else {
        cpu_ns_per(sample, |thread| thread.side == Side::Receiver, concluded)
    }
}

/// Returns the CPU time of all bench threads per datagram received, in nanoseconds.
pub(crate) fn cpu_ns_per_packet(sample: &Sample) -> Option<f64> {
    // Workers count the time of the threads whose work they do.
    let is_alone = !has(sample, Side::Worker);
    let counts =
        |thread: &ThreadSample| is_alone || thread.side == Side::Worker || thread.cpu_ns.is_some();
    cpu_ns_per(sample, counts, concluded)
}

fn other_cpu_ns_per_packet(sample: &Sample) -> Option<f64> {
    let packets = received(sample);
    (packets > 0).then_some(sample.other_cpu_ns? as f64 / packets as f64)
}

/// Returns the CPU time of threads other than bench threads and the ones that open and close windows, in percent of
/// that of the bench threads.
pub(super) fn other_cpu_pct(samples: &[Sample]) -> Option<f64> {
    let other: u64 = samples.iter().filter_map(|it| it.other_cpu_ns).sum();
    let threads = samples.iter().flat_map(|sample| &sample.threads);
    percent(other, threads.filter_map(|thread| thread.cpu_ns).sum())
}

/// Returns the ratio of the case to the reference in each round. Drift affects both, and cancels.
fn paired_ratios(pairs: &[(&Sample, &Sample)], value: fn(&Sample) -> Option<f64>) -> Vec<f64> {
    let ratio = |(sample, reference): &(&Sample, &Sample)| {
        let base = value(reference)?;
        (base > 0.0).then_some(value(sample)? / base)
    };
    pairs.iter().filter_map(ratio).collect()
}

/// Returns the smallest share of the received datagrams that one receiver got over all windows, in percent.
pub(super) fn receiver_share_min_pct(samples: &[Sample]) -> Option<f64> {
    let threads = samples.iter();
    let threads = threads.flat_map(|sample| sample.threads.iter().enumerate());
    let receivers = threads.filter(|(_, thread)| thread.side.counts_as_result());
    let totals = summed(receivers.map(|(n, thread)| (n, &thread.received_packets)));
    percent(*totals.values().min()?, totals.values().sum()).map(decimals::<2>)
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}

/// Returns the opening time of the first window, UTC. Empty: no window.
pub(super) fn started_at(samples: &[Sample]) -> String {
    let Some(first) = samples.first() else {
        return String::new();
    };
    let time = UNIX_EPOCH + Duration::from_millis(first.opened_unix_ms);
    humantime::format_rfc3339_millis(time).to_string()
}

pub(super) fn middle<const PLACES: u8>(estimate: Option<Estimate>) -> Option<f64> {
    estimate.map(|estimate| decimals::<PLACES>(estimate.middle))
}

pub(super) fn low<const PLACES: u8>(estimate: Option<Estimate>) -> Option<f64> {
    estimate?.low.map(decimals::<PLACES>)
}

pub(super) fn high<const PLACES: u8>(estimate: Option<Estimate>) -> Option<f64> {
    estimate?.high.map(decimals::<PLACES>)
}
