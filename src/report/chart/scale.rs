//! From values to places on an axis, and where its ticks are.

use std::ops::Range;

use super::axis::Axis;
use crate::report::cases::drawable;
use crate::report::number;

/// An axis that starts at 0 or has it in between, or a logarithmic one where values are far apart.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    /// In places: the value, or its decimal logarithm.
    pub(super) range: Range<f64>,
    /// Places, too.
    pub(super) ticks: Vec<f64>,
    pub(super) is_log: bool,
}

/// From this ratio of the largest to the smallest on, an axis that starts at 0 squeezes the small ones.
const FAR_APART: f64 = 6.0;
/// What is smaller is drawn as this.
const SMALLEST: f64 = 1e-6;
/// So many ticks have room.
const TICKS: f64 = 4.0;

impl Scale {
    /// An axis from 0 to the largest value.
    pub(super) fn linear(values: impl IntoIterator<Item = f64>) -> Self {
        let most = values.into_iter().filter_map(drawable);
        let most = most.fold(0.0, f64::max);
        let most = if most < SMALLEST { 1.0 } else { most };
        let step = nice_step(most / TICKS);
        let mut ticks = vec![0.0];
        while ticks.last().is_some_and(|&last| last < most * (1.0 - 1e-9)) {
            ticks.push(ticks.len() as f64 * step);
        }
        let end = ticks.last().copied().unwrap_or(1.0);
        Self {
            range: 0.0..end,
            ticks,
            is_log: false,
        }
    }

    /// An axis that has 0 and all values on it, of either sign.
    pub(super) fn signed(values: impl IntoIterator<Item = f64>) -> Self {
        let values = values.into_iter();
        let drawable = values.filter(|value| drawable(value.abs()).is_some());
        let (low, high) = drawable.fold((0.0_f64, 0.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let (low, high) = if high - low < SMALLEST {
            (-1.0, 1.0)
        } else {
            (low, high)
        };
        let step = nice_step((high - low) / TICKS);
        let mut ticks = Vec::new();
        let mut n = (low / step).ceil();
        while n <= high / step {
            // Adding 0 takes the sign from a zero.
            ticks.push(n * step + 0.0);
            n += 1.0;
        }
        // A little room for the marks at both ends.
        let room = (high - low) * 0.04;
        Self {
            range: low - room..high + room,
            ticks,
            is_log: false,
        }
    }

    /// The same without what is beyond the largest value.
    pub(super) fn up_to(mut self, most: f64) -> Self {
        if most > 0.0 && self.range.contains(&most) {
            self.range.end = most;
            self.ticks.retain(|&tick| tick <= most);
        }
        self
    }

    /// A logarithmic axis if the values are far apart, else one from 0.
    pub(super) fn fitting(values: impl IntoIterator<Item = f64> + Clone) -> Self {
        let drawable = values.clone().into_iter().filter_map(drawable);
        let positive = drawable.filter(|&value| value >= SMALLEST);
        let (low, high) = positive.fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        if high < low * FAR_APART || !low.is_finite() {
            return Self::linear(values);
        }
        Self::log(low, high)
    }

    fn log(low: f64, high: f64) -> Self {
        // A little room for the marks at both ends.
        let range = low.log10() - 0.06..high.log10() + 0.06;
        let ticks = LOG_TICKS.map(|factors| log_ticks(&range, factors, 1.0));
        let fine = ticks
            .into_iter()
            .find(|ticks| ticks.len() <= MOST_LOG_TICKS);
        let ticks = fine.unwrap_or_else(|| {
            let decades = range.end - range.start;
            log_ticks(&range, &[1.0], (decades / MOST_LOG_TICKS as f64).ceil())
        });
        Self {
            range,
            ticks,
            is_log: true,
        }
    }

    /// The axis itself.
    pub(super) fn axis(&self) -> Axis {
        let ticks = self
            .ticks
            .iter()
            .map(|&tick| (tick, number::short(self.value(tick))));
        Axis {
            range: self.range.clone(),
            ticks: ticks.collect(),
        }
    }

    /// Where a value is; what is beyond the ends is at the ends.
    pub(super) fn place(&self, value: f64) -> f64 {
        let place = if self.is_log {
            value.max(SMALLEST).log10()
        } else {
            value
        };
        // Not `clamp`, which panics; `max` and `min` lose a NaN.
        place.max(self.range.start).min(self.range.end)
    }

    /// The value at a place.
    pub(super) fn value(&self, place: f64) -> f64 {
        if self.is_log {
            10_f64.powf(place)
        } else {
            place
        }
    }
}

/// Which multiples of powers of ten have ticks: the first that are few enough.
const LOG_TICKS: [&[f64]; 3] = [&[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
const MOST_LOG_TICKS: usize = 5;

/// The places in the range that are these multiples of every `stride`th power of ten.
fn log_ticks(range: &Range<f64>, factors: &[f64], stride: f64) -> Vec<f64> {
    let mut ticks = Vec::new();
    let mut decade = (range.start / stride).floor() * stride;
    while decade <= range.end {
        ticks.extend(factors.iter().map(|factor| decade + factor.log10()));
        decade += stride;
    }
    ticks.retain(|tick| range.contains(tick));
    ticks
}

/// 1, 2 or 5 times a power of ten, and not below `least`.
fn nice_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let factors = [1.0, 2.0, 5.0];
    let nice = factors
        .into_iter()
        .find(|factor| factor * power >= least * (1.0 - 1e-9));
    nice.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(scale: &Scale) -> Vec<f64> {
        let values = scale.ticks.iter().map(|&tick| scale.value(tick));
        values.map(|value| (value * 1e6).round() / 1e6).collect()
    }

    #[test]
    fn ticks_are_round_numbers_around_the_values() {
        assert_eq!(
            values(&Scale::linear([3.0, 7.0])),
            [0.0, 2.0, 4.0, 6.0, 8.0]
        );
        assert_eq!(values(&Scale::linear([])), [0.0, 0.5, 1.0]);
        let far_apart = Scale::fitting([250.0, 1900.0]);
        assert_eq!(values(&far_apart), [500.0, 1000.0, 2000.0]);
        assert!(!Scale::fitting([250.0, 500.0]).is_log);
        assert!(!Scale::fitting([0.0, 500.0]).is_log);
        let changes = Scale::signed([-2.1, 0.7, f64::NAN]);
        assert_eq!(values(&changes), [-2.0, -1.0, 0.0]);
        assert_eq!(values(&Scale::signed([])), [-1.0, -0.5, 0.0, 0.5, 1.0]);
    }

    proptest! {
        #[test]
        fn every_value_has_a_place_between_ticks_that_grow(
            values in proptest::collection::vec(proptest::num::f64::ANY, 0..9),
        ) {
            let scales = [Scale::linear, Scale::fitting, Scale::signed].map(|scale| scale(values.clone()));
            for scale in scales {
                prop_assert!((1..=8).contains(&scale.ticks.len()), "{scale:?}");
                prop_assert!(scale.ticks.windows(2).all(|two| two[0] < two[1]), "{scale:?}");
                for &value in &values {
                    let place = scale.place(value);
                    prop_assert!(scale.range.start <= place && place <= scale.range.end, "{scale:?}");
                }
            }
        }
    }
}
