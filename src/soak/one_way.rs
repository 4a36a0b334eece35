//! One-way delays, while both hosts' clocks have a bound. Without one there is no delay, only a difference of clocks.

use super::minute::OneWayDelays;
use super::time_text;
use crate::data::Histogram;
use crate::stats::whole;

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
    /// Why the last minute that was not used is not.
    why_not: Option<String>,
}

impl OneWaySummary {
    /// Adds a minute with this median of the round trips.
    pub(super) fn take(&mut self, minute: &OneWayDelays, rtt_ns: u64) {
        self.minutes += 1;
        let whose = match (minute.here_us, minute.there_us) {
            (0, 0) => "either clock",
            (0, _) => "this host's clock",
            (_, 0) => "the other host's clock",
            _ => "",
        };
        if !whose.is_empty() {
            self.why_not = Some(format!("no daemon bounds the error of {whose}"));
            return;
        }
        let bound_us = u64::from(minute.here_us) + u64::from(minute.there_us);
        let before_ns = minute.least_ns.min(0).unsigned_abs();
        let impossible_ns = before_ns.saturating_sub(1000 * bound_us);
        self.impossible_ns = self.impossible_ns.max(impossible_ns);
        if 1000 * bound_us > rtt_ns / 2 {
            let [bound, half] = [1000 * bound_us, rtt_ns / 2].map(time_text);
            self.why_not = Some(format!(
                "the bounds of both clocks, +-{bound}, are wider than half a round trip, {half}"
            ));
            return;
        }
        self.used += 1;
        self.bound_us = self.bound_us.max(bound_us);
        self.forward.add(&minute.forward);
        self.back.add(&minute.back);
    }

    /// Returns the delays with their bound, or why there are none.
    pub(super) fn line(&self) -> String {
        if self.impossible_ns > 0 {
            let by = time_text(self.impossible_ns);
            return format!(
                "unknown: a clock is wrong by {by} more than its daemon says, as a probe came before it was sent"
            );
        }
        if self.used == 0 {
            let too_early = "the log ends before a minute of it was over";
            return format!("unknown: {}", self.why_not.as_deref().unwrap_or(too_early));
        }
        let part = if self.used < self.minutes {
            format!(", in {} of {} minutes", self.used, self.minutes)
        } else {
            String::new()
        };
        format!(
            "forward {}; back {}; each +-{}, the bounds of both clocks{part}",
            quantiles(&self.forward),
            quantiles(&self.back),
            time_text(1000 * self.bound_us)
        )
    }
}

/// Returns the median and the 99th percentile in words.
pub(super) fn quantiles(times: &Histogram) -> String {
    let text = |share| times.quantile(share).map(|ns| time_text(whole(ns)));
    let [median, p99] = [text(0.5), text(0.99)].map(Option::unwrap_or_default);
    format!("median {median}, 99th percentile {p99}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soak::minute::Minutes;
    use crate::workload::probe::{EchoState, Fate, OneWay, Outcome, Return};

    /// Returns a minute of probes of a round trip of 200 us, with clocks that differ.
    fn minute(here_us: u32, there_us: u32, ahead_ns: i64) -> OneWayDelays {
        let mut minutes = Minutes::new(1e6, true);
        for n in 0..100 {
            let one_way = OneWay {
                forward_ns: 120_000 + n + ahead_ns,
                back_ns: 80_000 + n - ahead_ns,
            };
            let state = EchoState {
                clock_error_us: there_us,
                ..EchoState::default()
            };
            let found = Return {
                rtt_ns: 200_000,
                echo: 0,
                one_way,
                state,
            };
            let fate = Fate::Returned(found);
            minutes.take(&Outcome { at_ns: 0, fate }, here_us);
        }
        let minute = minutes.finish().expect("probes");
        minute.one_way.expect("two hosts")
    }

    fn line(minutes: &[OneWayDelays]) -> String {
        let mut summary = OneWaySummary::default();
        for minute in minutes {
            summary.take(minute, 200_000);
        }
        summary.line()
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
                "unknown: the bounds of both clocks, +-131 us, are wider than half a round trip, 100 us",
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
                "unknown: no daemon bounds the error of the other host's clock",
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
