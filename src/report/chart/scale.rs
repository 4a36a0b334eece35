//! Axes: positions of values, and ticks.

use crate::report::cases::drawable;
use crate::report::number;

/// A linear or logarithmic axis. The kind of chart determines which, never its values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::report) struct Scale {
    low: f64,
    high: f64,
    /// Distance between the ticks of a linear axis.
    step: f64,
    is_log: bool,
}

/// A tick: its position on the axis, from 0 to 1, and its label.
pub(super) type Tick = (f64, String);

/// Minimum length of a linear axis, and minimum start of a logarithmic one.
const SMALLEST: f64 = 1e-6;
/// Maximum number of steps of a linear axis. Rounding its ends outwards may add two.
const MOST_STEPS: u8 = 4;
const MOST_LOG_TICKS: usize = 5;
impl Scale {
    /// Creates a linear axis that contains 0 and all values.
    pub(in crate::report) fn linear(values: impl IntoIterator<Item = f64>) -> Self {
        let values = values.into_iter();
        let drawable = values.filter(|value| drawable(value.abs()).is_some());
        let (low, high) = drawable.fold((0.0_f64, 0.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        Self::between(low, high)
    }

    /// Creates a linear axis between two values, rounded outwards to ticks.
    fn between(low: f64, high: f64) -> Self {
        let high = if high - low < SMALLEST {
            low + 1.0
        } else {
            high
        };
        let step = nice_step(high - low);
        Self {
            low: (low / step + ROUNDING).floor() * step,
            high: (high / step - ROUNDING).ceil() * step,
            step,
            is_log: false,
        }
    }

    /// Creates a logarithmic axis. It is linear if there is no value or if a value is 0.
    pub(in crate::report) fn logarithmic(values: impl IntoIterator<Item = f64> + Clone) -> Self {
        let drawable = values.clone().into_iter().filter_map(drawable);
        let (low, high) = drawable.fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        if low < SMALLEST || high < low {
            return Self::linear(values);
        }
        // From tick to tick, so that both ends have a label, and some room for marks of equal values.
        Self {
            low: decade_steps(low / 1.05).0,
            high: decade_steps(high * 1.05).1,
            step: high - low,
            is_log: true,
        }
    }

    /// Ends the axis at this value instead of at the tick after it.
    pub(super) fn up_to(self, high: f64) -> Self {
        let is_inside = self.low < high && high < self.high;
        let high = if is_inside { high } else { self.high };
        Self { high, ..self }
    }

    /// Returns the position of a value on the axis, from 0 to 1. Values beyond an end are at that end.
    pub(in crate::report) fn share(&self, value: f64) -> f64 {
        let share = if self.is_log {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        // Maps NaN to 0, which `clamp` would not.
        if share > 0.0 { share.min(1.0) } else { 0.0 }
    }

    pub(super) fn ticks(&self) -> Vec<Tick> {
        self.ticks_as(number::short)
    }

    /// Returns the ticks, with their numbers formatted by `shown`.
    pub(super) fn ticks_as(&self, shown: impl Fn(f64) -> String) -> Vec<Tick> {
        let values = if self.is_log {
            self.log_ticks()
        } else {
            self.linear_ticks()
        };
        let tick = |value| (self.share(value), shown(value));
        values.into_iter().map(tick).collect()
    }

    fn linear_ticks(&self) -> Vec<f64> {
        let first = (self.low / self.step - ROUNDING).ceil();
        let nth = |n| (first + f64::from(n)) * self.step + 0.0; // which takes the sign from a zero
        let is_inside = |tick: &f64| *tick <= self.high + self.step * ROUNDING;
        (0..=MOST_STEPS + 2)
            .map(nth)
            .take_while(is_inside)
            .collect()
    }

    /// Returns the ticks at 1, 2 and 5 times powers of ten. If these are too many: both ends and powers of ten between.
    fn log_ticks(&self) -> Vec<f64> {
        /// Distance of a power of ten from the ends, so that their labels do not touch.
        const APART: f64 = 0.12;
        let within = |factors: &[f64], stride: usize| -> Vec<f64> {
            let decades = (-12..=18).step_by(stride).map(|n| 10_f64.powi(n));
            let all = decades.flat_map(|decade| factors.iter().map(move |factor| factor * decade));
            all.filter(|tick| (self.low..=self.high).contains(tick))
                .collect()
        };
        let steps = within(&[1.0, 2.0, 5.0], 1);
        if steps.len() <= MOST_LOG_TICKS {
            return steps;
        }
        let mut inner = [1, 2, 3, 6].into_iter().map(|stride| {
            let mut powers = within(&[1.0], stride);
            powers.retain(|tick| (APART..=1.0 - APART).contains(&self.share(*tick)));
            powers
        });
        let inner = inner.find(|powers| powers.len() <= MOST_LOG_TICKS - 2);
        let inner = inner.unwrap_or_default();
        [self.low]
            .into_iter()
            .chain(inner)
            .chain([self.high])
            .collect()
    }
}

/// Tolerance for the rounding error of an exact division.
const ROUNDING: f64 = 1e-9;

/// Returns the next values at or below and at or above a value that can be drawn, which are 1, 2 or 5 times a power of ten.
fn decade_steps(value: f64) -> (f64, f64) {
    let decades = (-12..=18).map(|n| 10_f64.powi(n));
    let steps: Vec<f64> = decades
        .flat_map(|decade| [1.0, 2.0, 5.0].map(|factor| factor * decade))
        .collect();
    let above = steps.partition_point(|step| *step < value);
    let below = steps.partition_point(|step| *step <= value);
    (steps[below - 1], steps[above])
}

/// Returns the step between ticks: 1, 2 or 5 times a power of ten, large enough for at most [`MOST_STEPS`] steps.
fn nice_step(length: f64) -> f64 {
    let least = length / f64::from(MOST_STEPS);
    let power = 10_f64.powf(least.log10().floor());
    let factors = [1.0, 2.0, 5.0];
    let nice = factors
        .into_iter()
        .find(|factor| factor * power >= least * (1.0 - ROUNDING));
    nice.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn labels(scale: &Scale) -> String {
        let ticks = scale.ticks().into_iter();
        ticks.map(|(_, label)| label).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn linear_ticks_are_round_numbers_from_one_end_to_the_other() {
        assert_eq!(labels(&Scale::linear([3.0, 7.0])), "0 2 4 6 8");
        assert_eq!(labels(&Scale::linear([0.3])), "0 0.1 0.2 0.3");
        assert_eq!(
            labels(&Scale::linear([-2.1, 0.7, f64::NAN])),
            "-3 -2 -1 0 1"
        );
        assert_eq!(labels(&Scale::between(98.0, 102.0)), "98 99 100 101 102");
        assert_eq!(labels(&Scale::linear([61.0]).up_to(61.0)), "0 20 40 60");
    }

    #[test]
    fn no_values_equal_values_and_zeros_have_an_axis_too() {
        for values in [vec![], vec![0.0], vec![0.0, 0.0], vec![f64::NAN]] {
            assert_eq!(labels(&Scale::linear(values.clone())), "0 0.5 1");
            assert_eq!(Scale::logarithmic(values.clone()), Scale::linear(values));
        }
        let scale = Scale::linear([5.0, 5.0]);
        assert_eq!(labels(&scale), "0 2 4 6");
        assert!((scale.share(3.0) - 0.5).abs() < 1e-9);
        assert_eq!(labels(&Scale::between(7.0, 7.0)), "7 7.5 8");
        assert_eq!(Scale::linear([0.0]).up_to(0.0), Scale::linear([0.0]));
    }

    #[test]
    fn a_logarithmic_axis_is_linear_only_if_a_value_is_zero() {
        assert_eq!(labels(&Scale::logarithmic([1.0, 90.0])), "0.5 1 10 100");
        assert_eq!(
            labels(&Scale::logarithmic([1e-6, 1e15])),
            "5.0e-7 1 1M 1T 2000T"
        );
        assert_eq!(labels(&Scale::logarithmic([51.0, 60.0])), "20 50 100");
        assert!(Scale::logarithmic([5.0]).is_log);
        assert!(!Scale::logarithmic([0.0, 250.0, 1900.0]).is_log);
        // Equal ratios are equal distances, and 0 is at the lower end.
        let scale = Scale::logarithmic([10.0, 1000.0]);
        let (low, high) = (scale.share(10.0), scale.share(1000.0));
        assert!((scale.share(100.0) - f64::midpoint(low, high)).abs() < 1e-9);
        assert!(scale.share(0.0) < 1e-9);
    }

    proptest! {
        #[test]
        fn ticks_ascend_and_every_value_has_its_share_of_the_axis(
            values in proptest::collection::vec(
                prop_oneof![proptest::num::f64::ANY, -1e3..1e3, 0.0..1e7], 0..9,
            ),
        ) {
            let scales = [Scale::linear, Scale::logarithmic].map(|scale| scale(values.clone()));
            for scale in scales {
                let ticks = scale.ticks();
                prop_assert!((2..=7).contains(&ticks.len()), "{scale:?}");
                prop_assert!(ticks.windows(2).all(|two| two[0].0 < two[1].0), "{scale:?}");
                if !scale.is_log {
                    prop_assert_eq!((ticks[0].0, ticks[ticks.len() - 1].0), (0.0, 1.0));
                }
                for value in values.iter().chain([&f64::NAN, &f64::INFINITY, &0.0]) {
                    prop_assert!((0.0..=1.0).contains(&scale.share(*value)), "{value}: {scale:?}");
                }
                // No drawable value is beyond an end, except for rounding.
                let slack = ROUNDING * (scale.high - scale.low);
                let axis = scale.low - slack..=scale.high + slack;
                let inside = values.iter().filter(|value| (1e-6..=1e15).contains(*value));
                for value in inside {
                    prop_assert!(axis.contains(value), "{value}: {scale:?}");
                }
            }
        }
    }
}
