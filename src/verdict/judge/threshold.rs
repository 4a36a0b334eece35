//! Threshold of changes that matter. Smaller changes are of no interest, however sure they are.

use std::fmt;
use std::str::FromStr;

use crate::term::percent;

/// Fraction of the value in the base.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Threshold(f64);

impl Threshold {
    const MAX_PCT: f64 = 50.0;

    /// Returns the threshold as a fraction.
    pub fn fraction(self) -> f64 {
        self.0
    }

    /// Returns the threshold as a logarithm, in the direction of a change: 2 % less is farther than 2 % more.
    pub(super) fn log(self, change: f64) -> f64 {
        if change < 0.0 {
            -(-self.0).ln_1p()
        } else {
            self.0.ln_1p()
        }
    }

    /// Returns the threshold in percent.
    pub fn percent(self) -> f64 {
        // 0.7 must not be shown as 0.7000000000000001.
        (self.0 * 1e8).round() / 1e6
    }
}

impl Default for Threshold {
    fn default() -> Self {
        Self(0.02)
    }
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match percent::parse_from_zero(text)? {
            percent if percent <= Self::MAX_PCT => Ok(Self(percent / 100.0)),
            _ => Err(format!(
                "{text:?} is out of range: write something from 0% to {}%",
                Self::MAX_PCT
            )),
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.percent())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_a_percentage_with_its_sign() {
        let read = |text: &str| text.parse::<Threshold>();
        assert_eq!(read("2%"), Ok(Threshold::default()));
        for text in ["0%", "0.5%", "0.7%", "50%"] {
            assert_eq!(read(text).map(|read| read.to_string()), Ok(text.to_owned()));
        }
        let fix = |text: &str| read(text).expect_err("refused");
        assert_eq!(fix("2"), "\"2\" has no unit: write 2%");
        assert!(fix("51%").ends_with("from 0% to 50%"), "{}", fix("51%"));
        for text in ["", "%", "-1%", "inf%", "x%", "2%%", "two", "NaN%"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
