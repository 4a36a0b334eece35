//! Counts of a minute of a soak.

use serde::{Deserialize, Serialize};

use crate::data::{BUCKETS, Histogram, bucket_of};
use crate::text::digits::whole;
use crate::workload::probe::{Fate, ProbeOutcome, Return};

/// Length, in nanoseconds.
const LENGTH_NS: u64 = 60_000_000_000;
/// Buckets of the histogram that are counted as one, so that a minute takes up few kilobytes: no bucket is wider than
/// 1/32 of its times.
const BUCKETS_AS_ONE: usize = 4;

/// Counts of the probes that were due in some time. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probes {
    /// Start of the time, since the start of the soak.
    pub start_ns: u64,
    /// Its length.
    pub length_ns: u64,
    /// Probes that were sent.
    pub sent: u64,
    /// Probes that returned in time.
    pub returned: u64,
    /// Probes that the kernel refused to send.
    pub refused: u64,
    /// Probes that this host was too late to send.
    pub unsent: u64,
}

impl Probes {
    /// Returns the end of the time.
    pub fn end_ns(&self) -> u64 {
        self.start_ns + self.length_ns
    }

    /// Adds the counts of a later time.
    pub fn add(&mut self, other: &Self) {
        self.length_ns += other.length_ns;
        self.sent += other.sent;
        self.returned += other.returned;
        self.refused += other.refused;
        self.unsent += other.unsent;
    }
}

/// Counts of a minute, or of its part at the end. Times are in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Minute {
    /// Its probes.
    #[serde(flatten)]
    pub probes: Probes,
    /// Events that are not in the log, as there were too many.
    #[serde(default)]
    pub unlisted: u64,
    /// Silence of these.
    #[serde(default)]
    pub unlisted_silent_ns: u64,
    /// Longest round-trip time.
    pub longest_ns: u64,
    /// Round-trip times.
    pub rtt: Histogram,
    /// One-way delays. `None`: both ends are one host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_way: Option<OneWayDelays>,
}

/// Clocks and one-way delays of a minute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OneWayDelays {
    /// Bound of the error of this host's clock, in microseconds: the largest. 0: at the end, none was known.
    pub here_us: u32,
    /// Bound of the error of the other host's clock, in the same unit.
    pub there_us: u32,
    /// The least of 0 and all delays of both directions. Below 0: the clocks differ by more than a delay.
    pub least_ns: i64,
    /// Delays from this host to the other, of probes for which both bounds were known.
    pub forward: Histogram,
    /// Delays back.
    pub back: Histogram,
}

/// Counts of times, in few buckets.
#[derive(Debug)]
struct Times(Vec<u64>);

impl Times {
    fn new() -> Self {
        Self(vec![0; BUCKETS])
    }

    fn add(&mut self, ns: u64) {
        let bucket = bucket_of(ns);
        self.0[bucket - bucket % BUCKETS_AS_ONE + BUCKETS_AS_ONE / 2] += 1;
    }

    /// Returns the counts, and begins again.
    fn end(&mut self) -> Histogram {
        let counts = Histogram::of_counts(self.0.iter().copied());
        self.0.fill(0);
        counts
    }
}

/// Counter of outcomes by minute.
#[derive(Debug)]
pub struct Minutes {
    gap_ns: u64,
    minute: Minute,
    rtt: Times,
    forward: Times,
    back: Times,
    has_two_hosts: bool,
}

impl Minutes {
    /// Returns a counter of probes that are this far apart. It counts one-way delays between two hosts.
    pub fn new(gap_ns: f64, has_two_hosts: bool) -> Self {
        Self {
            gap_ns: whole(gap_ns),
            minute: Minute::default(),
            rtt: Times::new(),
            forward: Times::new(),
            back: Times::new(),
            has_two_hosts,
        }
    }

