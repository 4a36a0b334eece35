//! Correction of tests for their number (Holm).

/// Returns for each p-value whether it is significant, so that the probability of any false one is at most `rate`
/// (Holm, Scand. J. Stat. 6 (1979) 65-70).
pub fn significant(p_values: &[f64], rate: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&one, &other| p_values[one].total_cmp(&p_values[other]));
    let mut significant = vec![false; p_values.len()];
    for (rank, &place) in order.iter().enumerate() {
        if p_values[place] > rate / (p_values.len() - rank) as f64 {
            break;
        }
        significant[place] = true;
    }
    significant
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limits for four p-values at 2 % are 0.005, 0.0067, 0.01 and 0.02, and the first failure ends the search.
    #[test]
    fn the_limits_are_those_of_holm() {
        let found = significant(&[0.009, 0.9, 0.004, 0.006], 0.02);
        assert_eq!(found, [true, false, true, true]);
        assert!(!significant(&[0.009, 0.9, 0.004, 0.007], 0.02)[0]);
        assert_eq!(significant(&[0.006; 4], 0.02), [false; 4]);
        assert!(significant(&[], 0.02).is_empty());
    }
}
