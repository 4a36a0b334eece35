//! Engines one below the other, a dot for each value: readable however many there are.

use maud::{Markup, html};

use super::mark::Mark;
use super::scale::{Scale, Tick};
use super::svg::{Area, LABELS, WIDTH, figure, line, picture};
use crate::report::number;
use crate::stats;

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

    /// How far below the middle of the row a mark is: filled and open ones would hide each other.
    fn offset(&self, mark: &Mark) -> f64 {
        let is_mixed = self
            .marks
            .iter()
            .any(|other| other.look.filled != mark.look.filled);
        match mark.look.filled {
            _ if !is_mixed => 0.0,
            true => -4.0,
            false => 4.0,
        }
    }

    /// Its label as far as there is room.
    fn name(&self) -> String {
        let mut name: String = self.label.chars().take(LONGEST_LABEL).collect();
        if name.len() < self.label.len() {
            name.pop();
            name.push('…');
        }
        name
    }
}

/// More are several pictures.
const MOST_ROWS: usize = 40;
/// An interval that reaches further than this many times beyond all values ends at the edge.
const BEYOND: f64 = 1.5;
const ROW_HEIGHT: f64 = 22.0;
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
        let scale = self.scale(&rows);
        html! {
            @for rows in rows.chunks(MOST_ROWS) {
                (figure(self.caption, &self.picture(rows, &scale)))
            }
        }
    }

    /// Has every value on it, and of intervals as much as leaves the values readable.
    fn scale(&self, rows: &[DotRow]) -> Scale {
        let marks = || rows.iter().flat_map(|row| &row.marks);
        let values = || marks().map(|mark| mark.value).chain(self.reference);
        let intervals = || marks().filter_map(Mark::interval);
        let (least, most) = if self.first == First::LargestChange {
            // Twice the usual interval: how wide they are is the point.
            let reaches = intervals().map(|(low, high)| low.abs().max(high.abs()));
            let usual = stats::median(reaches.collect()).unwrap_or(0.0);
            (-2.0 * usual * BEYOND, 2.0 * usual * BEYOND)
        } else {
            let least = values().fold(f64::INFINITY, f64::min);
            (least / BEYOND, values().fold(0.0, f64::max) * BEYOND)
        };
        let ends = intervals().flat_map(|(low, high)| [low.max(least), high.min(most)]);
        let all: Vec<f64> = values().chain(ends).collect();
        match self.first {
            First::Largest | First::Smallest => Scale::fitting(all),
            First::LargestShare => Scale::linear(all),
            // Less than a percent is no reason to magnify.
            First::LargestChange => Scale::linear(all.into_iter().chain([-1.0, 1.0])),
        }
    }

    fn picture(&self, rows: &[DotRow], scale: &Scale) -> Markup {
        let names = names(rows);
        let longest = names.iter().map(|(_, name)| name.chars().count()).max();
        let top = if self.second.is_some() { 38.0 } else { 8.0 };
        let area = Area {
            left: longest.unwrap_or(0) as f64 * 7.0 + 20.0,
            right: WIDTH - 16.0,
            top,
            bottom: top + rows.len() as f64 * ROW_HEIGHT,
        };
        let log = if scale.is_log { ", log scale" } else { "" };
        let parts = html! {
            (area.grid(&scale.ticks(), &names))
            (area.name(&format!("{}{log}", self.axis)))
            @if let Some((name, factor)) = self.second {
                (area.centred(9.0, name))
                (area.along(27.0, &scale.times(factor).ticks()))
            }
            @if let Some(value) = self.reference {
                @let x = scale.share(value);
                (line("reference", [area.at(x, 0.0), area.at(x, 1.0)]))
            }
            @for (row, (height, _)) in rows.iter().zip(&names) {
                @for mark in &row.marks {
                    (mark.draw(|value| {
                        let (x, y) = area.at(scale.share(value), *height);
                        (x, y + row.offset(mark))
                    }))
                }
            }
        };
        picture((WIDTH, area.bottom + LABELS), &self.about(rows), &parts)
    }

    /// The text in place of the chart.
    fn about(&self, rows: &[DotRow]) -> String {
        let value = |row: &DotRow| format!("{} {}", row.label, number::short(row.most()));
        let (first, last) = (rows.first().map(value), rows.last().map(value));
        format!(
            "Dots: {} of {}, {}. Top row: {}; bottom row: {}. All values are in the tables.",
            self.axis,
            number::counted(rows.len(), "engine"),
            self.caption,
            first.unwrap_or_default(),
            last.unwrap_or_default()
        )
    }
}

/// The labels of the rows, the first at the top.
fn names(rows: &[DotRow]) -> Vec<Tick> {
    let height = |n: usize| 1.0 - (n as f64 + 0.5) / rows.len() as f64;
    let rows = rows.iter().enumerate();
    rows.map(|(n, row)| (height(n), row.name())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::{Look, Shape};

    fn row(label: &str, value: f64, filled: bool) -> DotRow {
        let (colour, shape) = (1, Shape::Circle);
        let mark = Mark {
            value,
            low: Some(value * 0.9),
            high: Some(value * 1.1),
            look: Look {
                colour,
                shape,
                filled,
            },
        };
        DotRow {
            label: label.to_owned(),
            marks: vec![mark],
        }
    }

    #[test]
    fn grid_labels_marks_and_the_reference_share_one_scale() {
        let dots = Dots {
            axis: "packets/s",
            second: Some(("Mb/s", 0.8)),
            reference: Some(100.0),
            caption: "1 thread",
            first: First::Largest,
        };
        let rows = vec![row("std", 100.0, true), row("<b>", 200.0, false)];
        let picture = dots
            .draw(rows)
            .into_string()
            .replace("><", ">\n<")
            .replace(">\n</", "></");
        insta::assert_snapshot!(picture, @r#"
        <figure>
        <figcaption>1 thread</figcaption>
        <svg viewBox="0 0 360 124" role="img" aria-label="Dots: packets/s of 2 engines, 1 thread. Top row: &lt;b&gt; 200; bottom row: std 100. All values are in the tables.">
        <path class="grid" d="M41 38V82h303M41 38V85M142 38V85M243 38V85M344 38V85M38 49h306M38 71h306"></path>
        <g text-anchor="end">
        <text x="35" y="53">&lt;b&gt;</text>
        <text x="35" y="75">std</text></g>
        <g text-anchor="middle">
        <text x="41" y="98">0</text>
        <text x="142" y="98">100</text>
        <text x="243" y="98">200</text>
        <text x="344" y="98">300</text></g>
        <g text-anchor="middle">
        <text x="192.5" y="117">packets/s</text></g>
        <g text-anchor="middle">
        <text x="192.5" y="13">Mb/s</text></g>
        <g text-anchor="middle">
        <text x="41" y="31">0</text>
        <text x="167.3" y="31">100</text>
        <text x="293.5" y="31">200</text></g>
        <path class="reference" d="M142 82L142 38"></path>
        <path class="c1" d="M222.8 49L263.2 49"></path>
        <circle class="c1 open" cx="243" cy="49" r="4"></circle>
        <path class="c1" d="M131.9 71L152.1 71"></path>
        <circle class="c1 mark" cx="142" cy="71" r="4"></circle></svg></figure>
        "#);
    }
}
