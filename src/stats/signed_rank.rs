//! Wilcoxon's signed-rank test (Biometrics Bulletin 1 (1945) 80-83), with its estimate and interval (Hodges & Lehmann,
//! Ann. Math. Stat. 34 (1963) 598-611).
//!
//! The test assumes only that paired differences scatter symmetrically. An outlier counts no more than its rank.

use statrs::distribution::{ContinuousCDF, Normal};

use super::CONFIDENCE;

/// Largest number of differences for which the exact distribution is used. Beyond, the normal distribution replaces it:
/// its tails are a little longer, and it differs by no more than 0.001 anywhere.
const MOST_EXACT: usize = 100;

/// Differences, prepared for the signed-rank test.
///
/// All results follow from Walsh averages: the mean of each pair of differences, and of each difference with itself.
/// The averages are counted and selected without listing them (Johnson & Mizoguchi, SIAM J. Comput. 7 (1978) 147-153).
#[derive(Clone, Debug)]
pub struct SignedRank {
    sorted: Vec<f64>,
    null: Null,
}

impl SignedRank {
    /// Prepares the test of `differences`. `None`: there are none, or one is not finite.
    pub fn of(differences: &[f64]) -> Option<Self> {
        if differences.is_empty() || differences.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mut sorted = differences.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Some(Self {
            sorted,
            null: Null::of(differences.len()),
        })
    }

    /// Returns the Hodges-Lehmann estimate: the median of the Walsh averages.
    pub fn estimate(&self) -> f64 {
        let (count, middle) = (self.averages(), self.averages() / 2);
        if count % 2 == 1 {
            self.average(middle)
        } else {
            f64::midpoint(self.average(middle - 1), self.average(middle))
        }
    }

