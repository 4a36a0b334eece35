//! Settling time: how long the rate of a case takes to become steady. Threads wake up, queues and caches fill, clocks
//! rise. A shorter warm-up would let these effects into the window.
//!
//! A course is the list of rates in consecutive slices, from the start of the threads on.

use std::time::Duration;

use crate::stats;

/// Time over which one rate of a course is measured.
pub(super) const SLICE: Duration = Duration::from_millis(5);
/// Slices of a course, from the start of the threads on. Together they take three times the longest warm-up of a
/// board's profile.
pub(super) const SLICES: u32 = 30;
pub(super) const COURSE: Duration = Duration::from_millis(150);
/// Smallest number of courses. With three, single rates of two threads are still off by a third at any time.
pub(super) const LEAST_COURSES: u128 = 10;
/// Tolerated deviation of a rate from the steady rate, as a fraction: windows differ by this much where nothing
/// disturbs them.
const TOLERANCE: f64 = 0.05;

/// Returns the settling time of a case from several courses: afterwards the median course stays within [`TOLERANCE`],
/// or three standard deviations, of its second half. `None`: the second half received nothing.
pub(super) fn settling_time(courses: &[Vec<f64>]) -> Option<Duration> {
    let at = |slice: usize| {
        let rates: Vec<f64> = courses.iter().map(|course| course[slice]).collect();
        stats::estimate(&rates).map(|estimate| estimate.middle)
    };
    let course: Vec<f64> = (0..SLICES as usize).map(at).collect::<Option<_>>()?;
    let (first, second) = course.split_at(course.len() / 2);
    let stays = stats::estimate(second)?.middle;
    if stays <= 0.0 {
        return None;
    }
    let deviation = stats::coefficient_of_variation(second)?;
    let tolerance = TOLERANCE.max(3.0 * deviation);
    let is_off = |rate: &f64| (rate / stays - 1.0).abs() > tolerance;
    // A single rate that is off is noise, unless it is the first.
    let mut pairs = first.windows(2).enumerate();
    let last = pairs.rfind(|(_, two)| two.iter().all(is_off));
    let slices = match last {
        Some((slice, _)) => slice + 2,
        None => usize::from(first.first().is_some_and(is_off)),
    };
    Some(SLICE * u32::try_from(slices).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the settling time of three courses. Each begins with these fractions of its steady rate.
    fn settled(beginning: &[f64]) -> Option<Duration> {
        let course = |scale: f64| {
            let rest =
                (beginning.len()..SLICES as usize).map(|slice| 1.0 + 0.01 * (slice % 3) as f64);
            let rates = beginning.iter().copied().chain(rest);
            rates.map(|rate| scale * rate).collect()
        };
        settling_time(&[course(1e5), course(1.01e5), course(0.99e5)])
    }

    #[test]
    fn it_is_the_time_up_to_the_last_rate_that_is_off() {
        let ms = |ms| Some(Duration::from_millis(ms));
        assert_eq!(settled(&[]), ms(0));
        assert_eq!(settled(&[0.5, 0.8, 0.9]), ms(15));
        assert_eq!(settled(&[0.5, 1.0]), ms(5));
        assert_eq!(settled(&[0.5, 1.0, 1.2, 1.0]), ms(5));
        assert_eq!(settled(&[0.5, 1.0, 1.2, 1.1, 1.0]), ms(20));
        assert_eq!(settled(&[0.0; SLICES as usize / 2]), ms(75));
    }

    #[test]
    fn what_scatters_anyway_is_not_off() {
        let noisy: Vec<f64> = (0..SLICES).map(|n| 1e5 + 2e4 * f64::from(n % 2)).collect();
        assert_eq!(settling_time(&vec![noisy; 3]), Some(Duration::ZERO));
        assert_eq!(settling_time(&vec![vec![0.0; SLICES as usize]; 3]), None);
    }
}
