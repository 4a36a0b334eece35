//! How many digits a number is worth.

/// So many decimals that the first digit of half of an interval shows, or one more, and no more than three.
#[must_use]
pub fn decimals(half_width: f64) -> usize {
    match half_width {
        _ if half_width >= 10.0 => 0,
        _ if half_width >= 0.1 => 1,
        _ if half_width >= 0.01 => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::decimals;

    #[test]
    fn a_wide_interval_leaves_fewer_decimals() {
        let halves = [0.0, 0.004, 0.04, 0.4, 4.0, 40.0, f64::NAN];
        assert_eq!(halves.map(decimals), [3, 3, 2, 1, 1, 0, 3]);
    }
}
