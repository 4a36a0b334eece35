//! One end of a trial from the start barrier on: its threads, and what is read of them.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::bail;

use super::ends::Buffers;
use super::half::Half;
use super::lane::Lane;
use super::path_watch::PathWatch;
use super::programs::Trackers;
use super::reason_watch::ReasonWatch;
use super::snapshot::Snapshot;
use super::spec::Part;
use super::taps::Taps;
use super::threads::LaneThreads;
use crate::data::{Case, Counts, LaneSample, Pacing, RoundTrips};
use crate::host::placement::Placement;
use crate::sys::host_id::HostId;
use crate::sys::idle::IdleTimes;
use crate::sys::kernel::{self, Discarded, Discards};
use crate::sys::sensors::Watch;
use crate::workload::{PaceMeter, RoundTripMeter};

/// What was read first, before there was any socket.
pub(super) struct Start<'a> {
    pub(super) watch: Watch<'a>,
    pub(super) discards: Discards,
    /// Where the other end is on another host: its interface.
    pub(super) path: Option<PathWatch>,
    /// Why the kernel drops packets, if it is asked.
    pub(super) reasons: Option<&'a mut ReasonWatch>,
}

/// The threads, and what is read of them. Dropping it stops and joins them, whatever they are doing.
pub(super) struct Running<'a> {
    pub(super) case: Case,
    pub(super) part: Part,
    pub(super) threads: LaneThreads,
    pub(super) taps: Taps,
    pub(super) buffers: Buffers,
    /// The CPUs of the threads.
    pub(super) placement: Placement,
    /// Of the datagrams, if they are looked at.
    pub(super) trackers: Trackers,
    pub(super) start: Start<'a>,
    /// The counts when they were last asked for, and the lanes' CPU clocks when those had just moved.
    pub(super) last: Option<(Counts, Vec<Option<u64>>)>,
}

/// What was read when the window opened.
pub(super) struct Opening {
    at: SystemTime,
    snapshot: Snapshot,
    /// What CPUs had idled.
    idle_times: IdleTimes,
}

/// What was read when the window opened, and when it closed.
pub(super) struct Window {
    opened_at: SystemTime,
    opening: Snapshot,
    closing: Snapshot,
    /// What CPUs idled meanwhile.
    idle_times: IdleTimes,
}

