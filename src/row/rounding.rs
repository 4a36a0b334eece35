//! How numbers are written.

/// Rounded: no exponent in a spreadsheet, and no digits that mean nothing.
pub(super) fn decimals<const PLACES: u8>(value: f64) -> f64 {
    let scale = 10_f64.powi(PLACES.into());
    (value * scale).round() / scale
}
