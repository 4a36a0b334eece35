//! Validation of a window. Files can be damaged or edited.
//!
//! Every value that the log has twice, or that follows from others, is compared here. The remaining numbers are
//! unrelated to anything else in the file.

use std::time::Duration;

use super::counts;
use crate::data::{
    Case, Counts, EnginePair, EngineProperties, Group, MOST_PER_TRAIN, Sample, Side, ThreadSample,
    Transport,
};
use crate::engines::carrier::{LENGTH_BYTES, websocket_bytes};
use crate::engines::stream::{READ_BYTES, WEBSOCKET_READ_BYTES};
use crate::host::placement::Placement;

/// Facts that a window is compared with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected<'a> {
    /// Case of the window.
    pub(crate) case: &'a Case,
    /// Engines of the case.
    pub(crate) engines: EnginePair<'a>,
    /// CPUs of the bench threads.
    pub(crate) placement: &'a Placement,
    /// Shortest allowed length of the window.
    pub(crate) window: Duration,
}

/// Batches by which counts of datagrams and bytes may differ at each edge of a window: a program of one's own (`exec:`)
/// publishes one after the other.
const BURSTS_APART: u64 = 4;
/// Maximum number of datagrams in a GSO train or GRO aggregate, and of completions in a ring of io_uring.
const MOST_AT_ONCE: u64 = MOST_PER_TRAIN;
/// Limit of the time between reading the clock and reading the CPU clocks of the bench threads. On a busy machine,
/// the thread that reads them may have to wait in between.
const LONGEST_READING: Duration = Duration::from_secs(10);

