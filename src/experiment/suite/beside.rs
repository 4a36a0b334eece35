//! Compares measured with published results. Ratios compare values of one machine, never values of two machines.

use std::cmp::Reverse;

use super::{Figure, Published, PublishedRow, Suite};
use crate::results::row::{Row, Status};
use crate::stats::Estimate;

/// Rows of one sweep.
pub type Swept<'a> = &'a [Row];

/// Published table with the measured values.
#[derive(Debug)]
pub struct PublishedComparison<'a> {
    /// Published table.
    pub published: &'a Published,
    /// Lines of the table, with the measured values.
    pub lines: Vec<PublishedLine<'a>>,
}

/// Line of a published table, with the measured values.
#[derive(Debug)]
pub struct PublishedLine<'a> {
    /// Name of the line.
    pub name: &'a str,
    /// Cells of the line, one for each column.
    pub cells: Vec<Cell>,
}

/// Published value, with the nearest measured value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Published value.
    pub published: Option<f64>,
    /// Ratio of the published value to the first one of the line. `None`: this is the first one, or a value is
    /// missing.
    pub published_ratio: Option<f64>,
    /// Measured value.
    pub measured: Option<Estimate>,
    /// Ratio of the measured value to the first one of the line. `None`: this is the first one, or a value is
    /// missing.
    pub ratio: Option<Estimate>,
}

/// Returns the published tables of a suite, with the values that its sweeps have measured.
pub fn beside<'a>(suite: &'a Suite, sweeps: &[Swept]) -> Vec<PublishedComparison<'a>> {
    let table = |published: &'a Published| PublishedComparison {
        published,
        lines: published
            .rows
            .iter()
            .map(|row| line(published.figure, row, sweeps))
            .collect(),
    };
    suite.published.iter().map(table).collect()
}

fn line<'a>(figure: Figure, row: &'a PublishedRow, sweeps: &[Swept]) -> PublishedLine<'a> {
    let values: Vec<Option<f64>> = row.values.iter().map(|&value| some_number(value)).collect();
    // A sweep that has measured more of these cases side by side comes first.
    let mut sweeps = sweeps.to_vec();
    let held = |swept: &Swept| {
        let keys = row.cases.iter();
        keys.filter(|key| find(&[swept], key).is_some()).count()
    };
    sweeps.sort_by_key(|swept| Reverse(held(swept)));
    let found: Vec<Option<&Row>> = row.cases.iter().map(|key| find(&sweeps, key)).collect();
    let over_first = |n: usize| (n > 0).then(|| found[n].zip(found[0]))?;
    let cell = |n: usize| Cell {
        published: values[n],
        published_ratio: (n > 0)
            .then(|| values[n].zip(values[0]))
            .flatten()
            .map(|(value, base)| value / base),
        measured: found[n].and_then(|row| figure.of(row)),
        ratio: over_first(n).and_then(|(row, base)| ratio(figure, row, base)),
    };
    PublishedLine {
        name: &row.name,
        cells: (0..row.cases.len()).map(cell).collect(),
    }
}

fn some_number(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}

/// Returns the row of a case. If several sweeps have it, the first one counts.
fn find<'a>(sweeps: &[Swept<'a>], key: &str) -> Option<&'a Row> {
    let mut rows = sweeps.iter().flat_map(|rows| rows.iter());
    rows.find(|row| row.status == Status::Ok && row.case.key() == key)
}

/// Returns the ratio of two rows: from the rounds if the row has that ratio, else from the two intervals.
fn ratio(figure: Figure, row: &Row, base: &Row) -> Option<Estimate> {
    let is_of_one_block = row.seed == base.seed && row.block() == base.block();
    let is_reference = base.case.is_reference();
    let is_half = row.case.half_duplex() == Some(base.case);
    let (middle, low, high) = if !figure.is_rate() || !is_of_one_block {
        (None, None, None)
    } else if is_reference {
        (
            row.ratio_to_std,
            row.ratio_to_std_low,
            row.ratio_to_std_high,
        )
    } else if is_half {
        (
            row.ratio_to_half,
            row.ratio_to_half_low,
            row.ratio_to_half_high,
        )
    } else {
        (None, None, None)
    };
    match middle {
        Some(middle) => Some(Estimate { middle, low, high }),
        None => figure.of(row)?.over(figure.of(base)?),
    }
}
