//! Counts of a minute of a soak.

use serde::{Deserialize, Serialize};

use super::counts::Counts;
use super::one_way::{self, OneWayDelays};
use crate::data::Histogram;
use crate::workload::probe::{Fate, Outcome};

/// Length, in nanoseconds.
const LENGTH_NS: u64 = 60_000_000_000;

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

/// Counter of outcomes by minute.
#[derive(Debug)]
pub struct Minutes {
    gap_ns: f64,
    minute: Minute,
    counts: Counts,
    /// `None`: both ends are one host.
    one_way: Option<one_way::Counter>,
}

impl Minutes {
    /// Returns a counter of probes that are this far apart, over loopback.
    pub fn new(gap_ns: f64) -> Self {
        Self {
            gap_ns,
            minute: Minute::default(),
            counts: Counts::default(),
            one_way: None,
        }
    }

    /// Counts one-way delays as well, between two hosts.
    #[must_use]
    pub fn with_one_way(mut self) -> Self {
        self.one_way = Some(one_way::Counter::default());
        self
    }

    /// Counts an outcome. Returns the minute before if it is over. `clock_error_us` is the bound of this host's clock, 0
    /// if it is not known.
    pub fn take(&mut self, outcome: &Outcome, clock_error_us: u32) -> Option<Minute> {
        let over = outcome.at_ns >= self.minute.probes.start_ns + LENGTH_NS;
        let over = over.then(|| self.end(outcome.at_ns));
        let minute = &mut self.minute;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a second at most"
        )]
        let gap_ns = self.gap_ns as u64;
        let probes = &mut minute.probes;
        probes.length_ns = outcome.at_ns + gap_ns - probes.start_ns;
        match outcome.fate {
            Fate::Returned(found) => {
                probes.sent += 1;
                probes.returned += 1;
                minute.longest_ns = minute.longest_ns.max(found.rtt_ns);
                self.counts.add(found.rtt_ns);
                if let Some(one_way) = &mut self.one_way {
                    one_way.take(clock_error_us, &found);
                }
            }
            Fate::Lost => probes.sent += 1,
            Fate::Refused(_) => probes.refused += 1,
            Fate::Unsent => probes.unsent += 1,
        }
        over
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
        let mut next = Minute::default();
        next.probes.start_ns = next_start_ns;
        let mut minute = std::mem::replace(&mut self.minute, next);
        minute.rtt = self.counts.end();
        minute.one_way = self.one_way.as_mut().map(one_way::Counter::end);
        minute
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::probe::{EchoState, OneWay, Return};

    #[test]
    fn every_outcome_is_in_one_minute() {
        let gap_ns = 10_000_000_u64;
        let mut minutes = Minutes::new(gap_ns as f64);
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
            found.extend(minutes.take(&Outcome { at_ns, fate }, 0));
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