    /// Counts an outcome. Returns the minute before if it is over. `clock_error_us` is the bound of this host's clock,
    /// 0 if it is not known.
    pub fn take(&mut self, outcome: &ProbeOutcome, clock_error_us: u32) -> Option<Minute> {
        let over = outcome.at_ns >= self.minute.probes.start_ns + LENGTH_NS;
        let over = over.then(|| self.end(outcome.at_ns));
        let probes = &mut self.minute.probes;
        probes.length_ns = outcome.at_ns + self.gap_ns - probes.start_ns;
        match outcome.fate {
            Fate::Returned(found) => {
                probes.sent += 1;
                probes.returned += 1;
                self.minute.longest_ns = self.minute.longest_ns.max(found.rtt_ns);
                self.rtt.add(found.rtt_ns);
                if self.has_two_hosts {
                    self.take_one_way(clock_error_us, &found);
                }
            }
            Fate::Lost => probes.sent += 1,
            Fate::Refused(_) => probes.refused += 1,
            Fate::Unsent => probes.unsent += 1,
        }
        over
    }

    fn take_one_way(&mut self, here_us: u32, found: &Return) {
        let there_us = found.state.clock_error_us;
        let delays = self.minute.one_way.get_or_insert_default();
        let grown = |before: u32, now: u32| if now == 0 { 0 } else { before.max(now) };
        delays.here_us = grown(delays.here_us, here_us);
        delays.there_us = grown(delays.there_us, there_us);
        if here_us == 0 || there_us == 0 {
            return;
        }
        let [forward_ns, back_ns] = [found.one_way.forward_ns, found.one_way.back_ns];
        delays.least_ns = delays.least_ns.min(forward_ns).min(back_ns);
        self.forward.add(u64::try_from(forward_ns).unwrap_or(0));
        self.back.add(u64::try_from(back_ns).unwrap_or(0));
    }

    /// Returns the counts of the minute that is not over.
    pub fn so_far(&self) -> Probes {
        self.minute.probes
    }

    /// Returns the rest. `None`: there was no outcome.
    pub fn finish(&mut self) -> Option<Minute> {
        (self.minute.probes.length_ns > 0).then(|| self.end(0))
    }

    fn end(&mut self, next_start_ns: u64) -> Minute {
        let mut minute = std::mem::take(&mut self.minute);
        self.minute.probes.start_ns = next_start_ns;
        minute.rtt = self.rtt.end();
        if self.has_two_hosts {
            let delays = minute.one_way.get_or_insert_default();
            delays.forward = self.forward.end();
            delays.back = self.back.end();
        }
        minute
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::probe::{EchoState, OneWay};

    #[test]
    fn every_outcome_is_in_one_minute() {
        let gap_ns = 10_000_000_u64;
        let mut minutes = Minutes::new(gap_ns as f64, false);
        let mut found = Vec::new();
        for n in 0..15_000 {
            let fate = match n % 10 {
                0 => Fate::Lost,
                1 => Fate::Unsent,
                2 => Fate::Refused(1),
                _ => Fate::Returned(Return {
                    rtt_ns: 80_000 + n,
                    echo: 0,
                    one_way: OneWay::default(),
                    state: EchoState::default(),
                }),
            };
            let at_ns = n * gap_ns;
            found.extend(minutes.take(&ProbeOutcome { at_ns, fate }, 0));
        }
        found.extend(minutes.finish());
        let lengths: Vec<u64> = found
            .iter()
            .map(|it| it.probes.length_ns / 1_000_000_000)
            .collect();
        assert_eq!(lengths, [60, 60, 30]);
        let sum = |of: fn(&Minute) -> u64| found.iter().map(of).sum::<u64>();
        assert_eq!(sum(|it| it.probes.sent), 12_000);
        assert_eq!(sum(|it| it.probes.returned), 10_500);
        assert_eq!(
            (sum(|it| it.probes.refused), sum(|it| it.probes.unsent)),
            (1500, 1500)
        );
        assert_eq!(sum(|it| it.rtt.count()), 10_500);
    }
}
