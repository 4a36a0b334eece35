//! Rates in requests or datagrams per second, or in bits per second, and their text forms.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Payload;
use super::bounded::{bounded, text_form};

bounded! {
    /// Requests or datagrams per second, the sum of all sending threads: 1 to [`Rate::MAX`]. Parsed from a number, or
    /// from thousands or millions: `20k`, `1.5M`.
    Rate(u32, "u32", rate), 1, Self::MAX,
    "use a number per second from {} to {}, such as 20000 or 20k, or bits of payload per second, such as 100Mbit"
}

impl Rate {
    /// Maximum. No kernel reaches it.
    pub const MAX: u32 = 100_000_000;

    /// Returns the number per second.
    pub fn per_second(self) -> f64 {
        f64::from(self.0)
    }

    /// Returns the nearest whole rate within the limits.
    pub fn nearest(per_second: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "within the limits"
        )]
        let whole = per_second.round().clamp(1.0, f64::from(Self::MAX)) as u32;
        Self(whole)
    }
}

/// Target rate: in datagrams or requests per second, or in bits of payload per second like `iperf3 -b`: `100Mbit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AskedRate {
    /// Datagrams or requests per second.
    Datagrams(Rate),
    /// Bits of UDP payload per second.
    Bits(BitRate),
}

/// Bits of UDP payload per second: 1 to 10^12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BitRate(u64);

impl BitRate {
    const MAX: u64 = 1_000_000_000_000;
    /// Units, with their number of zeros and their factor. Powers of 1000, not of 1024, as is usual for network
    /// interfaces.
    const UNITS: [(&'static str, usize, u64); 4] = [
        ("Gbit", 9, 1_000_000_000),
        ("Mbit", 6, 1_000_000),
        ("kbit", 3, 1000),
        ("bit", 0, 1),
    ];
    const FIX: &str = "use bits of payload per second, such as 100Mbit";

    fn parse(text: &str) -> Option<Self> {
        let mut units = Self::UNITS.iter();
        let (number, zeros) =
            units.find_map(|&(unit, zeros, _)| Some((text.strip_suffix(unit)?, zeros)))?;
        let bits = scaled(number, zeros).filter(|bits| (1..=Self::MAX).contains(bits))?;
        Some(Self(bits))
    }

    fn text(self) -> String {
        let mut units = Self::UNITS.iter();
        let (unit, _, times) = units
            .find(|(_, _, times)| self.0 % times == 0)
            .expect("any rate is a number of bits");
        format!("{}{unit}", self.0 / times)
    }
}

text_form!(BitRate);

impl AskedRate {
    /// Returns the datagrams or requests of this payload per second, the sum of all threads. Infinite for a rate in
    /// bits and an empty payload.
    pub fn per_second(self, payload: Payload) -> f64 {
        match self {
            Self::Datagrams(rate) => rate.per_second(),
            Self::Bits(BitRate(bits)) => bits as f64 / (8.0 * f64::from(u32::from(payload))),
        }
    }

    /// Returns the reason why this rate is impossible with this payload. `None`: it is possible.
    pub fn refusal(self, payload: Payload) -> Option<String> {
        let per_second = self.per_second(payload);
        if payload == Payload::MIN && matches!(self, Self::Bits(_)) {
            return Some(format!(
                "--rate {self}: datagrams without payload have no bits of it; use a rate in datagrams, such as 20k"
            ));
        }
        let is_possible = (1.0..=f64::from(Rate::MAX)).contains(&per_second);
        (!is_possible).then(|| {
            format!(
                "--rate {self} is {per_second:.3} datagrams of {payload} B per second: use a rate that makes 1 to {}",
                Rate::MAX
            )
        })
    }
}

impl From<Rate> for AskedRate {
    fn from(rate: Rate) -> Self {
        Self::Datagrams(rate)
    }
}

impl FromStr for AskedRate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.ends_with("bit") {
            let bits = BitRate::parse(text).map(Self::Bits);
            return bits.ok_or_else(Rate::fix);
        }
        let datagrams = text.parse().map(Self::Datagrams);
        datagrams.map_err(|fix| match text.strip_suffix('G') {
            Some(number) if scaled(number, 9).is_some() => {
                format!("for bits of payload per second, write {number}Gbit; otherwise, {fix}")
            }
            _ => fix,
        })
    }
}

