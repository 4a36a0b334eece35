//! How numbers are written.

/// Rounded: a spreadsheet shall not see an exponent, nor digits that mean nothing.
pub(super) fn decimals<const PLACES: u8>(value: f64) -> f64 {
    let scale = 10_f64.powi(PLACES.into());
    (value * scale).round() / scale
}
