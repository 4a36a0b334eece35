//! Correction of verdicts for multiple testing (Benjamini & Hochberg).

/// Returns the largest p-value that is still significant if, in the mean, at most the fraction `rate` of all
/// significant ones may be false (Benjamini & Hochberg, J. R. Stat. Soc. B 57 (1995) 289-300). Negative: none is
/// significant.
pub fn limit(p_values: &[f64], rate: f64) -> f64 {
    let mut sorted = p_values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let step = rate / sorted.len().max(1) as f64;
    let ranked = sorted.iter().zip(1_u32..);
    let passing = ranked.filter(|(p_value, rank)| **p_value <= step * f64::from(*rank));
    passing.last().map_or(-1.0, |(p_value, _)| *p_value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limits for four p-values at 2 % are 0.005, 0.01, 0.015 and 0.02. The third p-value passes, so the second
    /// does.
    #[test]
    fn the_limit_is_that_of_benjamini_and_hochberg() {
        let found = limit(&[0.014, 0.9, 0.004, 0.012], 0.02);
        assert!((found - 0.014).abs() < f64::EPSILON);
        assert!(limit(&[0.006, 0.9, 0.9, 0.9], 0.02) < 0.0);
        assert!(limit(&[], 0.02) < 0.0);
    }
}
