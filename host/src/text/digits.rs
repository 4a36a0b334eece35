//! Rounding of numbers by the width of their interval, and text for the interval.

use std::fmt::Display;

/// Returns the number of decimals, 0 to 3, for a value whose interval has this half-width.
#[must_use]
pub fn decimals(half_width: f64) -> usize {
    if half_width >= 10.0 {
        0
    } else if half_width >= 0.1 {
        1
    } else if half_width >= 0.01 {
        2
    } else {
        3
    }
}

/// Returns the number of decimals for a value whose uncertainty is unknown: more than two digits would claim to know
/// it.
#[must_use]
pub fn decimals_without_interval(value: f64) -> usize {
    match value.abs() {
        size if size >= 9.95 => 0,
        size if size >= 0.995 => 1,
        size if size >= 0.0995 => 2,
        _ => 3,
    }
}

/// Formats a count with its noun: `1 case`, `2 cases`.
#[must_use]
pub fn counted(count: impl Display, noun: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Formats a count with its noun and its verb: `1 case was`, `2 cases were`.
#[must_use]
pub fn counted_with_verb(count: impl Display, noun: &str) -> String {
    let counted = counted(count, noun);
    let verb = if counted.starts_with("1 ") {
        "was"
    } else {
        "were"
    };
    format!("{counted} {verb}")
}

/// Both sides of an interval are shown if the shorter one is less than this fraction of the longer one.
const ASYMMETRY_RATIO: f64 = 0.5;
/// Both sides are shown only if the longer one has at least this length, in percent: shorter ones look alike in one
/// decimal.
const MIN_SHOWN_PCT: f64 = 0.2;

/// Half of an interval is shown up to this width, in percent. Nothing is less by 100 % or more, so that a wider
/// interval never has two like sides.
const MAX_HALF_PCT: f64 = 99.0;

/// Formats the width of an interval, in percent of its middle: half of it, `5.1`; or the parts below and above the
/// middle, `-8.5/+1.8`, if one is less than half of the other, or if they are together wider than the middle is high.
/// `None`: the middle is not positive.
#[must_use]
pub fn interval_text(middle: f64, low: f64, high: f64) -> Option<String> {
    if middle.is_nan() || middle <= 0.0 {
        return None;
    }
    let pct = |part: f64| 100.0 * part / middle;
    let (below, above, half) = (pct(middle - low), pct(high - middle), pct(high - low) / 2.0);
    let (shorter, longer) = (below.min(above), below.max(above));
    let is_skew = shorter < ASYMMETRY_RATIO * longer && longer >= MIN_SHOWN_PCT;
    let side = |pct: f64| match pct.abs() {
        huge if huge >= 9999.5 => format!("{pct:.0e}"),
        large if large >= 9.95 => format!("{pct:.0}"),
        _ => format!("{:.1}", pct.max(0.0)),
    };
    Some(if is_skew || half > MAX_HALF_PCT {
        format!("-{}/+{}", side(below), side(above))
    } else {
        format!("{half:.1}")
    })
}

/// Formats an [`interval_text`] for a sentence or a table whose cells name the unit: `+-5.1`, or both sides.
#[must_use]
pub fn signed(interval_text: &str) -> String {
    if interval_text.starts_with('-') {
        interval_text.to_owned()
    } else {
        format!("+-{interval_text}")
    }
}

/// Returns a number with the given decimals as text, or with fewer if it is large, because columns are narrow.
/// Empty: unknown.
pub fn number(value: Option<f64>, decimals: usize) -> String {
    match value {
        None => String::new(),
        Some(value) if value >= 1e7 => format!("{:.0}M", value / 1e6),
        Some(value) if value >= 1e6 => format!("{:.0}k", value / 1e3),
        Some(value) if value >= 1e3 => format!("{value:.0}"),
        Some(value) => format!("{value:.decimals$}"),
    }
}

/// Returns a number without its decimals; 0 for negative ones, the largest possible one for larger ones.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates at both ends"
)]
pub fn whole(number: f64) -> u64 {
    number as u64
}

/// Returns a number as [`whole`] does, for counts that have 32 bits.
pub fn whole_u32(number: f64) -> u32 {
    u32::try_from(whole(number)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{counted, counted_with_verb};
    use super::{decimals, decimals_without_interval, interval_text, signed};

    #[test]
    fn one_is_singular() {
        let numbers = [0_u64, 1, 2, u64::MAX].map(|count| counted(count, "case"));
        let many = format!("{} cases", u64::MAX);
        assert_eq!(numbers, ["0 cases", "1 case", "2 cases", &many]);
        let said = [1_usize, 2].map(|count| counted_with_verb(count, "trial"));
        assert_eq!(said, ["1 trial was", "2 trials were"]);
    }

    #[test]
    fn a_wide_interval_leaves_fewer_decimals() {
        let halves = [0.0, 0.004, 0.04, 0.4, 4.0, 40.0, f64::NAN];
        assert_eq!(halves.map(decimals), [3, 3, 2, 1, 1, 0, 3]);
    }

    #[test]
    fn a_value_of_unknown_uncertainty_has_two_digits() {
        let values = [0.0123, 0.094, 0.9, 1.07, 9.94, 12.3, -356.7];
        let shown = values.map(|value| format!("{value:.*}", decimals_without_interval(value)));
        assert_eq!(
            shown,
            ["0.012", "0.094", "0.90", "1.1", "9.9", "12", "-357"]
        );
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
            (1.0, 280.0, "-99/+180"),
            (0.0, 2e6, "-100/+2e6"),
            (72.0, 101.0, "-28/+1.0"),
            (20.0, 210.0, "95.0"),
            (5.0, 105.0, "-95/+5.0"),
            (99.85, 100.0, "0.1"),
            (100.0, 100.0, "0.0"),
            // A middle outside of its interval.
            (101.0, 103.0, "-0.0/+3.0"),
        ] {
            assert_eq!(interval_text(100.0, low, high).as_deref(), Some(shown));
        }
        assert_eq!(signed("5.1"), "+-5.1");
        assert_eq!(signed("-8.5/+1.8"), "-8.5/+1.8");
        assert_eq!(interval_text(0.0, 0.0, 1.0), None);
        assert_eq!(interval_text(f64::NAN, 0.0, 1.0), None);
    }
}