    /// Returns the interval that contains the middle with at least this confidence. The bounds are infinite if there
    /// are too few differences.
    pub fn interval(&self, confidence: f64) -> (f64, f64) {
        let count = self.averages();
        match self.null.rank(count, confidence) {
            Some(rank) => (self.average(rank), self.average(count - 1 - rank)),
            None => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    /// Returns the smallest and the largest difference.
    pub fn range(&self) -> (f64, f64) {
        (self.sorted[0], self.sorted[self.sorted.len() - 1])
    }

    /// Returns the two-sided p-value: how probable differences of this size are at most, if the middle lies within
    /// `margin` of 0.
    pub fn p_value(&self, margin: f64) -> f64 {
        let count = self.averages();
        // An average at the margin itself counts for neither side.
        let above = count - self.count(|average| average <= margin);
        let below = self.count(|average| average < -margin);
        let tail = self.null.at_most(count - above.max(below));
        (2.0 * tail).min(1.0)
    }

    /// Returns the one-sided p-value against a middle of `margin` or less.
    pub fn p_above(&self, margin: f64) -> f64 {
        self.null.at_most(self.count(|average| average <= margin))
    }

    /// Returns the one-sided p-value against a middle of `margin` or more.
    pub fn p_below(&self, margin: f64) -> f64 {
        let below = self.count(|average| average < margin);
        self.null.at_most(self.averages() - below)
    }

    /// Returns the number of Walsh averages.
    fn averages(&self) -> usize {
        self.sorted.len() * (self.sorted.len() + 1) / 2
    }

    /// Returns the number of averages for which `is_low` holds. `is_low` has to hold for each average below one for
    /// which it holds.
    fn count(&self, is_low: impl Fn(f64) -> bool) -> usize {
        let mut count = 0;
        // The larger `one` is, the fewer of the differences from it on make a low average with it.
        let mut end = self.sorted.len();
        for (n, &one) in self.sorted.iter().enumerate() {
            while end > n && !is_low(f64::midpoint(one, self.sorted[end - 1])) {
                end -= 1;
            }
            count += end.saturating_sub(n);
        }
        count
    }

    /// Returns the average at position `rank` in ascending order, from 0, by bisection of the values.
    fn average(&self, rank: usize) -> f64 {
        let (mut low, mut high) = self.range();
        loop {
            let middle = f64::midpoint(low, high);
            if middle <= low || middle >= high {
                break;
            }
            if self.count(|average| average <= middle) > rank {
                high = middle;
            } else {
                low = middle;
            }
        }
        if self.count(|average| average <= low) > rank {
            low
        } else {
            high
        }
    }
}

/// Returns the actual coverage of the interval of `n` values, as a fraction: the probability that it contains the true
/// middle. At least [`CONFIDENCE`] from six values on. Below six, even the whole range of the values covers less.
pub fn coverage(n: usize) -> f64 {
    let null = Null::of(n);
    let rank = null.rank(n * (n + 1) / 2, CONFIDENCE).unwrap_or(0);
    (1.0 - 2.0 * null.at_most(rank)).max(0.0)
}

/// Null distribution of the test: the probability that at most a given number of averages lies below the middle, if the
/// differences scatter symmetrically around it.
#[derive(Clone, Debug)]
enum Null {
    Exact(Vec<f64>),
    Normal(Normal),
}

impl Null {
    fn of(differences: usize) -> Self {
        let count = differences as f64;
        let variance = count * (count + 1.0) * (2.0 * count + 1.0) / 24.0;
        if let (true, Ok(normal)) = (
            differences > MOST_EXACT,
            Normal::new(count * (count + 1.0) / 4.0, variance.sqrt()),
        ) {
            return Self::Normal(normal);
        }
        // Each rank belongs to a positive difference or not. The distribution of the sum of the positive ranks is built
        // rank by rank.
        let mut of_sum = vec![0.0; differences * (differences + 1) / 2 + 1];
        of_sum[0] = 1.0;
        let mut most = 0;
        for rank in 1..=differences {
            most += rank;
            for sum in (0..=most).rev() {
                let with = if sum >= rank { of_sum[sum - rank] } else { 0.0 };
                of_sum[sum] = f64::midpoint(of_sum[sum], with);
            }
        }
        let mut so_far = 0.0;
        for probability in &mut of_sum {
            so_far += *probability;
            *probability = so_far;
        }
        Self::Exact(of_sum)
    }

    /// Returns the position, from 0, of the average that is the lower bound of the interval: the highest position at
    /// which the tail is rare enough. `None`: even position 0 is not.
    fn rank(&self, averages: usize, confidence: f64) -> Option<usize> {
        let tail = (1.0 - confidence) / 2.0;
        let (mut rare, mut end) = (0, averages.div_ceil(2));
        while rare < end {
            let middle = usize::midpoint(rare, end);
            if self.at_most(middle) <= tail {
                rare = middle + 1;
            } else {
                end = middle;
            }
        }
        rare.checked_sub(1)
    }

    fn at_most(&self, sum: usize) -> f64 {
        match self {
            Self::Exact(cumulative) => cumulative.get(sum).copied().unwrap_or(1.0).min(1.0),
            Self::Normal(normal) => normal.cdf(sum as f64 + 0.5),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Depression factors before and after (Hollander, Wolfe & Chicken, *Nonparametric Statistical Methods*, table
    /// 3.1).
    const HAMILTON: [f64; 9] = [
        -0.952, 0.147, -1.022, -0.430, -0.620, -0.590, -0.490, 0.080, -0.010,
    ];

    #[test]
    fn the_textbooks_example_has_the_textbooks_answers() {
        let test = SignedRank::of(&HAMILTON).expect("numbers");
        // 40 of 45 averages are below 0: P(T+ >= 40) = 0.0195, one-sided.
        assert!((test.p_value(0.0) - 2.0 * 0.019_53).abs() < 1e-4);
        assert!(
            (test.estimate() - -0.46).abs() < 1e-9,
            "{}",
            test.estimate()
        );
        // The 96 % interval.
        let (low, high) = test.interval(0.96);
        assert!((low - -0.786).abs() < 1e-9 && (high - -0.010).abs() < 1e-9);
    }

    #[test]
    fn few_differences_say_little() {
        assert!(SignedRank::of(&[]).is_none());
        assert!(SignedRank::of(&[1.0, f64::NAN]).is_none());
        let five = SignedRank::of(&[1.0, 1.1, 1.2, 1.3, 1.4]).expect("numbers");
        assert!((five.p_value(0.0) - 2.0 / 32.0).abs() < 1e-12);
        assert_eq!(five.interval(0.95), (f64::NEG_INFINITY, f64::INFINITY));
        let six = SignedRank::of(&[1.0, 1.1, 1.2, 1.3, 1.4, 1.5]).expect("numbers");
        assert_eq!(six.interval(0.95), (1.0, 1.5));
    }

    #[test]
    fn a_margin_is_to_be_exceeded() {
        let differences: Vec<f64> = (0..20).map(|n| 0.03 + 0.001 * f64::from(n % 5)).collect();
        let test = SignedRank::of(&differences).expect("numbers");
        assert!(test.p_value(0.02) < 1e-5);
        assert!(test.p_value(0.032) > 0.5);
        assert!(test.p_value(0.05) > 0.99);
        let other_way: Vec<f64> = differences.iter().map(|difference| -difference).collect();
        let other_way = SignedRank::of(&other_way).expect("numbers");
        assert!((other_way.p_value(0.02) - test.p_value(0.02)).abs() < 1e-15);
    }

    #[test]
    fn the_normal_distribution_takes_over_without_a_step() {
        let exact = Null::of(MOST_EXACT);
        let count = MOST_EXACT as f64;
        let deviation = (count * (count + 1.0) * (2.0 * count + 1.0) / 24.0).sqrt();
        let normal = Normal::new(count * (count + 1.0) / 4.0, deviation).expect("positive");
        for sum in 0..=MOST_EXACT * (MOST_EXACT + 1) / 2 {
            let (exact, normal) = (exact.at_most(sum), Null::Normal(normal).at_most(sum));
            assert!((exact - normal).abs() < 1e-3, "{sum}: {exact} {normal}");
            assert!(exact > 1e-3 || exact < normal, "{sum}: {exact} {normal}");
        }
    }

    proptest! {
        /// Compares counts and positions with a sorted list of all averages.
        #[test]
        fn averages_are_found_without_listing_them(
            differences in proptest::collection::vec(
                prop_oneof![-1e3_f64..1e3, Just(0.25), Just(1.5)], 1..40
            )
        ) {
            let test = SignedRank::of(&differences).expect("numbers");
            let mut listed = Vec::new();
            for (n, one) in test.sorted.iter().enumerate() {
                listed.extend(test.sorted[n..].iter().map(|other| f64::midpoint(*one, *other)));
            }
            listed.sort_unstable_by(f64::total_cmp);
            prop_assert_eq!(test.averages(), listed.len());
            for (rank, average) in listed.iter().enumerate() {
                prop_assert!(test.average(rank).total_cmp(average).is_eq(), "{} {}", rank, average);
                let at_most = listed.partition_point(|other| other <= average);
                prop_assert_eq!(test.count(|other| other <= *average), at_most);
            }
        }

        /// Checks that the interval contains exactly the values that the test at the same error does not reject.
        #[test]
        fn test_and_interval_agree(
            differences in proptest::collection::vec(-1.0_f64..1.0, 6..30), at in -1.0_f64..1.0
        ) {
            let test = SignedRank::of(&differences).expect("numbers");
            let shifted: Vec<f64> = differences.iter().map(|difference| difference - at).collect();
            let p_value = SignedRank::of(&shifted).expect("numbers").p_value(0.0);
            let (low, high) = test.interval(0.95);
            prop_assert_eq!(p_value <= 0.05, at < low || at > high, "{} {} {}", p_value, low, high);
            prop_assert!(low <= test.estimate() && test.estimate() <= high);
        }
    }
}
