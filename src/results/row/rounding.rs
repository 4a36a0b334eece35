//! Rounding of numbers in rows.

use std::time::Duration;

/// Rounds a number to `PLACES` decimals, to avoid exponents in spreadsheets and meaningless digits.
pub(super) fn decimals<const PLACES: u8>(value: f64) -> f64 {
    let scale = 10_f64.powi(PLACES.into());
    (value * scale).round() / scale
}

/// Returns a duration in milliseconds, rounded to the microsecond.
pub(crate) fn milliseconds(duration: Duration) -> f64 {
    decimals::<3>(1e3 * duration.as_secs_f64())
}
