//! Axes: positions of values, and ticks.

use crate::report::labels::{drawable, plain};

/// A linear or logarithmic axis from tick to tick. The kind of chart determines which, never its values.
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
/// Maximum number of ticks at 1, 2 and 5 times powers of ten.
const MOST_LOG_TICKS: usize = 5;
/// Tolerance for the rounding error of an exact division.
const ROUNDING: f64 = 1e-9;

/// Returns 1, 2 and 5 times powers of ten, beyond all values that can be drawn.
fn steps() -> Vec<f64> {
    let decades = (-12..=18).map(|n| 10_f64.powi(n));
    let steps = decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|factor| factor * decade));
    steps.collect()
}

impl Scale {
    /// Creates a linear axis that contains 0 and all values.
    pub(in crate::report) fn linear(values: impl IntoIterator<Item = f64>) -> Self {
        let values = values.into_iter();
        let drawable = values.filter(|value| drawable(value.abs()).is_some());
        let (low, high) = drawable.fold((0.0_f64, 0.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let length = Some(high - low).filter(|length| *length >= SMALLEST);
        let length = length.unwrap_or(1.0);
        let least = length / f64::from(MOST_STEPS) * (1.0 - ROUNDING);
        let step = steps().into_iter().find(|step| *step >= least);
        let step = step.unwrap_or(f64::INFINITY);
        Self {
            low: (low / step + ROUNDING).floor() * step,
            high: ((low + length) / step - ROUNDING).ceil() * step,
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
        // Both ends are ticks and have a label, with some room for marks of equal values.
        let steps = steps();
        let below = steps.partition_point(|step| *step <= low / 1.05);
        let above = steps.partition_point(|step| *step < high * 1.05);
        Self {
            low: steps[below - 1],
            high: steps[above],
            step: high - low,
            is_log: true,
        }
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
        let values = if self.is_log {
            self.log_ticks()
        } else {
            self.linear_ticks()
        };
        let tick = |value| (self.share(value), plain(value));
        values.into_iter().map(tick).collect()
    }

    fn linear_ticks(&self) -> Vec<f64> {
        let first = (self.low / self.step).round();
        let nth = |n| (first + f64::from(n)) * self.step + 0.0; // which takes the sign from a zero
        let is_inside = |tick: &f64| *tick <= self.high + self.step * ROUNDING;
        let ticks = (0..=MOST_STEPS + 2).map(nth);
        ticks.take_while(is_inside).collect()
    }

    /// Returns the ticks at 1, 2 and 5 times powers of ten. If these are too many: both ends and the powers of ten.
    fn log_ticks(&self) -> Vec<f64> {
        let steps = steps().into_iter().enumerate();
        let ticks: Vec<(usize, f64)> = steps
            .filter(|(_, tick)| (self.low..=self.high).contains(tick))
            .collect();
        let (last, are_few) = (ticks.len() - 1, ticks.len() <= MOST_LOG_TICKS);
        let ticks = ticks.into_iter().enumerate();
        let ticks = ticks.filter(|(nth, (step, _))| {
            let is_end = [0, last].contains(nth);
            are_few || is_end || step % 3 == 0
        });
        ticks.map(|(_, (_, tick))| tick).collect()
    }
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
    }

    #[test]
    fn a_logarithmic_axis_is_linear_only_if_a_value_is_zero() {
        assert_eq!(labels(&Scale::logarithmic([1.0, 90.0])), "0.5 1 10 100");
        let widest = Scale::logarithmic([1e-6, 1e15]).ticks();
        let ends = [&widest[0].1, &widest[widest.len() - 1].1];
        assert_eq!(ends, ["5.0e-7", "2000000000000000"]);
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
                prop_assert!((2..=24).contains(&ticks.len()), "{scale:?}");
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
