//! Limits of the counts of a window, so that no sum and no difference of them overflows, whatever a program counted.

use crate::data::{Counts, Histogram, RoundTrips, Sample, ThreadSample, Verified};

/// Limit that no counter of a window reaches. 2^53 datagrams are a year at 100 Mpps, and spreadsheets and JSON
/// readers count no further.
const MOST: u64 = 1 << 53;
/// Limit that the sum of all counters of all windows of a case does not reach, so that no sum or difference of them
/// overflows. The largest counters are nanoseconds: 2^60 ns are a year of CPU time on 36 CPUs.
const MOST_IN_ALL: u64 = 1 << 60;
/// Last millisecond of the year 9999, where RFC 3339 ends, as Unix time.
const LAST_MS: u64 = 253_402_300_799_999;
const MOST_THREADS: usize = 4096;

/// Returns the first impossible count of a window, for any case.
pub(super) fn impossible(sample: &Sample) -> Option<&'static str> {
    let accounting = &sample.accounting;
    if counts(sample).any(|count| count >= MOST) {
        return Some("a count of 2^53 or more");
    }
    if sample.window_ns == 0 {
        return Some("a window that was never open");
    }
    if sample.opened_unix_ms > LAST_MS {
        return Some("a window after the year 9999");
    }
    if sample.threads.is_empty() || sample.threads.len() > MOST_THREADS {
        return Some("a window with no threads, or too many");
    }
    if !(follows(accounting.at_opening, accounting.at_closing)
        && follows(accounting.at_closing, accounting.at_end))
    {
        return Some("counts that decrease");
    }
    if accounting.at_end.refused > accounting.at_end.sent {
        return Some("more datagrams refused than sent");
    }
    if !histograms(sample).all(Histogram::is_valid) {
        return Some("times in buckets that cannot be");
    }
    let mut paces = sample.threads.iter().filter_map(|thread| thread.pace);
    paces
        .any(|pace| pace.chain_ns == 0)
        .then_some("a pace of 0 ns")
}

/// Adds the counters of a window to the total of its case. `None`: the total exceeds its limit.
pub(crate) fn added(total: u64, sample: &Sample) -> Option<u64> {
    let total = counts(sample).fold(total, u64::saturating_add);
    (total < MOST_IN_ALL).then_some(total)
}

fn histograms(sample: &Sample) -> impl Iterator<Item = &Histogram> {
    let round_trips = sample.round_trips.iter();
    let round_trips = round_trips.flat_map(|found| [&found.times, &found.wakeups]);
    let pacing = sample.pacing.iter();
    round_trips.chain(pacing.flat_map(|found| [&found.transmit_gaps, &found.call_end_gaps]))
}

fn counts(sample: &Sample) -> impl Iterator<Item = u64> {
    let accounting = &sample.accounting;
    let of_accounting = [
        accounting.unread,
        accounting.kernel_discards,
        accounting.kernel_discards_at_opening,
        accounting.kernel_discards_at_closing,
        accounting.at_end.sent,
        accounting.at_end.refused,
        accounting.at_end.received,
        accounting.at_end.dropped_socket,
    ];
    let others = [sample.other_cpu_ns, sample.coordinator_cpu_ns];
    let of_run = [sample.window_ns, sample.rcvbuf_bytes, sample.sndbuf_bytes];
    let of_others = others.into_iter().flatten();
    let of_threads = sample.threads.iter().flat_map(of_thread);
    let of_datagrams = sample.verified.map(of_datagrams);
    let of_round_trips = sample.round_trips.iter().flat_map(of_round_trips);
    let of_pacing = sample.pacing.iter().map(|found| found.late);
    let of_histograms = histograms(sample).flat_map(Histogram::counts);
    let counts = of_threads
        .chain(of_accounting)
        .chain(of_run)
        .chain(of_others);
    let of_flows = sample.flow_packets.iter().copied();
    let states = sample.idle_times.states.iter();
    let of_states = states.map(|state| state.ns);
    let counts = counts
        .chain(of_round_trips)
        .chain(of_pacing)
        .chain(of_histograms)
        .chain(of_flows)
        .chain(of_states);
    counts.chain(of_datagrams.into_iter().flatten())
}

fn of_round_trips(found: &RoundTrips) -> [u64; 3] {
    [found.sum_ns, found.unanswered, found.late]
}

fn of_thread(thread: &ThreadSample) -> [u64; 13] {
    let taken = thread.taken.unwrap_or_default();
    [
        thread.sent_packets,
        thread.refused_packets,
        thread.received_packets,
        thread.received_bytes,
        thread.would_blocks,
        thread.errors,
        thread.cpu_ns.unwrap_or_default(),
        thread.waited_ns.unwrap_or_default(),
        taken.steal_ns,
        taken.irq_ns,
        taken.softirq_ns,
        thread.voluntary_switches.unwrap_or_default(),
        thread.involuntary_switches.unwrap_or_default(),
    ]
}

fn of_datagrams(found: Verified) -> [u64; 8] {
    let Verified {
        packets,
        missing,
        duplicated,
        reordered,
        reordering_extent,
        jitter_ns,
        truncated,
        corrupted,
    } = found;
    [
        packets,
        missing.unwrap_or(0),
        duplicated,
        reordered,
        reordering_extent,
        jitter_ns.unwrap_or(0),
        truncated,
        corrupted,
    ]
}

fn follows(before: Counts, after: Counts) -> bool {
    before.sent <= after.sent
        && before.refused <= after.refused
        && before.received <= after.received
        && before.dropped_socket <= after.dropped_socket
}
