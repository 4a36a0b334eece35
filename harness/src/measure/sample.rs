//! What all sites read becomes one sample.

use std::time::{SystemTime, UNIX_EPOCH};

use super::readings::{Finished, LaneEnd, LaneReading, Reading};
use super::site::Edge;
use crate::data::{
    Books, Case, Counts, Direction, Group, LaneSample, Pacing, Path, Sample, Side, Verified,
};
use crate::engines::Engines;
use crate::sys::clock::Switches;
use crate::sys::host_id::HostId;
use crate::sys::idle::IdleTimes;
use crate::sys::kernel::Discarded;
use crate::sys::sensors::SensorReadings;

/// What one site read.
pub(super) struct Half {
    pub(super) host: HostId,
    pub(super) opening: Reading,
    pub(super) closing: Reading,
    pub(super) finished: Finished,
}

/// The sample of all halves, the receivers' first. The window is as long as it was by the clock of those who take
/// the result: receivers, or clients.
pub(super) fn of(
    case: &Case,
    (sender, receiver): Engines,
    opened_at: SystemTime,
    halves: &[Half],
) -> Sample {
    let sent_in_pieces = sender.about.group == Group::Offload;
    let conclude = if case.asks() {
        halves.last()
    } else {
        halves.first()
    };
    let window_ns = conclude.map_or(0, |half| {
        let Half {
            opening, closing, ..
        } = half;
        closing.at_ns.saturating_sub(opening.at_ns)
    });
    let finished = || halves.iter().map(|half| &half.finished);
    let climates = finished().map(|finished| finished.climate);
    let paths = paths(case, (sender, receiver), halves);
    let verified = verified(case, halves, &paths);
    Sample {
        case: case.key(),
        round: 0,
        position: 0,
        opened_unix_ms: unix_ms(opened_at),
        window_ns,
        lanes: lanes(halves),
        other_cpu_ns: halves.iter().map(Half::other_cpu_ns).sum(),
        coordinator_cpu_ns: halves.iter().map(Half::coordinator_cpu_ns).sum(),
        books: Books {
            at_opening: sum(halves.iter().map(|half| half.opening.counts)),
            at_closing: sum(halves.iter().map(|half| half.closing.counts)),
            at_end: sum(finished().map(|finished| finished.counts)),
            unread: finished().map(|finished| finished.unread).sum(),
            // Without offload there are no pieces: loopback itself has no GRO.
            dropped_in_pieces: receiver.about.joins && sent_in_pieces,
            discarded_in_pieces: sent_in_pieces,
            kernel_discards_at_opening: discarded_until(halves, Edge::Opening),
            kernel_discards_at_closing: discarded_until(halves, Edge::Closing),
            kernel_discards: discarded(halves, |half| half.finished.discards),
        },
        paths,
        rcvbuf_bytes: least(finished().map(|finished| finished.rcvbuf_bytes)),
        sndbuf_bytes: least(finished().map(|finished| finished.sndbuf_bytes)),
        climate: climates.reduce(SensorReadings::worse).unwrap_or_default(),
        idle_times: finished().fold(IdleTimes::default(), |mut all, finished| {
            all.add(&finished.idle_times);
            all
        }),
        round_trips: finished().find_map(|finished| finished.round_trips.clone()),
        pacing: pacing(halves),
        flow_packets: finished()
            .map(|finished| finished.flow_packets.clone())
            .find(|packets| !packets.is_empty())
            .unwrap_or_default(),
        verified,
    }
}

/// The least of the sizes that are known.
fn least(sizes: impl Iterator<Item = Option<u64>>) -> u64 {
    sizes.flatten().min().unwrap_or(0)
}

/// The directions between two hosts, that of the senders first.
fn paths(case: &Case, (sender, receiver): Engines, halves: &[Half]) -> Vec<Path> {
    let (Some(_), [receivers, senders]) = (case.direction, halves) else {
        return Vec::new();
    };
    let (there, back) = if case.sends_from_there() {
        (Direction::Down, Direction::Up)
    } else {
        (Direction::Up, Direction::Down)
    };
    let path = |direction, from: &Half, to: &Half| Path {
        direction,
        sent: from.finished.counts.taken(),
        refused: from.finished.no_room,
        failed: (from.finished.counts.refused)
            .saturating_sub(from.finished.no_room + from.finished.unsaid),
        unsaid: from.finished.unsaid,
        received: to.finished.counts.received,
        unread: to.finished.unread,
        dropped_socket: to.finished.counts.dropped_socket,
        dropped_in_pieces: receiver.about.joins,
        sent_in_pieces: sender.about.group == Group::Offload,
        at_sender: from.finished.path.unwrap_or_default(),
        at_receiver: to.finished.path.unwrap_or_default(),
        nic_at_sender: from.finished.nic.clone(),
        nic_at_receiver: to.finished.nic.clone(),
        reasons_at_sender: from.finished.drop_reasons.clone(),
        reasons_at_receiver: to.finished.drop_reasons.clone(),
    };
    let mut paths = vec![path(there, senders, receivers)];
    if case.receives_at_both_ends() {
        paths.push(path(back, receivers, senders));
    }
    paths
}

/// That of all senders: where they flood both ways, they are at both sites.
fn pacing(halves: &[Half]) -> Option<Pacing> {
    let each = halves
        .iter()
        .filter_map(|half| half.finished.pacing.clone());
    each.reduce(|mut all, one| {
        all.add(&one);
        all
    })
}

