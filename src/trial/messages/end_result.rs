//! The result of one end of a trial: plain data that means the same to another process. The results of all ends make
//! one sample.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::{
    Accounting, BusyPolled, Case, Counts, Direction, DirectionCounts, Pacing, Sample, Side,
    ThreadSample, Verified,
};
use crate::engines::Engines;
use crate::sys::host_id::HostId;
use crate::sys::idle_states::IdleTimes;
use crate::sys::kernel_drops::Discarded;
use crate::sys::nic::Wireless;
use crate::sys::path_counters::PathCounters;
use crate::sys::sensors::SensorReadings;

/// Result of the senders' or the receivers' end of a trial, or of both ends if they are on one host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EndResult {
    /// Host that this end ran on.
    pub host: HostId,
    /// Sample of this end alone: its own threads and sockets, by the clock of its host. Sizes of buffers are 0 where it
    /// has no such socket. The merged sample has the kernel's discards and the directions.
    pub sample: Sample,
    /// The kernel's discards since the trial began: when the window opened, when it closed, and at the end.
    pub discards: [Discarded; 3],
    /// Datagrams that found no room in the queue of the interface, as each send was told.
    pub no_room: u64,
    /// Datagrams that were refused for a reason that no send was told.
    pub refused_without_error: u64,
    /// Counters of the way to the other end. Zero if all of the trial is on this host.
    pub path: PathGrowth,
}

/// Growth of a host's counters since the start of a trial between two hosts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PathGrowth {
    /// Counters of the interface and of its network namespace.
    pub counters: PathCounters,
    /// Counters of lost packets at the interface that grew, by name: the kernel's, and the driver's own.
    pub nic: BTreeMap<String, u64>,
    /// State of the interface's radio at the end. `None`: it has none.
    pub radio: Option<Wireless>,
    /// Packets that the machine dropped, by the kernel's reasons, if it was asked for them. Other traffic is included.
    pub drop_reasons: BTreeMap<String, u64>,
    /// Packets that this host lost on the way in, by place. Other traffic is included.
    pub places: BTreeMap<String, u64>,
}

/// Adds all of these results. `None`: there are none.
pub(crate) fn added<T>(each: impl Iterator<Item = T>, add: impl Fn(&mut T, &T)) -> Option<T> {
    each.reduce(|mut all, one| {
        add(&mut all, &one);
        all
    })
}

/// Returns the sample of a trial from the results of all ends, the receivers' end first.
///
/// The length of the window is that on the clock of the threads that take the result: receivers, or clients.
pub(crate) fn sample(case: &Case, (sender, receiver): Engines, ends: &[EndResult]) -> Sample {
    let sends_trains = sender.about.sends_trains(case.train);
    let conclude = &ends[if case.is_rr() { ends.len() - 1 } else { 0 }];
    let each = || ends.iter().map(|end| &end.sample);
    let counts = |at: fn(&Accounting) -> Counts| sum(each().map(|it| at(&it.accounting)));
    let climates = each().map(|it| it.climate);
    let paths = paths(case, (sender, receiver), ends);
    Sample {
        threads: threads(ends),
        other_cpu_ns: each().map(|it| it.other_cpu_ns).sum(),
        coordinator_cpu_ns: each().map(|it| it.coordinator_cpu_ns).sum(),
        accounting: Accounting {
            at_opening: counts(|it| it.at_opening),
            at_closing: counts(|it| it.at_closing),
            at_end: counts(|it| it.at_end),
            unread: each().map(|it| it.accounting.unread).sum(),
            // Without offload there are no GRO aggregates: loopback itself has no GRO.
            drops_may_be_aggregates: receiver.about.receives_aggregates && sends_trains,
            discards_may_be_trains: sends_trains,
            kernel_discards_at_opening: discarded(ends, 0),
            kernel_discards_at_closing: discarded(ends, 1),
            kernel_discards: discarded(ends, 2),
        },
        verified: verified(case, ends, &paths),
        paths,
        rcvbuf_bytes: least(each().map(|it| it.rcvbuf_bytes)),
        sndbuf_bytes: least(each().map(|it| it.sndbuf_bytes)),
        climate: climates.reduce(SensorReadings::worse).unwrap_or_default(),
        idle_times: added(each().map(|it| it.idle_times.clone()), IdleTimes::add)
            .unwrap_or_default(),
        round_trips: each().find_map(|it| it.round_trips.clone()),
        // In a bidirectional flood, both ends have senders.
        pacing: added(each().filter_map(|it| it.pacing.clone()), Pacing::add),
        busy_polled: added(
            each().filter_map(|it| it.busy_polled.clone()),
            BusyPolled::add,
        ),
        flow_packets: each()
            .map(|it| it.flow_packets.clone())
            .find(|packets| !packets.is_empty())
            .unwrap_or_default(),
        // Of two hosts, the caller knows which one is metered.
        ..conclude.sample.clone()
    }
}

/// Returns the least of the known sizes, or 0 if none is known.
fn least(sizes: impl Iterator<Item = u64>) -> u64 {
    sizes.filter(|bytes| *bytes > 0).min().unwrap_or(0)
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
        let [sent, received] = [from, to].map(|end| end.sample.accounting.at_end);
        DirectionCounts {
            direction,
            sent: sent.taken(),
            refused: from.no_room,
            failed: sent
                .refused
                .saturating_sub(from.no_room + from.refused_without_error),
            refused_without_error: from.refused_without_error,
            received: received.received,
            unread: to.sample.accounting.unread,
            dropped_socket: received.dropped_socket,
            drops_may_be_aggregates: receiver.about.receives_aggregates,
            drops_may_be_trains: sender.about.sends_trains(case.train),
            at_sender: from.path.counters,
            at_receiver: to.path.counters,
            nic_at_sender: from.path.nic.clone(),
            nic_at_receiver: to.path.nic.clone(),
            radio_at_sender: from.path.radio,
            radio_at_receiver: to.path.radio,
            reasons_at_sender: from.path.drop_reasons.clone(),
            reasons_at_receiver: to.path.drop_reasons.clone(),
            places_at_receiver: to.path.places.clone(),
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
    let found = ends.iter().filter_map(|end| end.sample.verified);
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
    let threads = ends.iter().flat_map(|end| end.sample.threads.clone());
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
