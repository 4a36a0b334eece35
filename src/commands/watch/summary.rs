//! The closing line of `udpbench watch`: number of windows, median and range of two figures.

use std::fmt;

use statrs::statistics::{Data, Max, Min, OrderStatistics};

use super::columns::Figure;
use crate::results::row::{Row, Status};
use crate::text::digits::counted;

/// Summary of the windows so far. Takes 16 bytes per window.
pub(super) struct Summary {
    figures: &'static [Figure; 2],
    /// The values of each figure, one per window.
    values: [Vec<f64>; 2],
    windows: usize,
    failed: usize,
}

impl Summary {
    /// Returns the summary of no windows.
    pub(super) fn new(figures: &'static [Figure; 2]) -> Self {
        Self {
            figures,
            values: Default::default(),
            windows: 0,
            failed: 0,
        }
    }

    /// Adds a window.
    pub(super) fn add(&mut self, row: &Row) {
        if row.status == Status::Failed {
            return self.fail();
        }
        self.windows += 1;
        for (values, (_, _, value, _)) in self.values.iter_mut().zip(self.figures) {
            values.extend(value(row));
        }
    }

    /// Counts a window that could not be measured.
    pub(super) fn fail(&mut self) {
        self.failed += 1;
    }

    /// True if no window was measured.
    pub(super) fn is_empty(&self) -> bool {
        self.windows == 0
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&counted(self.windows, "window"))?;
        if self.failed > 0 {
            write!(f, ", {} failed", self.failed)?;
        }
        let said = self.figures.iter().zip(&self.values);
        let said = said.filter(|(_, values)| !values.is_empty());
        for (n, (figure, values)) in said.enumerate() {
            let before = if n == 0 { ": " } else { ", " };
            write!(f, "{before}{}", median_and_range(figure, values))?;
        }
        Ok(())
    }
}

/// Formats the median and the range of a figure.
fn median_and_range((name, unit, _, shown): &Figure, values: &[f64]) -> String {
    let mut values = Data::new(values.to_vec());
    let (low, high) = (values.min(), values.max());
    let [median, low, high] = [values.median(), low, high].map(|it| shown(Some(it)));
    format!("{name} {median} {unit} ({low} to {high})")
}
