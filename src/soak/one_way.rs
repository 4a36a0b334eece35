//! One-way delays, while both hosts' clocks have a bound. Without one there is no delay, only a difference of clocks.

use serde::{Deserialize, Serialize};

use super::counts::Counts;
use super::time_text;
use crate::data::Histogram;
use crate::stats::whole;
use crate::workload::probe::Return;

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

/// Counter of a minute.
#[derive(Debug, Default)]
pub(super) struct Counter {
    clocks: OneWayDelays,
    forward: Counts,
    back: Counts,
}

impl Counter {
    /// Counts a probe. `here_us` is the bound of this host's clock, 0 if it is not known.
    pub(super) fn take(&mut self, here_us: u32, found: &Return) {
        let there_us = found.state.clock_error_us;
        let clocks = &mut self.clocks;
        let grown = |before: u32, now: u32| if now == 0 { 0 } else { before.max(now) };
        clocks.here_us = grown(clocks.here_us, here_us);
        clocks.there_us = grown(clocks.there_us, there_us);
        if here_us == 0 || there_us == 0 {
            return;
        }
        let one_way = found.one_way;
        clocks.least_ns = clocks.least_ns.min(one_way.forward_ns).min(one_way.back_ns);
        self.forward
            .add(u64::try_from(one_way.forward_ns).unwrap_or(0));
        self.back.add(u64::try_from(one_way.back_ns).unwrap_or(0));
    }

    /// Returns the minute, and begins the next one.
    pub(super) fn end(&mut self) -> OneWayDelays {
        OneWayDelays {
            forward: self.forward.end(),
            back: self.back.end(),
            ..std::mem::take(&mut self.clocks)
        }
    }
}

/// One-way delays of the minutes in which the clocks were good enough.
#[derive(Clone, Debug, Default)]
pub(super) struct OneWaySummary {
    minutes: u64,
    used: u64,
    /// Largest sum of both bounds, of the used minutes.
    bound_us: u64,
    forward: Histogram,
    back: Histogram,
    /// Largest time by which a probe arrived before it was sent, beyond both bounds.
    impossible_ns: u64,
    /// The narrowest bound that was too wide, in microseconds, and half of the round trip then, in nanoseconds.
    too_wide: Option<(u64, u64)>,
    /// Flags of this and the other host: true if its clock had no bound at last.
    unknown: (bool, bool),
}

impl OneWaySummary {
    /// Adds a minute with this median of the round trips.
    pub(super) fn take(&mut self, minute: &OneWayDelays, rtt_ns: u64) {
        self.minutes += 1;
        self.unknown = (minute.here_us == 0, minute.there_us == 0);
        if minute.here_us == 0 || minute.there_us == 0 || minute.forward.count() == 0 {
            return;
        }
        let bound_us = u64::from(minute.here_us) + u64::from(minute.there_us);
        let before_ns = if minute.least_ns < 0 {
            minute.least_ns.unsigned_abs()
        } else {
            0
        };
        let impossible_ns = before_ns.saturating_sub(1000 * bound_us);
        self.impossible_ns = self.impossible_ns.max(impossible_ns);
        if 1000 * bound_us > rtt_ns / 2 {
            let least = self.too_wide.is_none_or(|(least, _)| bound_us < least);
            if least {
                self.too_wide = Some((bound_us, rtt_ns / 2));
            }
            return;
        }
        self.used += 1;
        self.bound_us = self.bound_us.max(bound_us);
        self.forward.add(&minute.forward);
        self.back.add(&minute.back);
    }

    /// Returns the delays with their bound, or why there are none. `host` is the other end.
    pub(super) fn line(&self, host: &str) -> String {
        if self.impossible_ns > 0 {
            let by = time_text(self.impossible_ns);
            return format!(
                "unknown: a clock is wrong by {by} more than its daemon says, as a probe came before it was sent"
            );
        }
        if self.used > 0 {
            let bound = time_text(1000 * self.bound_us);
            let part = if self.used < self.minutes {
                format!(", in {} of {} minutes", self.used, self.minutes)
            } else {
                String::new()
            };
            return format!(
                "forward {}; back {}; each +-{bound}, the bounds of both clocks{part}",
                quantiles(&self.forward),
                quantiles(&self.back)
            );
        }
        if let Some((bound_us, half_ns)) = self.too_wide {
            return format!(
                "unknown: the bounds of both clocks, +-{}, are wider than half a round trip, {}",
                time_text(1000 * bound_us),
                time_text(half_ns)
            );
        }
        if self.minutes == 0 {
            return "unknown: the log ends before a minute of it was over".to_owned();
        }
        let whose = match self.unknown {
            (true, true) => "either clock".to_owned(),
            (true, false) => "this host's clock".to_owned(),
            (false, _) => format!("the clock of {host}"),
        };
        format!("unknown: no daemon bounds the error of {whose}")
    }
}

fn quantiles(times: &Histogram) -> String {
    let text = |share| {
        times
            .quantile(share)
            .map_or_else(String::new, |ns| time_text(whole(ns)))
    };
    format!("median {}, 99th percentile {}", text(0.5), text(0.99))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::probe::{EchoState, OneWay};

    /// Returns a minute of probes of a round trip of 200 us, with clocks that differ.
    fn minute(here_us: u32, there_us: u32, ahead_ns: i64) -> OneWayDelays {
        let mut counter = Counter::default();
        for n in 0..100 {
            let one_way = OneWay {
                forward_ns: 120_000 + n + ahead_ns,
                back_ns: 80_000 + n - ahead_ns,
            };
            let state = EchoState {
                clock_error_us: there_us,
                ..EchoState::default()
            };
            counter.take(
                here_us,
                &Return {
                    rtt_ns: 200_000,
                    echo: 0,
                    one_way,
                    state,
                },
            );
        }
        counter.end()
    }

    fn line(minutes: &[OneWayDelays]) -> String {
        let mut summary = OneWaySummary::default();
        for minute in minutes {
            summary.take(minute, 200_000);
        }
        summary.line("board")
    }

    #[test]
    fn there_is_a_delay_only_with_a_bound_that_says_something() {
        for (found, expected) in [
            (
                line(&[minute(20, 22, 0)]),
                // The buckets of a minute are 3 % wide.
                "forward median 120 us, 99th percentile 120 us; back median 81 us, 99th percentile 81 us; \
                 each +-42 us, the bounds of both clocks",
            ),
            (
                line(&[minute(60, 41, 0), minute(90, 41, 0)]),
                "unknown: the bounds of both clocks, +-101 us, are wider than half a round trip, 100 us",
            ),
            (
                line(&[]),
                "unknown: the log ends before a minute of it was over",
            ),
            (
                line(&[minute(0, 0, 0)]),
                "unknown: no daemon bounds the error of either clock",
            ),
            (
                line(&[minute(0, 9, 0)]),
                "unknown: no daemon bounds the error of this host's clock",
            ),
            (
                line(&[minute(9, 0, 0)]),
                "unknown: no daemon bounds the error of the clock of board",
            ),
            (
                line(&[minute(10, 10, -300_000)]),
                "unknown: a clock is wrong by 160 us more than its daemon says, as a probe came before it was sent",
            ),
        ] {
            assert_eq!(found, expected);
        }
        let part = line(&[minute(9, 0, 0), minute(20, 30, 0)]);
        assert!(
            part.ends_with("each +-50 us, the bounds of both clocks, in 1 of 2 minutes"),
            "{part}"
        );
    }
}
