//! An axis whose ticks we choose: plotters chooses its own by a search that has no end for odd ranges.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};

/// A range that is not empty, and its ticks with their words.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) range: Range<f64>,
    pub(super) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// The words at a tick.
    pub(super) fn words(&self, place: f64) -> String {
        let found = self
            .ticks
            .iter()
            .find(|(tick, _)| (tick - place).abs() < 1e-9);
        found.map_or_else(String::new, |(_, words)| words.clone())
    }
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    #[expect(
        clippy::cast_possible_truncation,
        reason = "pixels are few, and `as` saturates"
    )]
    fn map(&self, value: &f64, (start, end): (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        start + (f64::from(end - start) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // There is nothing between the ticks.
        if hint.weight().allow_light_points() {
            return Vec::new();
        }
        self.ticks.iter().map(|(tick, _)| *tick).collect()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}
