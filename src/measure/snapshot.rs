//! One edge of a window: everything that is read when it opens, and again when it closes.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::taps::Taps;
use super::threads::{Lane, LaneThreads};
use crate::data::{Counts, LaneSample};
use crate::engine::Tally;
use crate::sys::clock::{self, Switches};
use crate::sys::kernel::Discards;

/// The readings at one edge.
pub(super) struct Snapshot {
    pub(super) at: Instant,
    pub(super) counts: Counts,
    /// The kernel's discards just before and just after the counts: to read them takes longer than a datagram.
    /// Where they rest, one reading outside the window is both.
    discards: [Discards; 2],
    /// Whether they had moved since the run began, when the window opened.
    discards_move: bool,
    /// How long it took to read all this.
    took: Duration,
    /// Calls of lanes that send that failed so far.
    pub(super) failed_sends: u64,
    /// CPU time of the process, less that of the coordinator, which reads it.
    cpu_ns: Option<u64>,
    lanes: Vec<LaneReading>,
}

#[derive(Clone, Copy, Default)]
struct LaneReading {
    sent: Tally,
    received: Tally,
    would_blocks: u64,
    errors: u64,
    cpu_ns: Option<u64>,
    switches: Option<Switches>,
}

impl Snapshot {
    /// Opens the window: what is slow to read comes first, so that it lies outside. `start` are the kernel's
    /// discards before the run.
    pub(super) fn opening(
        threads: &LaneThreads,
        taps: &Taps,
        start: &Discards,
    ) -> anyhow::Result<Self> {
        let switches: Vec<_> = threads.lanes.iter().map(Lane::switches).collect();
        let discards = Discards::read();
        let discards_move = discards != *start;
        let mut snapshot = Self::counters(threads, taps, read_if(discards_move))?;
        snapshot.discards_move = discards_move;
        snapshot.set_switches(switches);
        snapshot.set_resting_discards(discards);
        Ok(snapshot)
    }

    /// Closes the window: what is slow to read comes last.
    pub(super) fn closing(
        threads: &LaneThreads,
        taps: &Taps,
        opening: &Self,
    ) -> anyhow::Result<Self> {
        let mut snapshot = Self::counters(threads, taps, read_if(opening.discards_move))?;
        snapshot.discards_move = opening.discards_move;
        snapshot.set_resting_discards(Discards::read());
        snapshot.set_switches(threads.lanes.iter().map(Lane::switches).collect());
        Ok(snapshot)
    }

    /// Reads everything at about the same time: anew, if the coordinator was held up in between.
    fn counters(
        threads: &LaneThreads,
        taps: &Taps,
        discards: fn() -> Discards,
    ) -> anyhow::Result<Self> {
        const HELD_UP: Duration = Duration::from_millis(1);
        const TRIES: usize = 4;
        let mut snapshot = Self::read(threads, taps, discards)?;
        for _ in 1..TRIES {
            if snapshot.took < HELD_UP {
                break;
            }
            snapshot = Self::read(threads, taps, discards)?;
        }
        Ok(snapshot)
    }

    fn read(
        threads: &LaneThreads,
        taps: &Taps,
        discards: fn() -> Discards,
    ) -> anyhow::Result<Self> {
        let discards_before = discards();
        let at = Instant::now();
        // A datagram is sent before it is dropped or received: reading in the opposite order keeps
        // what is in flight from looking negative.
        let mut lanes: Vec<LaneReading> = threads
            .lanes
            .iter()
            .map(|lane| LaneReading {
                received: lane.meter.received.read(),
                ..LaneReading::default()
            })
            .collect();
        let dropped_socket = taps.drops()?;
        for (reading, lane) in lanes.iter_mut().zip(&threads.lanes) {
            reading.sent = lane.meter.sent.read();
            reading.would_blocks = lane.meter.would_blocks.load(Ordering::Relaxed);
            reading.errors = lane.meter.errors.load(Ordering::Relaxed);
            reading.cpu_ns = lane.cpu_ns();
        }
        let cpu_ns = clock::process_cpu_ns().zip(clock::own_cpu_ns());
        Ok(Self {
            at,
            counts: Counts {
                sent: lanes.iter().map(|lane| lane.sent.packets).sum(),
                received: lanes.iter().map(|lane| lane.received.packets).sum(),
                dropped_socket,
            },
            discards: [discards_before, discards()],
            discards_move: false,
            took: at.elapsed(),
            failed_sends: threads.failed_sends(),
            cpu_ns: cpu_ns.map(|(process, own)| process.saturating_sub(own)),
            lanes,
        })
    }