impl Expected<'_> {
    /// Returns the first inconsistency in a window.
    pub(crate) fn contradiction(&self, sample: &Sample) -> Option<String> {
        if let Some(problem) = counts::impossible(sample) {
            return Some(problem.to_owned());
        }
        self.wrong_threads(sample)
            .or_else(|| wrong_sums(sample))
            .or_else(|| self.wrong_round_trips(sample))
            .or_else(|| self.wrong_pacing(sample))
            .or_else(|| self.wrong_flows(sample))
            .or_else(|| self.wrong_bytes(sample))
            .or_else(|| self.wrong_times(sample))
            .or_else(|| wrong_verification(sample))
    }

    fn wrong_threads(&self, sample: &Sample) -> Option<String> {
        let sides: Vec<Side> = sample.threads.iter().map(|thread| thread.side).collect();
        // Verification of a single-threaded case may use one thread per side.
        let is_split = sample.verified.is_some() && sides == self.sides(Alone::InTwo);
        if sides != self.sides(Alone::AsOne) && !is_split {
            return Some(
                "the threads are not those of the case: senders first, workers last".to_owned(),
            );
        }
        let collectors = self.placement.senders.iter().copied();
        let mut cpus = self.placement.cpus().chain(collectors);
        for (number, thread) in (1..).zip(&sample.threads) {
            if !thread.side.sends() && (thread.sent_packets, thread.refused_packets) != (0, 0) {
                return Some(format!(
                    "thread {number}, a {}, sent datagrams",
                    thread.side
                ));
            }
            if !thread.side.receives() && (thread.received_packets, thread.received_bytes) != (0, 0)
            {
                return Some(format!(
                    "thread {number}, a {}, received datagrams",
                    thread.side
                ));
            }
            let planned = cpus.next().flatten();
            // Two directions have two threads per CPU, in any order.
            let all = || self.placement.cpus().filter(|_| self.case.is_full_duplex());
            let is_there = |cpu| {
                let cpu = usize::try_from(cpu).ok();
                cpu == planned || all().any(|one| one == cpu)
            };
            if let Some(cpu) = thread.cpu.filter(|&cpu| !is_there(cpu)) {
                return Some(format!(
                    "thread {number} was pinned to CPU {cpu}, not to the CPU in the plan"
                ));
            }
        }
        None
    }

    fn wrong_bytes(&self, sample: &Sample) -> Option<String> {
        // Other programs, or late probes, may have sent to this port. Their datagrams go unnoticed if the same
        // number of others was lost. The warm-up matters as well: datagrams that were in flight at its end are
        // received in the window.
        let is_faulty = sample
            .verified
            .is_some_and(|found| found.fault(None).is_some());
        let places = sample.account().places;
        let lost = places
            .lost()
            .iter()
            .map(|(_, packets)| packets)
            .sum::<u64>();
        let is_whole = sample.accounting.kernel_discards + lost + places.surplus == 0;
        let is_ours = sample.is_sound() && is_whole && !is_faulty;
        let mut threads = (1..).zip(&sample.threads).filter(|_| is_ours);
        threads.find_map(|(number, thread)| {
            let (packets, bytes) = (thread.received_packets, thread.received_bytes);
            (!self.may_be(packets, bytes)).then(|| {
                let payload = self.case.payload;
                format!(
                    "thread {number} received {bytes} bytes in {packets} datagrams of {payload} B"
                )
            })
        })
    }

    /// Returns whether `packets` datagrams can hold `bytes` bytes, with a tolerance because the two counters are not
    /// read in one instant.
    fn may_be(&self, packets: u64, bytes: u64) -> bool {
        let payload = self.case.payload.bytes() as u64;
        if payload == 0 || bytes % payload != 0 {
            return bytes == 0;
        }
        // The count of `null` per step depends on the time since its last step.
        if !self.engines.sender.moves_datagrams {
            return true;
        }
        let burst = self.largest_burst();
        (bytes / payload).abs_diff(packets) <= 2 * BURSTS_APART * burst
    }

    /// Returns the most datagrams that one call of an engine of the case may move.
    fn largest_burst(&self) -> u64 {
        let payload_bytes = self.case.payload.bytes();
        // Most datagrams in one read, plus the rest of the previous read.
        let in_one_read = match self.case.transport {
            Some(Transport::Tcp) => Some(READ_BYTES / payload_bytes.max(1)),
            Some(Transport::FramedTcp) => Some(READ_BYTES / (LENGTH_BYTES + payload_bytes)),
            Some(Transport::Websocket) => {
                Some(WEBSOCKET_READ_BYTES / websocket_bytes(payload_bytes, false))
            }
            _ => None,
        };
        let of = |engine: &EngineProperties, is_receiver: bool| match engine.group {
            _ if in_one_read.is_some() => in_one_read.unwrap_or(0) as u64 + 1,
            Group::Batch | Group::Program => self
                .case
                .batch
                .map_or(MOST_AT_ONCE, |batch| MOST_AT_ONCE.max(batch.count() as u64)),
            Group::Offload if is_receiver => u64::from(engine.aggregates_per_call) * MOST_AT_ONCE,
            Group::Offload => MOST_AT_ONCE,
            _ => 1,
        };
        of(self.engines.sender, false).max(of(self.engines.receiver, true))
    }

    /// Returns the sides of the bench threads in the order in which [`crate::trial`] starts them.
    fn sides(&self, alone: Alone) -> Vec<Side> {
        let threads = self.case.threads;
        let mut sides = if threads.is_alone() && alone == Alone::AsOne {
            vec![Side::Alone]
        } else {
            let sides = |sender, receiver| {
                let senders = vec![sender; threads.senders()];
                [senders, vec![receiver; threads.receivers()]].concat()
            };
            if self.case.is_open_loop() {
                let collectors = vec![Side::Receiver; threads.senders()];
                [sides(Side::Sender, Side::Server), collectors].concat()
            } else if self.case.is_rr() {
                sides(Side::Client, Side::Server)
            } else if self.case.is_full_duplex() {
                let both = threads.senders() + threads.receivers();
                [vec![Side::Sender; both], vec![Side::Receiver; both]].concat()
            } else {
                sides(Side::Sender, Side::Receiver)
            }
        };
        let on_workers = [self.engines.sender, self.engines.receiver]
            .iter()
            .any(|engine| self.case.runs_on_workers(engine));
        if let Some(workers) = self.case.tokio_workers.filter(|_| on_workers) {
            sides.extend(vec![Side::Worker; workers.count()]);
        }
        sides
    }

    fn wrong_pacing(&self, sample: &Sample) -> Option<String> {
        let found = match (&sample.pacing, self.case.is_paced()) {
            (None, false) => return None,
            (Some(found), true) => found,
            (Some(_), false) => {
                return Some("what went late, although nothing had a time".to_owned());
            }
            (None, true) => return Some("a flood at a rate without what went late".to_owned()),
        };
        if !found.transmit_gaps.is_valid() || !found.call_end_gaps.is_valid() {
            return Some("buckets of gaps that cannot be".to_owned());
        }
        // Compare with all datagrams sent until the end, because the counts are not read in one instant.
        let sent = sample.accounting.at_end.sent;
        let most = found
            .late
            .max(found.transmit_gaps.count())
            .max(found.call_end_gaps.count());
        (most > sent).then(|| format!("{most} datagrams late or in gaps, but {sent} sent"))
    }

    fn wrong_round_trips(&self, sample: &Sample) -> Option<String> {
        let found = match (&sample.round_trips, self.case.is_rr()) {
            (None, false) => return None,
            (Some(found), true) => found,
            (Some(_), false) => return Some("round trips, although nobody asks".to_owned()),
            (None, true) => {
                return Some("no round trips, although clients send requests".to_owned());
            }
        };
        if !found.times.is_valid() || !found.wakeups.is_valid() {
            return Some("buckets of round trips that cannot be".to_owned());
        }
        if found.wakeups.count() > found.times.count() {
            return Some("more answers waited for a client than there were".to_owned());
        }
        // Compare with all datagrams received until the end, because the two are not read in one instant.
        let received = sample.accounting.at_end.received;
        let timed = found.times.count();
        (timed > received)
            .then(|| format!("{timed} answers in round trips, but {received} datagrams received"))
    }

    fn wrong_flows(&self, sample: &Sample) -> Option<String> {
        let (found, expected) = (
            sample.flow_packets.len(),
            self.case.flows.map_or(0, |_| self.case.flow_count()),
        );
        (found != expected)
            .then(|| format!("what came over {found} flows, and the case has {expected}"))
    }

    fn wrong_times(&self, sample: &Sample) -> Option<String> {
        let open = Duration::from_nanos(sample.window_ns);
        if open < self.window {
            return Some(format!(
                "a window of {open:?}, shorter than the {:?} of the schedule",
                self.window
            ));
        }
        let most = open.saturating_add(LONGEST_READING);
        let cpu_times = sample.threads.iter().filter_map(|thread| thread.cpu_ns);
        let too_long = cpu_times
            .map(Duration::from_nanos)
            .find(|&ran| ran > most)?;
        Some(format!(
            "a thread ran for {too_long:?} in a window of {open:?}"
        ))
    }
}

