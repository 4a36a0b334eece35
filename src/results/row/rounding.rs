//! How numbers are written.

use std::time::Duration;

/// Rounded: no exponent in a spreadsheet, and no digits that mean nothing.
pub(super) fn decimals<const PLACES: u8>(value: f64) -> f64 {
    let scale = 10_f64.powi(PLACES.into());
    (value * scale).round() / scale
}

/// To the microsecond.
pub(crate) fn milliseconds(duration: Duration) -> f64 {
    decimals::<3>(1e3 * duration.as_secs_f64())
}
