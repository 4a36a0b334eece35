//! A site's part of a trial from the start barrier on.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::bail;

use super::ends::Buffers;
use super::lane::Lane;
use super::path_watch::PathWatch;
use super::programs::Trackers;
use super::readings::{Finished, Idle, LaneEnd, Reading};
use super::site::{Edge, Part};
use super::snapshot::Snapshot;
use super::taps::Taps;
use super::threads::LaneThreads;
use crate::data::{Counts, Pacing, RoundTrips};
use crate::platform::placement::Placement;
use crate::sys::idle::IdleTimes;
use crate::sys::kernel::{self, Discards};
use crate::sys::sensors::Watch;
use crate::workload::{PaceMeter, RoundTripMeter};

/// What was read first, before there was any socket.
pub(super) struct Start<'a> {
    pub(super) watch: Watch<'a>,
    pub(super) discards: Discards,
    pub(super) at: Instant,
    /// Where the other part is on another host: its interface.
    pub(super) path: Option<PathWatch>,
}

/// The threads, and what is read of them.
pub(super) struct Running<'a> {
    pub(super) threads: LaneThreads,
    taps: Taps,
    buffers: Buffers,
    placement: Placement,
    /// What is looked at here.
    looked_at: (Part, Trackers),
    start: Start<'a>,
    /// What had come over each flow when the window opened, and what came until it closed.
    flow_packets: Vec<u64>,
    /// The same of the time that CPUs were idle.
    idle_times: IdleTimes,
    /// Whether the kernel's discards had moved when the window opened.
    discards_move: bool,
    /// The counts when they were last asked for, and the lanes' CPU clocks when those had just moved.
    last: Option<(Counts, Vec<Option<u64>>)>,
}

impl<'a> Running<'a> {
    pub(super) fn new(
        start: Start<'a>,
        threads: LaneThreads,
        taps: Taps,
        buffers: Buffers,
        placement: Placement,
        looked_at: (Part, Trackers),
    ) -> Self {
        Self {
            threads,
            taps,
            buffers,
            placement,
            looked_at,
            start,
            flow_packets: Vec::new(),
            idle_times: IdleTimes::default(),
            discards_move: false,
            last: None,
        }
    }

    pub(super) fn look(&mut self) -> anyhow::Result<()> {
        if self.threads.has_one_ended() {
            self.threads.finish()?;
            bail!("a benchmark thread ended too early");
        }
        self.start.watch.look();
        // Counts of 32 bits are not to begin anew twice.
        self.read_counts().map(drop)
    }

    pub(super) fn snapshot(&mut self, edge: Edge) -> anyhow::Result<Reading> {
        let (threads, taps) = (&self.threads, &self.taps);
        // To read what CPUs idled takes long enough to lie outside of the window.
        let idle_times = || self.start.watch.idle_times(self.placement.cpus().flatten());
        let (mut snapshot, idle_times) = match edge {
            Edge::Opening => {
                let idle_times = idle_times();
                let snapshot = Snapshot::opening(threads, taps, &self.start.discards)?;
                (snapshot, idle_times)
            }
            Edge::Closing => {
                let snapshot = Snapshot::closing(threads, taps, self.discards_move)?;
                (snapshot, idle_times().since(&self.idle_times))
            }
        };
        self.idle_times = idle_times;
        self.discards_move = snapshot.discards_move;
        let now = std::mem::take(&mut snapshot.flow_packets);
        let before = std::mem::replace(&mut self.flow_packets, now);
        for (packets, before) in self.flow_packets.iter_mut().zip(before) {
            *packets -= before;
        }
        for meter in self.threads.round_trips() {
            match edge {
                Edge::Opening => meter.open_window(),
                Edge::Closing => meter.close_window(),
            }
        }
        for meter in self.threads.pace_meters() {
            match edge {
                Edge::Opening => meter.open_window(),
                Edge::Closing => meter.close_window(),
            }
        }
        Ok(snapshot.since(self.start.at, &self.start.discards))
    }

    pub(super) fn stop(&mut self) {
        // Before the CPUs are idle.
        let cpus = self.placement.cpus().flatten();
        self.start.watch.look_at_clocks(cpus);
        self.threads.stop_sending();
    }

    pub(super) fn counts(&mut self) -> anyhow::Result<Counts> {
        let now = self.read_counts()?;
        if self.last.as_ref().is_none_or(|(last, _)| *last != now) {
            let clocks = self.threads.lanes.iter().map(Lane::cpu_ns);
            self.last = Some((now, clocks.collect()));
        }
        Ok(now)
    }

    fn read_counts(&self) -> anyhow::Result<Counts> {
        let meters = || self.threads.lanes.iter().map(|lane| &lane.meter);
        Ok(Counts {
            received: meters().map(|meter| meter.received.read().packets).sum(),
            dropped_socket: self.taps.drops()?,
            refused: meters().map(|meter| meter.refusals.packets()).sum(),
            sent: meters().map(|meter| meter.sent.read()).sum(),
        })
    }

    pub(super) fn idle(&self) -> Idle {
        let clocks = self.last.iter().flat_map(|(_, clocks)| clocks);
        let mut lanes = self.threads.lanes.iter().zip(clocks);
        Idle {
            // Datagrams may wait in the queues of CPUs for ksoftirqd.
            are_queues_empty: self.taps.are_empty() && kernel::backlog_is_empty() == Some(true),
            had_their_chance: lanes.all(|(lane, &cpu_ns)| lane.had_its_chance(cpu_ns)),
            owes_answers: self.threads.lanes.iter().any(Lane::owes_answers),
        }
    }

    pub(super) fn finish(mut self) -> anyhow::Result<Finished> {
        let (part, trackers) = &self.looked_at;
        self.threads.finish()?;
        self.start.watch.look();
        let unread = self.taps.take_unread();
        let path = self.start.path.as_mut().map(PathWatch::moved).transpose()?;
        let (path, nic) = path.unzip();
        Ok(Finished {
            counts: self.read_counts()?,
            unread,
            discards: Discards::read().since(&self.start.discards),
            no_room: self.threads.no_room(),
            unsaid: self.threads.unsaid(),
            path,
            nic: nic.unwrap_or_default(),
            drop_reasons: BTreeMap::new(),
            rcvbuf_bytes: self.buffers.rcvbuf_bytes,
            sndbuf_bytes: self.buffers.sndbuf_bytes,
            climate: self.start.watch.climate(),
            round_trips: self.round_trips(),
            pacing: self.pacing(),
            idle_times: self.idle_times,
            flow_packets: self.flow_packets,
            verified: trackers.verified(*part),
            lanes: self.threads.lanes.iter().map(lane_end).collect(),
        })
    }
}

impl Running<'_> {
    /// Those of all clients.
    fn round_trips(&self) -> Option<RoundTrips> {
        let meters = self.threads.round_trips();
        meters
            .map(RoundTripMeter::round_trips)
            .reduce(|mut all, one| {
                all.add(&one);
                all
            })
    }

    /// That of all senders at a rate.
    fn pacing(&self) -> Option<Pacing> {
        let meters = self.threads.pace_meters();
        meters.map(PaceMeter::pacing).reduce(|mut all, one| {
            all.add(&one);
            all
        })
    }
}

fn lane_end(lane: &Lane) -> LaneEnd {
    LaneEnd {
        side: lane.side,
        cpu: lane.pinned_cpu(),
        is_pooled: lane.is_pooled,
        pace: lane.pace,
        remark: lane.remark.map(str::to_owned),
        refusal: lane.refusal(),
    }
}