/// Layout of the threads of a single-threaded case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Alone {
    AsOne,
    InTwo,
}

/// Compares the accounting with the sums over the bench threads. Both come from the same readings.
fn wrong_sums(sample: &Sample) -> Option<String> {
    let accounting = &sample.accounting;
    let sum = |count: fn(&ThreadSample) -> u64| sample.threads.iter().map(count).sum::<u64>();
    let moved =
        |count: fn(Counts) -> u64| count(accounting.at_closing) - count(accounting.at_opening);
    let sent = (
        "sent",
        sum(|thread| thread.sent_packets),
        moved(|counts| counts.sent),
    );
    let refused = (
        "refused",
        sum(|thread| thread.refused_packets),
        moved(|counts| counts.refused),
    );
    let received = (
        "received",
        sum(|thread| thread.received_packets),
        moved(|counts| counts.received),
    );
    let (what, threads, accounting) = [sent, refused, received]
        .into_iter()
        .find(|(_, threads, accounting)| threads != accounting)?;
    Some(format!(
        "{threads} datagrams {what} by the threads, but {accounting} by the accounting"
    ))
}

fn wrong_verification(sample: &Sample) -> Option<String> {
    let found = sample.verified?;
    let received = sample.accounting.at_end.received;
    if found.packets != received {
        return Some(format!(
            "{} datagrams verified, but {received} received",
            found.packets
        ));
    }
    let faulty = found.duplicated + found.reordered + found.corrupted;
    if faulty > found.packets || found.truncated > found.packets {
        return Some("more faulty datagrams than verified ones".to_owned());
    }
    let most = if found.reordered > 0 {
        found.packets
    } else {
        0
    };
    (found.reordering_extent > most).then(|| {
        format!(
            "{} of {most} datagrams came before one that was sent before them",
            found.reordering_extent
        )
    })
}
