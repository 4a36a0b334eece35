//! Formats changes as percentages.

use super::Change;

/// Returns the estimate, or nothing if there is no change to tell.
pub(crate) fn estimate(change: Option<Change>) -> String {
    change.map_or_else(String::new, |change| percent(change.estimate))
}

/// Returns the interval as `low..high`, or nothing if there is no change to tell.
pub(crate) fn interval(change: Option<Change>) -> String {
    let text = |change: Change| format!("{}..{}", percent(change.low), percent(change.high));
    change.map_or_else(String::new, text)
}

/// Formats a fraction in percent, always with a sign, without `%`: one decimal below 100 %, none from there on, `>999` above 999 %.
pub(crate) fn percent(fraction: f64) -> String {
    // Adding 0 removes the sign of a zero.
    match (1000.0 * fraction).round() / 10.0 + 0.0 {
        percent if percent > 999.0 => ">999".to_owned(),
        percent if percent.abs() >= 99.95 => format!("{percent:+.0}"),
        percent => format!("{percent:+.1}"),
    }
}