impl Running<'_> {
    /// Opens the window: reads everything for the first time.
    ///
    /// # Errors
    /// When something cannot be read.
    pub(super) fn open_window(&mut self) -> anyhow::Result<Opening> {
        let at = SystemTime::now();
        // To read what CPUs idled takes long enough to lie outside of the window.
        let idle_times = self.idle_times();
        let snapshot = Snapshot::opening(&self.threads, &self.taps, &self.start.discards)?;
        let (times, paces) = (self.threads.round_trips(), self.threads.pace_meters());
        times.for_each(RoundTripMeter::open_window);
        paces.for_each(PaceMeter::open_window);
        Ok(Opening {
            at,
            snapshot,
            idle_times,
        })
    }

    /// Closes it.
    ///
    /// # Errors
    /// When something cannot be read any more.
    pub(super) fn close_window(&mut self, opening: Opening) -> anyhow::Result<Window> {
        let discards_move = opening.snapshot.discards_move;
        let closing = Snapshot::closing(&self.threads, &self.taps, discards_move)?;
        let (times, paces) = (self.threads.round_trips(), self.threads.pace_meters());
        times.for_each(RoundTripMeter::close_window);
        paces.for_each(PaceMeter::close_window);
        Ok(Window {
            opened_at: opening.at,
            opening: opening.snapshot,
            closing,
            idle_times: self.idle_times().since(&opening.idle_times),
        })
    }

    fn idle_times(&self) -> IdleTimes {
        self.start.watch.idle_times(self.placement.cpus().flatten())
    }

    /// Looks at the sensors, and at counters that begin anew when they are full.
    ///
    /// # Errors
    /// When a thread has ended.
    pub(super) fn look(&mut self) -> anyhow::Result<()> {
        if self.threads.has_one_ended() {
            self.threads.finish()?;
            bail!("a benchmark thread ended too early");
        }
        self.start.watch.look();
        // Counts of 32 bits are not to begin anew twice.
        self.read_counts().map(drop)
    }

    /// Stops the senders. Their counts are final then.
    pub(super) fn stop(&mut self) {
        // Before the CPUs are idle.
        let cpus = self.placement.cpus().flatten();
        self.start.watch.look_at_clocks(cpus);
        self.threads.stop_sending();
    }

    /// The counts so far.
    ///
    /// # Errors
    /// When the kernel does not say what sockets dropped.
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

    /// Whether nothing waits in any queue, neither of a socket nor of a CPU, where datagrams may wait for ksoftirqd.
    pub(super) fn are_queues_empty(&self) -> bool {
        self.taps.are_empty() && kernel::backlog_is_empty() == Some(true)
    }

    /// Whether, since the counts moved last, each thread has slept or had CPU time to move something.
    pub(super) fn had_their_chance(&self) -> bool {
        let clocks = self.last.iter().flat_map(|(_, clocks)| clocks);
        let mut lanes = self.threads.lanes.iter().zip(clocks);
        lanes.all(|(lane, &cpu_ns)| lane.had_its_chance(cpu_ns))
    }

    /// Whether a server has received more requests than it has answered.
    pub(super) fn owes_answers(&self) -> bool {
        self.threads.lanes.iter().any(Lane::owes_answers)
    }

    /// Stops and joins all threads, and empties the queues.
    ///
    /// # Errors
    /// The first error that ended a thread, and what could not be read any more.
    pub(super) fn finish(mut self, window: Window) -> anyhow::Result<Half> {
        self.threads.finish()?;
        self.start.watch.look();
        let unread = self.taps.take_unread();
        let path = self.start.path.as_mut().map(PathWatch::moved).transpose()?;
        let (path, nic) = path.unzip();
        let Window {
            opened_at,
            opening,
            closing,
            idle_times,
        } = window;
        let length = closing.at.saturating_duration_since(opening.at);
        let coordinator = |snapshot: &Snapshot| snapshot.cpu_ns.map(|(_, own)| own);
        let end = Discards::read().since(&self.start.discards);
        let edge = |snapshot: &Snapshot| {
            let [before, after] = &snapshot.discards;
            let [before, after] = [before, after].map(|read| read.since(&self.start.discards));
            Discarded::midpoint(before, after)
        };
        Ok(Half {
            host: HostId::read(),
            opened_unix_ms: unix_ms(opened_at),
            window_ns: u64::try_from(length.as_nanos()).unwrap_or(u64::MAX),
            other_cpu_ns: self.other_cpu_ns(&opening, &closing),
            coordinator_cpu_ns: grown(coordinator(&opening), coordinator(&closing)),
            counts: [opening.counts, closing.counts, self.read_counts()?],
            discards: [edge(&opening), edge(&closing), end],
            unread,
            no_room: self.threads.no_room(),
            unsaid: self.threads.unsaid(),
            path,
            nic: nic.unwrap_or_default(),
            drop_reasons: (self.start.reasons.as_ref())
                .map_or_else(BTreeMap::new, |reasons| reasons.moved()),
            rcvbuf_bytes: self.buffers.rcvbuf_bytes,
            sndbuf_bytes: self.buffers.sndbuf_bytes,
            climate: self.start.watch.climate(),
            idle_times,
            round_trips: self.round_trips(),
            pacing: self.pacing(),
            flow_packets: (closing.flow_packets.iter().zip(&opening.flow_packets))
                .map(|(now, before)| now - before)
                .collect(),
            verified: self.trackers.verified(self.part),
            lanes: self.lanes(&opening.lanes, closing.lanes),
        })
    }

    /// CPU time of threads that are neither lanes nor the coordinator, in the window: a library's helpers, and the
    /// kernel's workers for io_uring.
    fn other_cpu_ns(&self, opening: &Snapshot, closing: &Snapshot) -> Option<u64> {
        let lanes = opening.lanes.iter().zip(&closing.lanes);
        let lanes = self.threads.lanes.iter().zip(lanes);
        // The time of a lane that workers run is in theirs.
        let have_clocks = lanes.filter(|(lane, _)| !lane.is_pooled);
        let of_lanes = have_clocks.map(|(_, (open, close))| grown(open.cpu_ns, close.cpu_ns));
        let of_lanes = of_lanes.sum::<Option<u64>>()?;
        let all = |snapshot: &Snapshot| snapshot.cpu_ns.map(|(all, _)| all);
        // The clocks are read one after the other, so the little that lies between may come out negative.
        Some(grown(all(opening), all(closing))?.saturating_sub(of_lanes))
    }

    /// What each lane did in the window.
    fn lanes(&self, opening: &[LaneSample], closing: Vec<LaneSample>) -> Vec<LaneSample> {
        let in_window = closing.into_iter().zip(opening);
        let in_window = in_window.map(|(close, open)| close.since(open));
        let lanes = self.threads.lanes.iter().zip(in_window);
        lanes.map(|(lane, sample)| lane.sample(&sample)).collect()
    }

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

/// By how much a clock went on between two readings.
fn grown(open: Option<u64>, close: Option<u64>) -> Option<u64> {
    Some(close?.saturating_sub(open?))
}

/// Milliseconds since 1970-01-01 UTC.
pub(super) fn unix_ms(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
