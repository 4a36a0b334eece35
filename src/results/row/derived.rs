//! Numbers computed from the raw counters of windows.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use super::column::decimals;
use crate::data::{Sample, Side, ThreadSample, WindowAccounting};
use crate::stats::{self, Estimate};

/// A number that a window has.
pub(super) type Value = fn(&Sample) -> Option<f64>;

/// Returns the ratio of the datagrams received in windows to those of other windows in the same round.
pub(super) fn ratio(samples: &[Sample], others: &[Sample]) -> Option<Estimate> {
    let partner = |sample: &Sample| others.iter().find(|other| other.round == sample.round);
    let ratio = |sample| ratio_of((sample, partner(sample)?), received_pps);
    stats::estimate(&samples.iter().filter_map(ratio).collect::<Vec<f64>>())
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

pub(super) fn received_mbps(sample: &Sample) -> Option<f64> {
    let bits = 8.0 * sum(sample, |thread| thread.result().1) as f64;
    per_second(sample, bits / 1e6)
}

pub(super) fn sent_pps(sample: &Sample) -> Option<f64> {
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
pub(super) fn sender_cpu_ns_per_packet(sample: &Sample) -> Option<f64> {
    let sends = |thread: &ThreadSample| match thread.side {
        Side::Sender | Side::Client => true,
        Side::Receiver => has(sample, Side::Server),
        Side::Alone | Side::Server | Side::Worker => false,
    };
    cpu_ns_per(sample, sends, initiated)
}

pub(super) fn receiver_cpu_ns_per_packet(sample: &Sample) -> Option<f64> {
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

pub(super) fn other_cpu_ns_per_packet(sample: &Sample) -> Option<f64> {
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

/// Returns the ratio of a value of a window to that of another one.
pub(super) fn ratio_of((sample, other): (&Sample, &Sample), value: Value) -> Option<f64> {
    let base = value(other)?;
    (base > 0.0).then_some(value(sample)? / base)
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

/// Adds up counts by name.
pub(super) fn summed<'a, K: Ord>(
    counts: impl IntoIterator<Item = (K, &'a u64)>,
) -> BTreeMap<K, u64> {
    let mut sums = BTreeMap::new();
    for (name, count) in counts {
        *sums.entry(name).or_default() += count;
    }
    sums
}
