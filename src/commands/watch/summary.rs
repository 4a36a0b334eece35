//! What all lines said, in one.

use std::fmt;

use statrs::statistics::{Data, Max, Min, OrderStatistics};

use super::columns::Figure;
use crate::results::row::{Row, Status};

/// What was seen so far: 16 bytes for each window.
pub(super) struct Summary {
    figures: &'static [Figure; 2],
    /// What each window had of each figure.
    values: [Vec<f64>; 2],
    windows: usize,
    failed: usize,
}

impl Summary {
    /// Nothing was seen yet.
    pub(super) fn new(figures: &'static [Figure; 2]) -> Self {
        Self {
            figures,
            values: Default::default(),
            windows: 0,
            failed: 0,
        }
    }

    /// Takes a window.
    pub(super) fn take(&mut self, row: &Row) {
        if row.status == Status::Failed {
            return self.fail();
        }
        self.windows += 1;
        for (values, figure) in self.values.iter_mut().zip(self.figures) {
            values.extend((figure.value)(row));
        }
    }

    /// Takes a window that could not be measured.
    pub(super) fn fail(&mut self) {
        self.failed += 1;
    }

    /// Whether no window could be measured.
    pub(super) fn is_empty(&self) -> bool {
        self.windows == 0
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.windows == 1 { "" } else { "s" };
        write!(f, "{} window{plural}", self.windows)?;
        if self.failed > 0 {
            write!(f, ", {} failed", self.failed)?;
        }
        let said = self.figures.iter().zip(&self.values);
        let said = said.filter(|(_, values)| !values.is_empty());
        for (n, (figure, values)) in said.enumerate() {
            let before = if n == 0 { ": " } else { ", " };
            write!(f, "{before}{}", of(figure, values))?;
        }
        Ok(())
    }
}

/// The median, and between which values all are.
fn of(figure: &Figure, values: &[f64]) -> String {
    let mut values = Data::new(values.to_vec());
    let (low, high) = (values.min(), values.max());
    let [median, low, high] = [values.median(), low, high].map(|it| (figure.shown)(Some(it)));
    format!("{} {median} {} ({low} to {high})", figure.name, figure.unit)
}