/// The counts of all sites.
pub(super) fn sum(counts: impl IntoIterator<Item = Counts>) -> Counts {
    let add = |all: Counts, one: Counts| Counts {
        sent: all.sent + one.sent,
        refused: all.refused + one.refused,
        received: all.received + one.received,
        dropped_socket: all.dropped_socket + one.dropped_socket,
    };
    counts.into_iter().fold(Counts::default(), add)
}

/// What the kernels discarded until an edge of the window.
fn discarded_until(halves: &[Half], edge: Edge) -> u64 {
    let nth = |n: usize| discarded(halves, move |half| half.at(edge).discards[n]);
    u64::midpoint(nth(0), nth(1))
}

/// The discards of all sites, those of a machine or a network namespace that two of them share counted once.
fn discarded(halves: &[Half], of: impl Fn(&Half) -> Discarded) -> u64 {
    let own = halves.iter().enumerate().map(|(n, half)| {
        let before = || halves[..n].iter().map(|other| &other.host);
        let discarded = of(half);
        let own = Discarded {
            in_network: if before().any(|other| other.is_same_network(&half.host)) {
                0
            } else {
                discarded.in_network
            },
            in_backlog: if before().any(|other| other.is_same_machine(&half.host)) {
                0
            } else {
                discarded.in_backlog
            },
        };
        own.total()
    });
    own.sum()
}

/// What was found in the datagrams, wherever they were looked at. A request that comes twice is answered twice, with one
/// number, so that of requests it is not known how many never came.
fn verified(case: &Case, halves: &[Half], paths: &[Path]) -> Option<Verified> {
    let found = halves.iter().filter_map(|half| half.finished.verified);
    let found = found.reduce(|mut all, one| {
        all += one;
        all
    })?;
    let sent = paths.iter().map(|path| path.books().sent).sum();
    let are_numbered = !paths.is_empty() && !case.asks();
    Some(Verified {
        missing: are_numbered.then(|| found.missing_of(sent)),
        ..found
    })
}

/// What each lane did in the window: senders first, workers last.
fn lanes(halves: &[Half]) -> Vec<LaneSample> {
    let mut lanes: Vec<LaneSample> = halves.iter().flat_map(Half::lanes).collect();
    lanes.sort_by_key(|lane| match lane.side {
        Side::Sender | Side::Alone | Side::Client => 0,
        Side::Receiver | Side::Server => 1,
        Side::Worker => 2,
    });
    lanes
}

impl Half {
    fn at(&self, edge: Edge) -> &Reading {
        match edge {
            Edge::Opening => &self.opening,
            Edge::Closing => &self.closing,
        }
    }

    fn edges(&self) -> impl Iterator<Item = (&LaneEnd, (&LaneReading, &LaneReading))> {
        let edges = self.opening.lanes.iter().zip(&self.closing.lanes);
        self.finished.lanes.iter().zip(edges)
    }

    /// CPU time of threads that are neither lanes nor the coordinator, in the window: a library's helpers,
    /// the kernel's workers for io_uring, and what draws the screen.
    fn other_cpu_ns(&self) -> Option<u64> {
        // The time of a lane that workers run is in theirs.
        let has_clock = self.edges().filter(|(lane, _)| !lane.is_pooled);
        let of_lane = |(_, (open, close)): (&LaneEnd, (&LaneReading, &LaneReading))| {
            grown(open.cpu_ns, close.cpu_ns)
        };
        let of_lanes: u64 = has_clock.map(of_lane).sum::<Option<u64>>()?;
        // The clocks are read one after the other, so the little that lies between may come out negative.
        let of_all = grown(self.opening.cpu_ns, self.closing.cpu_ns)?;
        Some(of_all.saturating_sub(of_lanes))
    }

    /// CPU time of the coordinator between the two readings.
    fn coordinator_cpu_ns(&self) -> Option<u64> {
        let (open, close) = (&self.opening, &self.closing);
        grown(open.coordinator_cpu_ns, close.coordinator_cpu_ns)
    }

    fn lanes(&self) -> impl Iterator<Item = LaneSample> {
        self.edges().map(|(lane, (open, close))| {
            let counted =
                |counter: fn(&LaneReading) -> u64| counter(close).saturating_sub(counter(open));
            let switches = |count: fn(Switches) -> u64| {
                Some(count(close.switches?).saturating_sub(count(open.switches?)))
            };
            LaneSample {
                side: lane.side,
                cpu: lane.cpu,
                sent_packets: counted(|lane| lane.sent_packets),
                refused_packets: counted(|lane| lane.refused_packets),
                refusal: lane.refusal.clone(),
                received_packets: counted(|lane| lane.received_packets),
                received_bytes: counted(|lane| lane.received_bytes),
                would_blocks: counted(|lane| lane.would_blocks),
                errors: counted(|lane| lane.errors),
                cpu_ns: grown(open.cpu_ns, close.cpu_ns),
                waited_ns: grown(open.waited_ns, close.waited_ns),
                taken: open
                    .taken
                    .zip(close.taken)
                    .map(|(open, close)| close.since(open)),
                voluntary_switches: switches(|switches| switches.voluntary),
                involuntary_switches: switches(|switches| switches.involuntary),
                pace: lane.pace,
                remark: lane.remark.clone(),
            }
        })
    }
}

/// By how much a clock went on between two readings.
fn grown(open: Option<u64>, close: Option<u64>) -> Option<u64> {
    Some(close?.saturating_sub(open?))
}

fn unix_ms(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
