//! Columns and warnings about the pacing of floods at a rate.

use super::rounding::decimals;
use super::{CaseWarning, derived};
use crate::data::{Arrivals, Case, EngineProperties, Group, Histogram, MOST_PER_TRAIN, Sample};

/// Returns the datagrams sent late in all windows. `None`: no datagram had a send time.
pub(super) fn late(samples: &[Sample]) -> Option<u64> {
    let late = samples.iter().filter_map(|sample| sample.pacing.as_ref());
    late.map(|pacing| pacing.late).reduce(|all, one| all + one)
}

/// Times from one datagram to the next, in all windows.
pub(super) struct Gaps {
    times: Histogram,
    /// `kernel` or `calls`.
    pub(super) source: &'static str,
}

impl Gaps {
    /// Collects the gaps by the kernel's transmit timestamps if every window has some, else by the ends of the send
    /// calls. `None`: no gaps.
    pub(super) fn of(samples: &[Sample]) -> Option<Self> {
        let pacings = || samples.iter().filter_map(|sample| sample.pacing.as_ref());
        let are_stamped = pacings().all(|pacing| pacing.transmit_gaps.count() > 0);
        let mut times = Histogram::default();
        for pacing in pacings() {
            times.add(if are_stamped {
                &pacing.transmit_gaps
            } else {
                &pacing.call_end_gaps
            });
        }
        let source = if are_stamped { "kernel" } else { "calls" };
        (times.count() > 0).then_some(Self { times, source })
    }

    /// Returns a quantile of the gaps, in microseconds. `None`: too few gaps.
    pub(super) fn quantile_us(&self, share: f64) -> Option<f64> {
        let are_enough = self.times.count() as f64 * (1.0 - share).min(share) >= 1.0;
        let ns = self.times.quantile(share).filter(|_| are_enough)?;
        Some(decimals::<3>(ns / 1e3))
    }

    pub(super) fn longest_us(&self) -> Option<f64> {
        Some(decimals::<3>(self.times.quantile(1.0)? / 1e3))
    }
}

/// Returns a warning with the rate that was sent if it is not the rate that was set.
pub(super) fn not_kept(
    case: &Case,
    sender: &EngineProperties,
    samples: &[Sample],
) -> Option<CaseWarning> {
    let rate = case.rate.filter(|_| case.is_paced())?;
    // The rate is per direction.
    let directions = if case.is_full_duplex() { 2.0 } else { 1.0 };
    let asked_pps = directions * rate.per_second(case.payload);
    let seconds: f64 = samples.iter().map(derived::window_seconds).sum();
    let sent: u64 = samples.iter().map(derived::sent).sum();
    let asked = asked_pps * seconds;
    let by_chance = by_chance(case, sender, samples.len(), asked) / asked;
    let sent_pps = sent as f64 / seconds;
    let off = (sent as f64 - asked).abs();
    (asked > 0.0 && off > asked * by_chance.max(0.02)).then_some(CaseWarning::RateNotKept {
        asked_pps,
        sent_pps,
    })
}

/// Returns by how many datagrams the number sent in these windows may differ from the number set while no thread is
/// late.
pub(crate) fn by_chance(case: &Case, sender: &EngineProperties, windows: usize, asked: f64) -> f64 {
    let train = match case.arrivals.unwrap_or_default() {
        Arrivals::Even => 0,
        Arrivals::Train(length) => length,
        // Four standard deviations.
        Arrivals::Poisson => return 4.0 * asked.sqrt(),
    };
    // One batch and one train of each thread, at both edges of each window.
    let at_once = burst(case, sender) + f64::from(train);
    let directions = if case.is_full_duplex() { 2.0 } else { 1.0 };
    let threads = directions * case.threads.senders() as f64;
    2.0 * at_once * threads * windows as f64
}

/// Returns the number of datagrams that a thread with this engine hands over at once.
pub(crate) fn burst(case: &Case, sender: &EngineProperties) -> f64 {
    match case.batch {
        _ if sender.group == Group::Offload => MOST_PER_TRAIN as f64,
        batch => batch.map_or(1.0, |batch| batch.count() as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Pacing, bucket_of};
    use crate::results::row::tests::six;

    /// Returns the warning for windows of 100 ms in which `sent` datagrams at a rate of 10,000 per second were sent.
    fn kept(key: &str, sent: u64) -> Option<CaseWarning> {
        of_engine("std:std", key, sent)
    }

    fn of_engine(engines: &str, key: &str, sent: u64) -> Option<CaseWarning> {
        let key = format!("{engines}/2t/125B/connected/v4{key}");
        let case = Case::of_key(&key).expect("a case");
        let mut samples = six();
        for sample in &mut samples {
            sample.threads[0].sent_packets = sent;
        }
        let sender = EngineProperties::known(case.sender).expect("a known engine");
        not_kept(&case, &sender, &samples)
    }

    #[test]
    fn a_rate_that_was_not_kept_is_said() {
        for rate in ["/rate10000", "/rate10Mbit"] {
            assert_eq!(kept(rate, 985), None, "{rate}");
            let said = kept(rate, 970).expect(rate);
            let expected = "9700 datagrams per second were sent instead of 10000 (late_packets)";
            assert!(said.to_string().contains(expected), "{said}");
        }
        assert_eq!(kept("/rate10000", 1015), None);
        let said = kept("/rate10000", 1030).expect("too many");
        assert!(said.to_string().contains("was late before"), "{said}");
        // The standard deviation of 6,000 random arrivals is 77; four times that is 5 %.
        assert_eq!(kept("/rate10000/poisson", 960), None);
        assert!(kept("/rate10000/poisson", 940).is_some());
        assert_eq!(kept("", 1), None, "no rate was given");
        assert_eq!(kept("/rr/rate10000", 1), None, "no flood");
        // One train at both edges.
        assert_eq!(of_engine("gso:gro", "/rate10000", 1000 - 250), None);
        assert!(of_engine("gso:gro", "/rate10000", 1000 - 260).is_some());
    }

    #[test]
    fn late_datagrams_are_those_of_all_windows() {
        let mut samples = six();
        assert_eq!(late(&samples), None);
        for sample in &mut samples {
            sample.pacing = Some(Pacing {
                late: 7,
                ..Pacing::default()
            });
        }
        assert_eq!(late(&samples), Some(42));
    }

    #[test]
    fn gaps_are_those_of_the_stamps_if_each_window_has_some() {
        let of_ns = |ns: u64| {
            let bucket = bucket_of(ns);
            Histogram::of_counts((0..=bucket).map(|it| if it == bucket { 50 } else { 0 }))
        };
        let mut samples = six();
        assert!(Gaps::of(&samples).is_none());
        for sample in &mut samples {
            sample.pacing = Some(Pacing {
                late: 0,
                transmit_gaps: of_ns(100_000),
                call_end_gaps: of_ns(200_000),
            });
        }
        let gaps = Gaps::of(&samples).expect("there are some");
        assert_eq!(gaps.source, "kernel");
        let median = gaps.quantile_us(0.5).expect("300 are enough");
        assert!((median / 100.0 - 1.0).abs() < 0.004, "{median}");
        assert!(gaps.quantile_us(0.99).is_some() && gaps.quantile_us(0.999).is_none());
        if let Some(pacing) = &mut samples[3].pacing {
            pacing.transmit_gaps = Histogram::default();
        }
        let gaps = Gaps::of(&samples).expect("there are some");
        assert_eq!(gaps.source, "calls");
        let longest = gaps.longest_us().expect("there is one");
        assert!((longest / 200.0 - 1.0).abs() < 0.004, "{longest}");
    }
}