impl fmt::Display for AskedRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Datagrams(rate) => rate.fmt(f),
            Self::Bits(bits) => bits.fmt(f),
        }
    }
}

/// Parses a number and multiplies it by 10^`zeros`. It may have up to `zeros` decimals: 1.5k is 1500.
fn scaled(number: &str, zeros: usize) -> Option<u64> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let is_number = !whole.is_empty() && !number.ends_with('.') && decimals.len() <= zeros;
    let digits = format!("{whole}{decimals:0<zeros$}");
    let is_number = is_number && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

/// Parses a number per second: `20000`, `20k`, `1.5M`. `None`: not a number, or too large for its type.
fn thousands<T: TryFrom<u64>>(text: &str) -> Option<T> {
    let (number, zeros) = match text.split_at_checked(text.len().saturating_sub(1)) {
        Some((number, "k")) => (number, 3),
        Some((number, "M")) => (number, 6),
        _ => (text, 0),
    };
    T::try_from(scaled(number, zeros)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_understood_as_people_type_them() {
        for (text, rate) in [
            ("1", 1),
            ("20k", 20_000),
            ("1.5M", 1_500_000),
            ("16.1k", 16_100),
            ("1.001k", 1001),
            ("8.2M", 8_200_000),
            ("100000000", 100_000_000),
        ] {
            assert_eq!(text.parse(), Ok(Rate(rate)), "{text}");
            assert_eq!(text.parse(), Ok(AskedRate::Datagrams(Rate(rate))), "{text}");
        }
        for text in [
            "", "0", "k", "-1", "1e3", "1.0001k", "0.5", "1.", ".5k", "1.5", "1..5k", "+1", "101M",
            "20K", "inf", "\u{e9}",
        ] {
            text.parse::<Rate>().expect_err(text);
            text.parse::<AskedRate>().expect_err(text);
        }
    }

    #[test]
    fn bits_are_understood_and_written_with_the_largest_unit() {
        for (text, bits, shown) in [
            ("1bit", 1, "1bit"),
            ("9600bit", 9600, "9600bit"),
            ("64000bit", 64_000, "64kbit"),
            ("1.5Mbit", 1_500_000, "1500kbit"),
            ("100Mbit", 100_000_000, "100Mbit"),
            ("1000Mbit", 1_000_000_000, "1Gbit"),
            ("2.5Gbit", 2_500_000_000, "2500Mbit"),
        ] {
            let rate = text.parse::<AskedRate>().expect(text);
            assert_eq!(rate, AskedRate::Bits(BitRate(bits)), "{text}");
            assert_eq!(rate.to_string(), shown, "{text}");
            assert_eq!(shown.parse(), Ok(rate), "{text}");
        }
        for text in [
            "bit", "0Mbit", "1mbit", "1.5bit", "-1Mbit", "1001Gbit", "1Mbit/s", "1Tbit",
        ] {
            text.parse::<AskedRate>().expect_err(text);
        }
    }

    #[test]
    fn giga_without_a_unit_is_taken_for_bits() {
        let said = "10G".parse::<AskedRate>().expect_err("no unit");
        assert!(said.contains("write 10Gbit"), "{said}");
        let said = "xG".parse::<AskedRate>().expect_err("no number");
        assert!(!said.contains("Gbit"), "{said}");
    }

    #[test]
    fn a_rate_in_bits_depends_on_the_payload() {
        let rate = |text: &str| text.parse::<AskedRate>().expect(text);
        let payload = |bytes: u32| Payload::try_from(bytes).expect("in range");
        let found = rate("100Mbit").per_second(payload(1250));
        assert!((found - 10_000.0).abs() < 1e-6, "{found}");
        assert_eq!(rate("100Mbit").refusal(payload(1250)), None);
        assert_eq!(rate("20k").refusal(payload(0)), None);
        for (text, bytes, why) in [
            ("100Mbit", 0, "without payload have no bits"),
            ("1kbit", 1250, "0.100 datagrams of 1250 B"),
            ("1000Gbit", 1, "125000000000.000 datagrams"),
        ] {
            let said = rate(text).refusal(payload(bytes)).expect(text);
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn the_nearest_rate_is_within_the_limits() {
        for (per_second, expected) in [(0.0, 1), (1234.5, 1235), (1e12, Rate::MAX)] {
            assert_eq!(u32::from(Rate::nearest(per_second)), expected);
        }
    }
}
