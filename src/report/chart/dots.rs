//! Engines one below the other, a dot for each value: readable however many there are.

use maud::{Markup, html};
use plotters::style::text_anchor::HPos;

use super::axis::Axis;
use super::frame::{Edges, Frame};
use super::scale::Scale;
use super::svg::{Canvas, Failure, Ink, picture};
use super::{Mark, WIDTH, shortened};
use crate::report::number;

/// A picture of values, an engine per row.
#[derive(Clone, Debug)]
pub(in crate::report) struct Dots<'a> {
    /// What the values are, with their unit.
    pub(in crate::report) axis: &'a str,
    /// The same in another unit, at the upper edge: by what a value is to be multiplied.
    pub(in crate::report) second: Option<(&'a str, f64)>,
    /// Where a dashed line is to be.
    pub(in crate::report) reference: Option<f64>,
    /// What the values are of.
    pub(in crate::report) caption: &'a str,
    /// Which rows come first.
    pub(in crate::report) first: First,
}

/// Which rows come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum First {
    /// The largest values, on an axis that fits the values.
    Largest,
    /// The smallest values, on the same.
    Smallest,
    /// The largest values, on an axis from 0: shares of a whole.
    LargestShare,
    /// The largest values, on an axis with 0 somewhere on it: changes.
    LargestChange,
}

/// An engine and its values.
#[derive(Clone, Debug)]
pub(in crate::report) struct DotRow {
    pub(in crate::report) label: String,
    pub(in crate::report) marks: Vec<Mark>,
}

impl DotRow {
    fn most(&self) -> f64 {
        let values = self.marks.iter().map(|mark| mark.value);
        values.reduce(f64::max).unwrap_or(0.0)
    }

    /// Full and empty marks would hide each other.
    fn is_mixed(&self) -> bool {
        let mut marks = self.marks.iter();
        marks.clone().any(|mark| mark.look.filled) && marks.any(|mark| !mark.look.filled)
    }
}

/// More are several pictures.
const MOST_ROWS: usize = 40;
/// An interval that reaches further than this many times beyond all values ends at the edge.
const BEYOND: f64 = 1.5;
const ROW_HEIGHT: u32 = 22;
/// In characters; the rest of a longer label is in the tables.
const LONGEST_LABEL: usize = 24;

