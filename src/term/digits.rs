//! Rounding of numbers by the width of their interval, and text for the interval.

/// Returns the number of decimals that show the first digit of half of an interval, or one more. 3 at most.
#[must_use]
pub fn decimals(half_width: f64) -> usize {
    match half_width {
        _ if half_width >= 10.0 => 0,
        _ if half_width >= 0.1 => 1,
        _ if half_width >= 0.01 => 2,
        _ => 3,
    }
}

/// Fraction of the longer side of an interval below which the shorter side is shown by itself.
const LOPSIDED: f64 = 0.5;
/// Smallest length of the longer side, in percent, for which two sides are shown: shorter ones look alike in one
/// decimal.
const LEAST_PCT: f64 = 0.2;

/// Returns the reach of an interval to either side of its middle, in percent of the middle: half of the interval,
/// `5.1`, or both sides if one is less than half of the other, `-8.5/+1.8`. `>99` if half of the interval would reach
/// below zero. `None`: the middle is not positive.
#[must_use]
pub fn reach_pct(middle: f64, low: f64, high: f64) -> Option<String> {
    if middle.is_nan() || middle <= 0.0 {
        return None;
    }
    let pct = |part: f64| 100.0 * part / middle;
    let (below, above, half) = (pct(middle - low), pct(high - middle), pct(high - low) / 2.0);
    let shown = |pct: f64| match pct {
        _ if pct.abs() >= 9.95 => format!("{pct:.0}"),
        _ => format!("{:.1}", pct.max(0.0)),
    };
    let (less, more) = (below.min(above), below.max(above));
    Some(match half {
        _ if half > 99.0 => ">99".to_owned(),
        _ if less < LOPSIDED * more && more >= LEAST_PCT => {
            format!("-{}/+{}", shown(below), shown(above))
        }
        _ => format!("{half:.1}"),
    })
}

#[cfg(test)]
mod tests {
    use super::{decimals, reach_pct};

    #[test]
    fn a_wide_interval_leaves_fewer_decimals() {
        let halves = [0.0, 0.004, 0.04, 0.4, 4.0, 40.0, f64::NAN];
        assert_eq!(halves.map(decimals), [3, 3, 2, 1, 1, 0, 3]);
    }

    #[test]
    fn an_interval_with_unlike_sides_shows_both() {
        for (low, high, shown) in [
            (94.9, 105.1, "5.1"),
            (91.5, 101.8, "-8.5/+1.8"),
            (98.0, 104.1, "-2.0/+4.1"),
            (98.0, 103.9, "3.0"),
            (62.0, 112.0, "-38/+12"),
            (90.0, 100.0, "-10/+0.0"),
            (1.0, 280.0, ">99"),
            (20.0, 210.0, "95.0"),
            (5.0, 105.0, "-95/+5.0"),
            (99.85, 100.0, "0.1"),
            (100.0, 100.0, "0.0"),
            // A middle outside of its interval.
            (101.0, 103.0, "-0.0/+3.0"),
        ] {
            assert_eq!(reach_pct(100.0, low, high).as_deref(), Some(shown));
        }
        assert_eq!(reach_pct(0.0, 0.0, 1.0), None);
        assert_eq!(reach_pct(f64::NAN, 0.0, 1.0), None);
    }
}
