//! What was measured, beside what others have published. Ratios are within each: of one machine, never across machines.

use std::cmp::Reverse;

use super::{Figure, Published, PublishedRow, Suite};
use crate::data::{Case, Duplex};
use crate::results::row::{Row, Status};
use crate::stats::Estimate;

/// The rows of one sweep.
pub type Swept<'a> = &'a [Row];

/// A published table, with what was measured.
#[derive(Debug)]
pub struct Beside<'a> {
    /// The table.
    pub published: &'a Published,
    /// Its lines.
    pub lines: Vec<Line<'a>>,
}

/// A line of it.
#[derive(Debug)]
pub struct Line<'a> {
    /// What it is about.
    pub name: &'a str,
    /// One for each column.
    pub cells: Vec<Cell>,
}

/// A value, and what is nearest to it here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// The published value.
    pub published: Option<f64>,
    /// That over the line's first one. `None`: it is the first.
    pub published_ratio: Option<f64>,
    /// What was measured.
    pub measured: Option<Estimate>,
    /// That over what was measured for the line's first one.
    pub ratio: Option<Estimate>,
}

/// The published tables of a suite, with what its sweeps have measured.
pub fn beside<'a>(suite: &'a Suite, sweeps: &[Swept]) -> Vec<Beside<'a>> {
    let table = |published: &'a Published| Beside {
        published,
        lines: published
            .rows
            .iter()
            .map(|row| line(published.figure, row, sweeps))
            .collect(),
    };
    suite.published.iter().map(table).collect()
}

fn line<'a>(figure: Figure, row: &'a PublishedRow, sweeps: &[Swept]) -> Line<'a> {
    let values: Vec<Option<f64>> = row.values.iter().map(|&value| some_number(value)).collect();
    // What one sweep has measured side by side comes first.
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
    Line {
        name: &row.name,
        cells: (0..row.cases.len()).map(cell).collect(),
    }
}

fn some_number(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}

/// The row of that case: the first, where several sweeps have it.
fn find<'a>(sweeps: &[Swept<'a>], key: &str) -> Option<&'a Row> {
    let mut rows = sweeps.iter().flat_map(|rows| rows.iter());
    rows.find(|row| row.status == Status::Ok && row.case == key)
}

/// By rounds where the row has that, else by the two intervals.
fn ratio(figure: Figure, row: &Row, base: &Row) -> Option<Estimate> {
    let is_of_one_block = row.seed == base.seed && row.block() == base.block();
    let is_reference = Case::of_key(&base.case).is_some_and(|case| case.is_reference());
    let is_half = (row.duplex, base.duplex) == (Some(Duplex::Full), Some(Duplex::Half))
        && row.label() == base.label().trim_end_matches("/half");
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
