//! One-way delays, while both hosts' clocks have a bound. Without one there is no delay, only a difference of clocks.

use super::minute::Minute;
use crate::data::Histogram;
use crate::text::digits::whole;
use crate::time::time_text;

/// Returns the delays of the minutes in which the clocks were good enough, with their bound, or why there are none.
pub(super) fn one_way<'a>(minutes: impl Iterator<Item = &'a Minute>) -> String {
    let (mut minutes_seen, mut used, mut most_bound_ns) = (0, 0, 0);
    let (mut forward, mut back) = (Histogram::default(), Histogram::default());
    let mut why_not = "the log ends before a minute of it was over".to_owned();
    for minute in minutes {
        let (Some(delays), Some(rtt)) = (&minute.one_way, minute.rtt.quantile(0.5)) else {
            continue;
        };
        minutes_seen += 1;
        let whose = match (delays.here_us, delays.there_us) {
            (0, 0) => "either clock",
            (0, _) => "this host's clock",
            (_, 0) => "the other host's clock",
            _ => "",
        };
        if !whose.is_empty() {
            why_not = format!("no daemon bounds the error of {whose}");
            continue;
        }
        let bound_ns = 1000 * (u64::from(delays.here_us) + u64::from(delays.there_us));
        let before_ns = delays.least_ns.min(0).unsigned_abs();
        if before_ns > bound_ns {
            let by = time_text(before_ns - bound_ns);
            return format!(
                "unknown: a clock is wrong by {by} more than its daemon says, as a probe came before it was sent"
            );
        }
        let half_ns = whole(rtt) / 2;
        if bound_ns > half_ns {
            let [bound, half] = [bound_ns, half_ns].map(time_text);
            why_not = format!(
                "the bounds of both clocks, +-{bound}, are wider than half a round trip, {half}"
            );
            continue;
        }
        used += 1;
        most_bound_ns = most_bound_ns.max(bound_ns);
        forward.add(&delays.forward);
        back.add(&delays.back);
    }
    if used == 0 {
        return format!("unknown: {why_not}");
    }
    let part = if used < minutes_seen {
        format!(", in {used} of {minutes_seen} minutes")
    } else {
        String::new()
    };
    format!(
        "forward {}; back {}; each +-{}, the bounds of both clocks{part}",
        quantiles(&forward),
        quantiles(&back),
        time_text(most_bound_ns)
    )
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
    use crate::workload::probe::{EchoState, Fate, OneWay, ProbeOutcome, Return};

    /// Returns a minute of probes of a round trip of 200 us, with clocks that differ.
    fn minute(here_us: u32, there_us: u32, ahead_ns: i64) -> Minute {
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
            minutes.take(&ProbeOutcome { at_ns: 0, fate }, here_us);
        }
        minutes.finish().expect("probes")
    }

    fn line(minutes: &[Minute]) -> String {
        one_way(minutes.iter())
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