    /// The kernel's discards from `start` until this snapshot.
    pub(super) fn discards_since(&self, start: &Discards) -> u64 {
        let [before, after] = &self.discards;
        u64::midpoint(before.since(start), after.since(start))
    }

    fn set_resting_discards(&mut self, discards: Discards) {
        if !self.discards_move {
            self.discards = [discards.clone(), discards];
        }
    }

    fn set_switches(&mut self, switches: Vec<Option<Switches>>) {
        for (reading, switches) in self.lanes.iter_mut().zip(switches) {
            reading.switches = switches;
        }
    }

    /// CPU time of threads that are neither lanes nor the coordinator, between this snapshot and `closing`: a
    /// library's helpers, the kernel's workers for io_uring, and what draws the screen.
    pub(super) fn other_cpu_ns(&self, closing: &Self, threads: &LaneThreads) -> Option<u64> {
        let lanes = threads
            .lanes
            .iter()
            .zip(self.lanes.iter().zip(&closing.lanes));
        // The time of a lane that workers run is in theirs.
        let has_clock = lanes.filter(|(lane, _)| !lane.is_pooled());
        let of_lane = |(_, (open, close)): (&Lane, (&LaneReading, &LaneReading))| {
            Some(close.cpu_ns? - open.cpu_ns?)
        };
        let of_lanes: u64 = has_clock.map(of_lane).sum::<Option<u64>>()?;
        // The clocks are read one after the other, so the little that lies between may come out negative.
        let of_all = closing.cpu_ns?.saturating_sub(self.cpu_ns?);
        Some(of_all.saturating_sub(of_lanes))
    }

    /// What each lane did between this snapshot and `closing`.
    pub(super) fn until(&self, closing: &Self, threads: &LaneThreads) -> Vec<LaneSample> {
        let edges = self.lanes.iter().zip(&closing.lanes);
        threads
            .lanes
            .iter()
            .zip(edges)
            .map(|(lane, (open, close))| {
                let switches = |count: fn(Switches) -> u64| {
                    Some(count(close.switches?) - count(open.switches?))
                };
                LaneSample {
                    side: lane.side,
                    cpu: lane.pinned_cpu(),
                    sent_packets: close.sent.packets - open.sent.packets,
                    sent_bytes: close.sent.bytes - open.sent.bytes,
                    received_packets: close.received.packets - open.received.packets,
                    received_bytes: close.received.bytes - open.received.bytes,
                    would_blocks: close.would_blocks - open.would_blocks,
                    errors: close.errors - open.errors,
                    cpu_ns: close
                        .cpu_ns
                        .zip(open.cpu_ns)
                        .map(|(end, start)| end - start),
                    voluntary_switches: switches(|switches| switches.voluntary),
                    involuntary_switches: switches(|switches| switches.involuntary),
                    pace: lane.pace,
                    remark: lane.remark.map(str::to_owned),
                }
            })
            .collect()
    }
}

/// Where discards rest they are not read among the counts: on a slow CPU that would keep the window open for
/// milliseconds, and look as if the coordinator had been held up.
fn read_if(discards_move: bool) -> fn() -> Discards {
    if discards_move {
        Discards::read
    } else {
        Discards::default
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::case::tests::case;
    use crate::engines;
    use crate::measure::sockets::{self, Sockets};
    use crate::platform::placement::Placement;
    use crate::sys::interrupt::Interrupt;

    #[test]
    fn discards_that_rest_are_not_read_while_the_window_is_open() {
        let case = case();
        let interrupt = Interrupt::never().expect("a pair of sockets");
        let Sockets { programs, taps } =
            sockets::build(&case, engines::reference(), None, &interrupt).expect("loopback works");
        let placement = Placement::unpinned(case.threads);
        let engines = engines::of(&case).expect("std is in every build");
        let threads =
            LaneThreads::assemble(&case, engines, programs, &placement).expect("threads start");
        let discards = |discards_move| {
            let snapshot = Snapshot::counters(&threads, &taps, read_if(discards_move));
            snapshot.expect("the kernel says its drops").discards
        };
        assert_eq!(discards(false), [Discards::default(), Discards::default()]);
        assert!(discards(true).iter().all(|it| *it != Discards::default()));
    }
}
