//! One end of a trial from the start barrier on: its threads, and the readings of their counters.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::bail;

use crate::data::{Accounting, Case, Counts, Pacing, RoundTrips, Sample};
use crate::engine::Refusals;
use crate::host::placement::Placement;
use crate::sys::host_id::HostId;
use crate::sys::idle_states::IdleTimes;
use crate::sys::kernel_drops::{Discarded, Discards};
use crate::sys::power::MeanPower;
use crate::sys::scheduling::{LockedMemory, Raised};
use crate::sys::sensors::Watch;
use crate::trial::messages::end_result::{EndResult, added};
use crate::trial::messages::spec::EndRole;
use crate::trial::readings::losses::{PathWatch, ReasonWatch};
use crate::trial::readings::snapshot::{Snapshot, SnapshotReader};
use crate::trial::sockets::{GrantedBuffers, QueueProbes};
use crate::trial::threads::BenchThreads;
use crate::trial::threads::bench_thread::BenchThread;
use crate::trial::threads::programs::Trackers;
use crate::workload::{PaceMeter, RoundTripMeter};

/// Readings from before there were any sockets.
pub(crate) struct StartReadings<'a> {
    pub(crate) watch: Watch<'a>,
    pub(crate) discards: Discards,
    /// Mean power of the machine since the opening of the window, if it is metered.
    pub(crate) power: Option<MeanPower<'a>>,
    /// Watch of the interface, if the other end is on another host.
    pub(crate) path: Option<PathWatch>,
    /// Watch of the kernel's drop reasons, if they are asked for.
    pub(crate) reasons: Option<&'a mut ReasonWatch>,
}

/// The running threads, and everything that reads their counters. Dropping it stops and joins the threads, whatever
/// they are doing.
pub(crate) struct RunningEnd<'a> {
    pub(crate) case: Case,
    pub(crate) part: EndRole,
    /// True if its engine receives several datagrams as one.
    pub(crate) receives_aggregates: bool,
    pub(crate) threads: BenchThreads,
    pub(crate) probes: QueueProbes,
    pub(crate) buffers: GrantedBuffers,
    /// CPUs of the threads.
    pub(crate) placement: Placement,
    /// Trackers of the datagrams, if they are verified.
    pub(crate) trackers: Trackers,
    pub(crate) start: StartReadings<'a>,
    /// Counts at the last reading, and the CPU clocks of the threads when these counts had just changed.
    pub(crate) last: Option<(Counts, Vec<Option<u64>>)>,
    /// Priority of the coordinator thread. Dropped after the threads have stopped.
    pub(crate) _raised: Option<Raised>,
    /// The memory of this process, if it is locked.
    pub(crate) _locked_memory: Option<LockedMemory>,
}

/// Readings at the opening and at the closing of the window.
pub(crate) struct WindowReadings {
    pub(crate) opened_at: SystemTime,
    pub(crate) opening: Snapshot,
    pub(crate) closing: Snapshot,
    /// Idle times of the CPUs in the window.
    pub(crate) idle_times: IdleTimes,
}

