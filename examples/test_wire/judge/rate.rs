//! A rate that datagrams may have, and the bucket that holds them to it.
//!
//! The bucket is the generic cell rate algorithm in its form of virtual scheduling (ITU-T I.371): one time says
//! all about it, which is when the last datagram would have been sent at the rate. It needs no timer, and no
//! rounding adds up.

use std::time::Duration;

use super::datagram::Datagram;

/// Datagrams or bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rate {
    /// Datagrams per second.
    Datagrams(u64),
    /// Bits per second of Ethernet frames without their checksum, as TBF counts them.
    Bits(u64),
}

impl Rate {
    /// Reads `10000/s` (datagrams) or `20mbit/s`.
    ///
    /// # Errors
    /// What is wrong with it, and the fix.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let fix = "write 10000/s for datagrams or 20mbit/s for bits (bit, kbit, mbit, gbit)";
        let problem = || format!("{text:?} is not a rate: {fix}");
        let amount = text.strip_suffix("/s").ok_or_else(problem)?;
        let letters = amount.find(|c: char| !c.is_ascii_digit());
        let (number, unit) = amount.split_at(letters.unwrap_or(amount.len()));
        let number: u64 = number.parse().map_err(|_| problem())?;
        let times = |unit: u64| number.checked_mul(unit).map(Self::Bits);
        let rate = match unit {
            "" => Some(Self::Datagrams(number)),
            "bit" => times(1),
            "kbit" => times(1_000),
            "mbit" => times(1_000_000),
            "gbit" => times(1_000_000_000),
            _ => None,
        };
        rate.filter(|_| number > 0).ok_or_else(problem)
    }

    /// Returns the time that a datagram takes at this rate.
    fn cost(self, datagram: &Datagram) -> Duration {
        let (units, per_second) = match self {
            Self::Datagrams(rate) => (1, rate),
            Self::Bits(rate) => (u128::from(datagram.frame_bytes) * 8, rate),
        };
        let ns = units * 1_000_000_000 / u128::from(per_second);
        Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

/// Fill of a token bucket. Times count from one moment.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    rate: Rate,
    burst: u32,
    /// When the datagrams so far would have been sent, one after the other: the theoretical arrival time of the
    /// next one.
    sent_at: Duration,
    /// When the last one that waited starts.
    started: Duration,
}

impl Bucket {
    /// A full one, which lets `burst` datagrams pass at once; at least 1.
    pub(crate) fn new(rate: Rate, burst: u32) -> Self {
        Self {
            rate,
            burst,
            sent_at: Duration::ZERO,
            started: Duration::ZERO,
        }
    }

    /// Returns the earliest start of a datagram that comes now. If it starts then, call [`Bucket::take`].
    pub(crate) fn earliest_start(&self, datagram: &Datagram, now: Duration) -> Duration {
        let ahead = self.rate.cost(datagram) * (self.burst - 1);
        let start = self.sent_at.saturating_sub(ahead);
        start.max(now).max(self.started)
    }

    /// Accounts for a datagram that starts then.
    pub(crate) fn take(&mut self, datagram: &Datagram, start: Duration) {
        self.started = start;
        self.sent_at = self.sent_at.max(start) + self.rate.cost(datagram);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_rate_has_a_unit() {
        assert_eq!(Rate::parse("10000/s"), Ok(Rate::Datagrams(10_000)));
        assert_eq!(Rate::parse("20mbit/s"), Ok(Rate::Bits(20_000_000)));
        for text in ["10000", "0/s", "5mb/s", "99999999999gbit/s", "/s", "-1/s"] {
            let problem = Rate::parse(text).expect_err(text);
            assert!(problem.starts_with(&format!("{text:?} is not a rate: write ")));
        }
    }

    #[test]
    fn a_datagram_takes_the_time_of_its_bits() {
        let datagram = Datagram {
            frame_bytes: 1250,
            ..Datagram::default()
        };
        let cost = Rate::Bits(1_000_000).cost(&datagram);
        assert_eq!(cost, Duration::from_millis(10));
    }

    proptest! {
        #[test]
        fn no_period_has_more_than_the_rate_and_one_burst(
            gaps_us in prop::collection::vec(0_u64..3000, 1..200),
            rate in 100_u64..5000,
            burst in 1_u32..20,
        ) {
            let datagram = Datagram::default();
            let mut bucket = Bucket::new(Rate::Datagrams(rate), burst);
            let mut now = Duration::ZERO;
            let mut starts = Vec::new();
            for gap in gaps_us {
                now += Duration::from_micros(gap);
                let start = bucket.earliest_start(&datagram, now);
                prop_assert!(start >= now);
                bucket.take(&datagram, start);
                starts.push(start);
            }
            prop_assert!(starts.is_sorted());
            for (first, from) in starts.iter().enumerate() {
                for (last, to) in starts.iter().enumerate().skip(first) {
                    let allowed = to.saturating_sub(*from).as_secs_f64() * rate as f64 + f64::from(burst);
                    prop_assert!((last - first + 1) as f64 <= allowed + 0.001);
                }
            }
        }
    }
}
