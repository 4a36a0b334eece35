//! Merges the results of all ends of a trial into one sample.

use crate::data::{
    Accounting, BusyPolled, Case, Counts, Direction, DirectionCounts, Pacing, Sample, Side,
    ThreadSample, Verified,
};
use crate::engines::Engines;
use crate::sys::idle_states::IdleTimes;
use crate::sys::sensors::SensorReadings;
use crate::trial::messages::end_result::{EndResult, added};

/// Returns the sample of a trial from the results of all ends, the receivers' end first.
///
/// The length of the window is that on the clock of the threads that take the result: receivers, or clients.
pub(crate) fn sample(case: &Case, (sender, receiver): Engines, ends: &[EndResult]) -> Sample {
    let sends_trains = sender.about.sends_trains(case.train);
    let conclude = if case.is_rr() {
        ends.last()
    } else {
        ends.first()
    };
    let each = || ends.iter();
    let climates = each().map(|end| end.climate);
    let paths = paths(case, (sender, receiver), ends);
    let verified = verified(case, ends, &paths);
    Sample {
        case: case.key(),
        round: 0,
        position: 0,
        opened_unix_ms: conclude.map_or(0, |end| end.opened_unix_ms),
        window_ns: conclude.map_or(0, |end| end.window_ns),
        threads: threads(ends),
        other_cpu_ns: each().map(|end| end.other_cpu_ns).sum(),
        coordinator_cpu_ns: each().map(|end| end.coordinator_cpu_ns).sum(),
        // Of two hosts, the caller knows which one is metered.
        power_uw: conclude.and_then(|end| end.power_uw),
        accounting: Accounting {
            at_opening: sum(each().map(|end| end.counts[0])),
            at_closing: sum(each().map(|end| end.counts[1])),
            at_end: sum(each().map(|end| end.counts[2])),
            unread: each().map(|end| end.unread).sum(),
            // Without offload there are no GRO aggregates: loopback itself has no GRO.
            drops_may_be_aggregates: receiver.about.receives_aggregates && sends_trains,
            discards_may_be_trains: sends_trains,
            kernel_discards_at_opening: discarded(ends, 0),
            kernel_discards_at_closing: discarded(ends, 1),
            kernel_discards: discarded(ends, 2),
        },
        paths,
        rcvbuf_bytes: least(each().map(|end| end.rcvbuf_bytes)),
        sndbuf_bytes: least(each().map(|end| end.sndbuf_bytes)),
        climate: climates.reduce(SensorReadings::worse).unwrap_or_default(),
        idle_times: added(each().map(|end| end.idle_times.clone()), IdleTimes::add)
            .unwrap_or_default(),
        round_trips: each().find_map(|end| end.round_trips.clone()),
        // In a bidirectional flood, both ends have senders.
        pacing: added(each().filter_map(|end| end.pacing.clone()), Pacing::add),
        busy_polled: added(
            each().filter_map(|end| end.busy_polled.clone()),
            BusyPolled::add,
        ),
        flow_packets: each()
            .map(|end| end.flow_packets.clone())
            .find(|packets| !packets.is_empty())
            .unwrap_or_default(),
        verified,
    }
}

/// Returns the least of the known sizes, or 0 if none is known.
fn least(sizes: impl Iterator<Item = Option<u64>>) -> u64 {
    sizes.flatten().min().unwrap_or(0)
}

/// Returns the directions between two hosts, the senders' direction first.
fn paths(case: &Case, (sender, receiver): Engines, ends: &[EndResult]) -> Vec<DirectionCounts> {
    let (Some(_), [receivers, senders]) = (case.direction, ends) else {
        return Vec::new();
    };
    let (remote, back) = if case.remote_sends() {
        (Direction::Down, Direction::Up)
    } else {
        (Direction::Up, Direction::Down)
    };
    let path = |direction, from: &EndResult, to: &EndResult| {
        let [sent, received] = [from, to].map(|end| end.counts[2]);
        DirectionCounts {
            direction,
            sent: sent.taken(),
            refused: from.no_room,
            failed: sent
                .refused
                .saturating_sub(from.no_room + from.refused_without_error),
            refused_without_error: from.refused_without_error,
            received: received.received,
            unread: to.unread,
            dropped_socket: received.dropped_socket,
            drops_may_be_aggregates: receiver.about.receives_aggregates,
            drops_may_be_trains: sender.about.sends_trains(case.train),
            at_sender: from.path.unwrap_or_default(),
            at_receiver: to.path.unwrap_or_default(),
            nic_at_sender: from.nic.clone(),
            nic_at_receiver: to.nic.clone(),
            radio_at_sender: from.radio,
            radio_at_receiver: to.radio,
            reasons_at_sender: from.drop_reasons.clone(),
            reasons_at_receiver: to.drop_reasons.clone(),
            places_at_receiver: to.places.clone(),
        }
    };
    let mut paths = vec![path(remote, senders, receivers)];
    if case.receives_at_both_ends() {
        paths.push(path(back, receivers, senders));
    }
    paths
}

/// Adds up the counts of all ends.
fn sum(counts: impl IntoIterator<Item = Counts>) -> Counts {
    let add = |all: Counts, one: Counts| Counts {
        sent: all.sent + one.sent,
        refused: all.refused + one.refused,
        received: all.received + one.received,
        dropped_socket: all.dropped_socket + one.dropped_socket,
    };
    counts.into_iter().fold(Counts::default(), add)
}

/// Adds up the discards of all ends at one of the three times. A machine or a network namespace that two ends share
/// counts once.
fn discarded(ends: &[EndResult], at: usize) -> u64 {
    let own = ends.iter().enumerate().map(|(n, end)| {
        let (before, own) = (&ends[..n], end.discards[at]);
        let is_known_network = before.iter().any(|it| it.host.is_same_network(&end.host));
        let is_known_machine = before.iter().any(|it| it.host.is_same_machine(&end.host));
        let in_network = if is_known_network { 0 } else { own.in_network };
        in_network + if is_known_machine { 0 } else { own.in_backlog }
    });
    own.sum()
}

/// Merges the results of verification at all ends.
///
/// A request that arrives twice is answered twice, with the same number. The number of requests that never arrived is
/// therefore unknown.
fn verified(case: &Case, ends: &[EndResult], paths: &[DirectionCounts]) -> Option<Verified> {
    let found = ends.iter().filter_map(|end| end.verified);
    let found = added(found, |all, one| *all += *one)?;
    let sent = paths.iter().map(|path| path.accounting().sent).sum();
    let are_numbered = !paths.is_empty() && !case.is_rr();
    Some(Verified {
        missing: are_numbered.then(|| found.missing_of(sent)),
        ..found
    })
}

/// Merges the counts of all threads in the window: senders first, workers last.
fn threads(ends: &[EndResult]) -> Vec<ThreadSample> {
    let threads = ends.iter().flat_map(|end| end.threads.iter().cloned());
    let mut threads: Vec<ThreadSample> = threads.collect();
    threads.sort_by_key(|thread| match thread.side {
        Side::Sender | Side::Alone | Side::Client => 0,
        Side::Receiver | Side::Server => 1,
        Side::Worker => 2,
    });
    threads
}

#[cfg(test)]
pub(crate) mod tests;
