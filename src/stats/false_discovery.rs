//! Many questions at once: which answers are no accident.

/// The largest of these p-values that is still no accident, if in the mean at most the part `rate` of those up to it
/// may be one: Benjamini & Hochberg, J. R. Stat. Soc. B 57 (1995) 289-300. Negative: there is none.
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

    /// Of four questions at 2 %: 0.005, 0.01, 0.015, 0.02. The third lets the second in.
    #[test]
    fn the_limit_is_that_of_benjamini_and_hochberg() {
        let found = limit(&[0.014, 0.9, 0.004, 0.012], 0.02);
        assert!((found - 0.014).abs() < f64::EPSILON);
        assert!(limit(&[0.006, 0.9, 0.9, 0.9], 0.02) < 0.0);
        assert!(limit(&[], 0.02) < 0.0);
    }
}
