//! The result of one end of a trial: plain data that means the same to another process. The results of all ends make one
//! sample.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::{
    Accounting, BusyPolled, Case, Counts, Direction, DirectionCounts, Pacing, RoundTrips, Sample,
    Side, ThreadSample, Verified,
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
    /// Time at which the window opened, by the clock of that host: see
    /// [`Sample::opened_unix_ms`](crate::data::Sample::opened_unix_ms).
    pub opened_unix_ms: u64,
    /// Length of the window, in nanoseconds.
    pub window_ns: u64,
    /// Counts of each thread in the window, senders first, workers last.
    pub threads: Vec<ThreadSample>,
    /// See [`Sample::other_cpu_ns`](crate::data::Sample::other_cpu_ns).
    pub other_cpu_ns: Option<u64>,
    /// See [`Sample::coordinator_cpu_ns`](crate::data::Sample::coordinator_cpu_ns).
    pub coordinator_cpu_ns: Option<u64>,
    /// Mean power of that host in the window, in microwatts. `None`: it is not metered.
    pub power_uw: Option<u64>,
    /// Counts of its own threads and sockets: when the window opened, when it closed, and at the end.
    pub counts: [Counts; 3],
    /// The kernel's discards since the trial began: when the window opened, when it closed, and at the end.
    pub discards: [Discarded; 3],
    /// Datagrams that were left in the receive queues.
    pub unread: u64,
    /// Datagrams that found no room in the queue of the interface, as each send was told.
    pub no_room: u64,
    /// Datagrams that were refused for a reason that no send was told.
    pub refused_without_error: u64,
    /// Growth of the counters of the interface and of its network namespace since the threads started. `None`: all of
    /// the trial is on this host.
    pub path: Option<PathCounters>,
    /// Counters of lost packets at the interface that grew since the threads started, by name: the kernel's, and the
    /// driver's own.
    pub nic: BTreeMap<String, u64>,
    /// State of the interface's radio at the end. `None`: it has none, or all of the trial is on this host.
    pub radio: Option<Wireless>,
    /// Packets that the machine dropped during the trial, by the kernel's reasons, if it was asked for them. Other
    /// traffic is included.
    pub drop_reasons: BTreeMap<String, u64>,
    /// Packets that this host lost on the way in during the trial, by place. Other traffic is included.
    pub places: BTreeMap<String, u64>,
    /// Size that the kernel granted as SO_RCVBUF, in bytes: the smallest of the receiving sockets. `None`: this end has
    /// none.
    pub rcvbuf_bytes: Option<u64>,
    /// Size that SO_SNDBUF returns, in bytes: the smallest of the sending sockets. `None`: this end has none.
    pub sndbuf_bytes: Option<u64>,
    /// Sensor readings during the trial.
    pub climate: SensorReadings,
    /// See [`Sample::idle_times`](crate::data::Sample::idle_times).
    pub idle_times: IdleTimes,
    /// Round trips of all clients. `None`: this end has no clients.
    pub round_trips: Option<RoundTrips>,
    /// Pacing of all senders that flood at a rate. `None`: this end has none.
    pub pacing: Option<Pacing>,
    /// Pollers found at this end. `None`: nothing was to poll.
    pub busy_polled: Option<BusyPolled>,
    /// See [`Sample::flow_packets`](crate::data::Sample::flow_packets).
    pub flow_packets: Vec<u64>,
    /// Result of looking at the datagrams, if they were verified.
    pub verified: Option<Verified>,
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