impl RunningEnd<'_> {
    /// Returns the reader of the counters at the edges of the window.
    pub(crate) fn reader(&self) -> SnapshotReader<'_> {
        SnapshotReader {
            threads: &self.threads,
            probes: &self.probes,
        }
    }

    /// Reads the meter of the machine's power, if there is one.
    pub(crate) fn look_at_power(&mut self) {
        if let Some(power) = &mut self.start.power {
            power.look();
        }
    }

    /// Reads the idle times of the CPUs so far. That takes so long that it has to lie outside of the window.
    pub(crate) fn idle_times(&self) -> IdleTimes {
        self.start.watch.idle_times(self.placement.cpus().flatten())
    }

    /// Reads the sensors, and the counters that wrap around.
    ///
    /// # Errors
    /// Fails if a thread has ended, or if something cannot be read.
    pub(crate) fn look(&mut self) -> anyhow::Result<()> {
        if self.threads.has_one_exited() {
            self.threads.finish()?;
            bail!("a bench thread ended too early");
        }
        self.start.watch.look();
        // Counters of 32 bits must not wrap around twice between two readings.
        self.read_counts().map(drop)
    }

    /// Stops the senders. Their counts are final afterwards.
    pub(crate) fn stop(&mut self) {
        // The clocks are read before the CPUs are idle.
        let cpus = self.placement.cpus().flatten();
        self.start.watch.look_at_clocks(cpus);
        self.threads.stop_sending();
    }

    /// Returns the counts so far.
    ///
    /// # Errors
    /// Fails if the kernel does not report the drops of a socket.
    pub(crate) fn counts(&mut self) -> anyhow::Result<Counts> {
        let now = self.read_counts()?;
        if self.last.as_ref().is_none_or(|(last, _)| *last != now) {
            let clocks = self.threads.all.iter().map(BenchThread::cpu_ns);
            self.last = Some((now, clocks.collect()));
        }
        Ok(now)
    }

    fn read_counts(&self) -> anyhow::Result<Counts> {
        let meters = || self.threads.all.iter().map(|thread| &thread.meter);
        meters().for_each(|meter| meter.refresh());
        Ok(Counts {
            received: meters().map(|meter| meter.received.read().packets).sum(),
            dropped_socket: self.probes.drops()?,
            refused: meters().map(|meter| meter.refusals.packets()).sum(),
            sent: meters().map(|meter| meter.sent.read()).sum(),
        })
    }

    /// Returns whether each thread has slept, or had CPU time to move something, since the counts moved last.
    pub(crate) fn had_their_chance(&self) -> bool {
        let clocks = self.last.iter().flat_map(|(_, clocks)| clocks);
        let mut threads = self.threads.all.iter().zip(clocks);
        threads.all(|(thread, &cpu_ns)| thread.had_its_chance(cpu_ns))
    }

    /// Stops and joins all threads, and empties the queues.
    ///
    /// # Errors
    /// Returns the first error that ended a thread, or an error if something cannot be read any more.
    pub(crate) fn finish(mut self, window: WindowReadings) -> anyhow::Result<EndResult> {
        self.threads.finish()?;
        self.start.watch.look();
        let unread = self.probes.discard_unread();
        let reasons = self.start.reasons.as_ref();
        let reasons = reasons.map_or_else(BTreeMap::new, |reasons| reasons.moved());
        let path = self.start.path.as_mut().map(|path| path.growth(reasons));
        let path = path.transpose()?.unwrap_or_default();
        let WindowReadings {
            opening, closing, ..
        } = window;
        let length = closing.at.saturating_duration_since(opening.at);
        let coordinator = |snapshot: &Snapshot| snapshot.cpu_ns.map(|(_, own)| own);
        let edge = |snapshot: &Snapshot| {
            let [before, after] = &snapshot.discards;
            let [before, after] = [before, after].map(|read| read.since(&self.start.discards));
            Discarded::midpoint(before, after)
        };
        let at_end = Discards::read().since(&self.start.discards);
        let discards = [edge(&opening), edge(&closing), at_end];
        let sample = Sample {
            case: self.case.key(),
            round: 0,
            position: 0,
            opened_unix_ms: unix_ms(window.opened_at),
            window_ns: u64::try_from(length.as_nanos()).unwrap_or(u64::MAX),
            other_cpu_ns: self.other_cpu_ns(&opening, &closing),
            coordinator_cpu_ns: grown(coordinator(&opening), coordinator(&closing)),
            power_uw: self.start.power.as_ref().and_then(MeanPower::mean_uw),
            accounting: Accounting {
                at_opening: opening.counts,
                at_closing: closing.counts,
                at_end: self.read_counts()?,
                unread,
                ..Accounting::default()
            },
            paths: Vec::new(),
            rcvbuf_bytes: self.buffers.rcvbuf_bytes,
            sndbuf_bytes: self.buffers.sndbuf_bytes,
            climate: self.start.watch.climate,
            idle_times: window.idle_times,
            round_trips: added(
                self.threads.round_trips().map(RoundTripMeter::round_trips),
                RoundTrips::add,
            ),
            pacing: added(
                self.threads.pace_meters().map(PaceMeter::pacing),
                Pacing::add,
            ),
            busy_polled: (self.case.busy_poll).map(|asked| self.probes.busy_polled(asked)),
            flow_packets: (closing.flow_packets.iter().zip(&opening.flow_packets))
                .map(|(now, before)| now - before)
                .collect(),
            verified: self.trackers.verified(self.part),
            threads: (self
                .threads
                .all
                .iter()
                .zip(closing.threads)
                .zip(&opening.threads))
            .map(|((thread, close), open)| thread.sample(&close.since(open)))
            .collect(),
        };
        Ok(EndResult {
            host: HostId::read(),
            discards,
            no_room: self.threads.refused(Refusals::no_room),
            refused_without_error: self.threads.refused(Refusals::refused_without_error),
            path,
            sample,
        })
    }

    /// Returns the CPU time in the window of all threads that are neither bench threads nor the coordinator thread: a
    /// library's helpers, and the kernel's workers for io_uring.
    fn other_cpu_ns(&self, opening: &Snapshot, closing: &Snapshot) -> Option<u64> {
        let threads = opening.threads.iter().zip(&closing.threads);
        let threads = self.threads.all.iter().zip(threads);
        // The CPU time of a task that workers run is part of the workers' time; that of another process is not of this
        // one.
        let have_clocks = threads.filter(|(thread, _)| !thread.works_elsewhere());
        let of_threads = have_clocks.map(|(_, (open, close))| grown(open.cpu_ns, close.cpu_ns));
        let of_threads = of_threads.sum::<Option<u64>>()?;
        let all = |snapshot: &Snapshot| snapshot.cpu_ns.map(|(all, _)| all);
        // The clocks are read one after the other, so the small remainder may come out negative.
        Some(grown(all(opening), all(closing))?.saturating_sub(of_threads))
    }
}

/// Returns the growth of a clock between two readings.
fn grown(open: Option<u64>, close: Option<u64>) -> Option<u64> {
    Some(close?.saturating_sub(open?))
}

/// Converts a time to milliseconds since 1970-01-01 UTC.
pub(crate) fn unix_ms(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