impl Dots<'_> {
    /// Draws the rows.
    pub(in crate::report) fn draw(&self, mut rows: Vec<DotRow>) -> Markup {
        rows.retain(|row| !row.marks.is_empty());
        // Stable: equal values stay in the order in which they came.
        rows.sort_by(|one, other| match self.first {
            First::Smallest => one.most().total_cmp(&other.most()),
            _ => other.most().total_cmp(&one.most()),
        });
        let scale = match self.first {
            First::Largest | First::Smallest => Scale::fitting(self.extent(&rows)),
            First::LargestShare => Scale::linear(self.extent(&rows)),
            First::LargestChange => Scale::signed(extent_of_changes(&rows)),
        };
        html! {
            @for rows in rows.chunks(MOST_ROWS) {
                (super::figure(self.caption, &self.picture(rows, &scale)))
            }
        }
    }

    /// What has to be on the axis: every value, and of intervals as much as leaves the values readable.
    fn extent(&self, rows: &[DotRow]) -> Vec<f64> {
        let marks = || rows.iter().flat_map(|row| &row.marks);
        let values = || marks().map(|mark| mark.value).chain(self.reference);
        let least = values().fold(f64::INFINITY, f64::min) / BEYOND;
        let most = values().fold(0.0, f64::max) * BEYOND;
        let ends = marks().filter_map(Mark::interval);
        let ends = ends.flat_map(|(low, high)| [low.max(least), high.min(most)]);
        values().chain(ends).collect()
    }

    fn picture(&self, rows: &[DotRow], scale: &Scale) -> Markup {
        let top = if self.second.is_some() { 38 } else { 8 };
        let count = u32::try_from(rows.len()).unwrap_or(0);
        let size = (WIDTH, top + count * ROW_HEIGHT + Frame::LABELS);
        picture(size, &self.about(rows), |canvas| {
            self.draw_on(canvas, top, rows, scale)
        })
    }

    fn draw_on(
        &self,
        canvas: &Canvas,
        top: u32,
        rows: &[DotRow],
        scale: &Scale,
    ) -> Result<(), Failure> {
        let names = axis_of(rows);
        let longest = names
            .ticks
            .iter()
            .map(|(_, name)| name.chars().count())
            .max();
        let left = u32::try_from(longest.unwrap_or(0)).unwrap_or(0) * 15 / 2 + 8;
        let edges = Edges {
            top,
            right: 16,
            bottom: 0,
            left,
        };
        let frame = Frame::draw(canvas, edges, scale.axis(), names)?;
        let log = if scale.is_log { ", log scale" } else { "" };
        frame.name_below(&format!("{}{log}", self.axis))?;
        self.second_axis(&frame, scale)?;
        if let Some(value) = self.reference {
            let x = frame.at(scale.place(value), 0.0).0;
            let (upper, lower) = frame.height();
            frame.line(vec![(x, upper), (x, lower)], Ink::Reference)?;
        }
        for (n, row) in rows.iter().enumerate() {
            for mark in &row.marks {
                // Full ones above, empty ones below.
                let aside = match mark.look.filled {
                    _ if !row.is_mixed() => 0,
                    true => -4,
                    false => 4,
                };
                frame.mark(mark, |value| {
                    let (x, y) = frame.at(scale.place(value), -(n as f64));
                    (x, y + aside)
                })?;
            }
        }
        Ok(())
    }

    /// The same ticks in the other unit, above.
    fn second_axis(&self, frame: &Frame, scale: &Scale) -> Result<(), Failure> {
        let Some((name, factor)) = self.second else {
            return Ok(());
        };
        frame.write(name, (frame.middle(), 9), HPos::Center)?;
        for &tick in &scale.ticks {
            let text = number::short(scale.value(tick) * factor);
            frame.write(&text, (frame.at(tick, 0.0).0, 27), HPos::Center)?;
        }
        Ok(())
    }

    /// What it says to those who do not see it.
    fn about(&self, rows: &[DotRow]) -> String {
        let said = |row: &DotRow| format!("{} {}", row.label, number::short(row.most()));
        let (first, last) = (rows.first().map(said), rows.last().map(said));
        format!(
            "Dots: {} of {}, {}. First: {}; last: {}. All values are in the tables.",
            self.axis,
            number::counted(rows.len(), "engine"),
            self.caption,
            first.unwrap_or_default(),
            last.unwrap_or_default()
        )
    }
}

/// Every change, and of intervals as much as leaves most of them readable: how wide they are is the point.
fn extent_of_changes(rows: &[DotRow]) -> Vec<f64> {
    let marks = || rows.iter().flat_map(|row| &row.marks);
    let farthest =
        |mark: &Mark| Some(mark.interval()?).map(|(low, high)| low.abs().max(high.abs()));
    let mut reaches: Vec<f64> = marks().filter_map(farthest).collect();
    reaches.sort_unstable_by(f64::total_cmp);
    let middle = reaches.get(reaches.len() / 2).copied().unwrap_or(0.0);
    let most = middle * 2.0 * BEYOND;
    let ends = marks().filter_map(Mark::interval);
    let ends = ends.flat_map(|(low, high)| [low.max(-most), high.min(most)]);
    marks().map(|mark| mark.value).chain(ends).collect()
}

/// DotRow n is at -n, so that the first is above.
fn axis_of(rows: &[DotRow]) -> Axis {
    let names = rows.iter().enumerate();
    let ticks = names.map(|(n, row)| (-(n as f64), shortened(&row.label, LONGEST_LABEL)));
    Axis {
        range: 0.5 - rows.len() as f64..0.5,
        ticks: ticks.collect(),
    }
}
