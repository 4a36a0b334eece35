//! Histogram of times with log-linear buckets, like HDR histograms.
//!
//! Times below [`LINEAR`] ns have one bucket each. Above, each power of two is divided into [`LINEAR`] buckets. No
//! bucket is wider than 1/128 of its times, and histograms are added without loss.

use serde::{Deserialize, Serialize};

/// Number of buckets per power of two, and of times that have a bucket of their own, in nanoseconds.
const LINEAR: u64 = 1 << LINEAR_BITS;
const LINEAR_BITS: u32 = 7;
/// Times of 2^40 ns (18 minutes) and above are in the last bucket.
const LONGEST_BITS: u32 = 40;

/// Number of buckets.
pub const BUCKETS: usize = ((LONGEST_BITS - LINEAR_BITS + 1) as usize) << LINEAR_BITS;

/// Returns the bucket of a time in nanoseconds.
#[inline]
pub fn bucket_of(ns: u64) -> usize {
    let ns = ns.min((1 << LONGEST_BITS) - 1);
    let bits = (ns | (LINEAR - 1)).ilog2();
    let octave = bits + 1 - LINEAR_BITS;
    // The LINEAR_BITS bits below the highest set bit. The octave stands for the highest bit.
    let within = (ns >> (octave.saturating_sub(1))) & (LINEAR - 1);
    #[expect(clippy::cast_possible_truncation, reason = "below BUCKETS")]
    let bucket = (u64::from(octave) * LINEAR + within) as usize;
    bucket
}

/// Returns the first time of a bucket and the first time after it, in nanoseconds.
fn range_of(bucket: usize) -> (u64, u64) {
    let (octave, within) = (bucket as u64 / LINEAR, bucket as u64 % LINEAR);
    if octave == 0 {
        (within, within + 1)
    } else {
        let width = 1 << (octave - 1);
        let first = (LINEAR + within) * width;
        (first, first + width)
    }
}

/// Number of times in each bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Histogram {
    /// Non-empty buckets in ascending order, with their counts.
    counts: Vec<(u16, u64)>,
}

impl Histogram {
    /// Creates a histogram from the counts of all buckets, from the first on.
    pub fn of_counts(counts: impl IntoIterator<Item = u64>) -> Self {
        let counts = (0..).zip(counts);
        Self {
            counts: counts.filter(|&(_, count)| count > 0).collect(),
        }
    }

    /// Returns the total number of times.
    pub fn count(&self) -> u64 {
        self.counts().fold(0, u64::saturating_add)
    }

    /// Returns the counts of the non-empty buckets.
    pub fn counts(&self) -> impl Iterator<Item = u64> {
        self.counts.iter().map(|&(_, count)| count)
    }

    /// Adds the counts of another histogram.
    pub fn add(&mut self, other: &Self) {
        *self = Self::sum([&*self, other]);
    }

    /// Returns the sum of histograms.
    pub fn sum<'a>(histograms: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut sum = vec![0; BUCKETS];
        for histogram in histograms {
            for &(bucket, count) in &histogram.counts {
                let bucket: &mut u64 = &mut sum[usize::from(bucket)];
                *bucket = bucket.saturating_add(count);
            }
        }
        Self::of_counts(sum)
    }

    /// Returns a quantile of the times, in nanoseconds: `0.5` is the median, `1.0` the maximum. The result is the
    /// middle of a bucket, accurate to 0.4 %. `None`: the histogram is empty.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        self.quantile_among(share, 0)
    }

    /// Returns a quantile as if there were `longer` additional times, longer than all times in the histogram. `None`:
    /// the quantile is one of the additional times.
    pub fn quantile_among(&self, share: f64, longer: u64) -> Option<f64> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below the count"
        )]
        let rank = (share.clamp(0.0, 1.0) * (self.count() + longer) as f64)
            .ceil()
            .max(1.0) as u64;
        let mut below = 0;
        let found = self.counts.iter().find(|(_, count)| {
            below += count;
            below >= rank
        });
        found.map(|&(bucket, _)| middle_of(bucket))
    }

    /// Returns the standard deviation about `mean`, in nanoseconds. `None`: fewer than two times.
    pub fn standard_deviation(&self, mean: f64) -> Option<f64> {
        let count = self.count();
        let squares = self.counts.iter().map(|&(bucket, count)| {
            let off = middle_of(bucket) - mean;
            count as f64 * off * off
        });
        (count > 1).then(|| (squares.sum::<f64>() / (count - 1) as f64).sqrt())
    }

    /// Returns whether all buckets exist, are in ascending order without duplicates, and are not empty.
    pub fn is_valid(&self) -> bool {
        let exist = self
            .counts
            .iter()
            .all(|&(bucket, count)| usize::from(bucket) < BUCKETS && count > 0);
        exist && self.counts.windows(2).all(|two| two[0].0 < two[1].0)
    }
}

fn middle_of(bucket: u16) -> f64 {
    let (first, end) = range_of(usize::from(bucket));
    f64::midpoint(first as f64, (end - 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: &[u64]) -> Histogram {
        let mut counts = vec![0; BUCKETS];
        for &ns in times {
            counts[bucket_of(ns)] += 1;
        }
        Histogram::of_counts(counts)
    }

    #[test]
    fn every_time_has_a_bucket_and_every_bucket_its_times() {
        let mut next = 0;
        for bucket in 0..BUCKETS {
            let (first, end) = range_of(bucket);
            assert_eq!(
                first, next,
                "bucket {bucket} begins where the one before ends"
            );
            assert_eq!((bucket_of(first), bucket_of(end - 1)), (bucket, bucket));
            assert!(
                (end - first) * LINEAR <= first.max(LINEAR),
                "bucket {bucket} is narrow"
            );
            next = end;
        }
        assert_eq!(next, 1 << LONGEST_BITS);
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn quantiles_are_those_of_the_times() {
        let times: Vec<u64> = (1..=1000).map(|n| n * 1000).collect();
        let histogram = of(&times);
        for (share, ns) in [
            (0.0, 1e3),
            (0.5, 5e5),
            (0.99, 9.9e5),
            (0.999, 9.99e5),
            (1.0, 1e6),
        ] {
            let found = histogram.quantile(share).expect("there are times");
            assert!(
                (found / ns - 1.0).abs() < 0.004,
                "{share}: {found}, not {ns}"
            );
        }
        assert_eq!(Histogram::default().quantile(0.5), None);
        let spread = histogram
            .standard_deviation(500_500.0)
            .expect("there are two");
        assert!((spread / 288_819.4 - 1.0).abs() < 0.004, "{spread}");
    }

    #[test]
    fn histograms_are_added_without_loss() {
        let (some, others) = (vec![5, 900, 77_000], vec![5, 5, 901, 1 << 50]);
        let mut all = of(&some);
        all.add(&of(&others));
        assert_eq!(all, of(&[some, others].concat()));
    }

    #[test]
    fn a_histogram_is_what_can_be_one() {
        let valid = |counts: &[(u16, u64)]| {
            let counts = counts.to_vec();
            Histogram { counts }.is_valid()
        };
        assert!(valid(&[]) && valid(&[(0, 1), (4351, 2)]));
        for counts in [
            &[(4352, 1)][..],
            &[(1, 0)],
            &[(2, 1), (1, 1)],
            &[(1, 1), (1, 1)],
        ] {
            assert!(!valid(counts), "{counts:?}");
        }
    }
}
