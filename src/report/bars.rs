//! Bar charts of throughput and CPU time: one bar per engine, with its interval and value. With several files, the
//! bars of the others are drawn over those of the first.

use maud::{Markup, html};

use super::chart::{Drawn, Scale, Track, Tracks, WHOLE};
use super::number;
use super::panels::{Facet, FacetLine};
use crate::results::row::{Row, Status};
use crate::stats;
use crate::term::digits::IntervalWidth;

/// Metric that a bar chart shows.
pub(super) struct BarMetric {
    pub(super) unit: &'static str,
    /// Returns the value and the ends of its interval.
    pub(super) value: fn(&Row) -> [Option<f64>; 3],
    /// Returns the part of the value that is hatched.
    pub(super) hatched: fn(&Row) -> f64,
}

/// Limit of intervals, in multiples of the largest value: longer ones end at the edge.
const BEYOND: f64 = 1.5;
/// Limit of bars, in multiples of the median: longer ones end at the edge. gso hands over 60 times the datagrams per
/// second of most engines, whose bars would be too short to compare.
const MANY_TIMES: f64 = 6.0;

impl BarMetric {
    /// Draws the facets of a panel side by side, on one axis.
    pub(super) fn draw(&self, facets: &[Facet], panel: &str) -> Markup {
        let lines = facets.iter().flat_map(|facet| &facet.lines);
        let all = lines.flat_map(|line| line.values(|row| (self.value)(row)[0]));
        let all: Vec<(usize, &Row, f64)> = all.collect();
        let values = || all.iter().map(|(_, _, value)| *value);
        let middle = stats::median(values().collect()).filter(|middle| *middle > 0.0);
        let usual = middle.map_or(f64::INFINITY, |middle| MANY_TIMES * middle);
        let most = values().filter(|value| *value <= usual).fold(0.0, f64::max);
        let highs = all.iter().filter_map(|(_, row, _)| (self.value)(row)[2]);
        let scale = Scale::linear(highs.map(|high| high.min(most * BEYOND)).chain([most]));
        let track = |line: &FacetLine| self.track(line, usual);
        html! {
            .facets {
                @for facet in facets {
                    (Tracks {
                        unit: self.unit,
                        caption: &format!("{}, {panel}", facet.name),
                        scale,
                        reference: None,
                    }.draw(&facet.lines.iter().map(track).collect::<Vec<_>>()))
                }
            }
        }
    }

    /// Returns the bars of a line. Bars longer than `usual` end at the edge.
    fn track(&self, line: &FacetLine, usual: f64) -> Track {
        let files = line.rows_by_file.len();
        let (mut drawn, mut values) = (Vec::new(), Vec::new());
        for (n, row, value) in line.values(|row| (self.value)(row)[0]) {
            let hatched = (self.hatched)(row).clamp(0.0, value);
            let colour = match line.colour {
                colour if value > usual => format!("c{colour} beyond"),
                colour => format!("c{colour}"),
            };
            drawn.extend(bars((value, hatched), &colour, (n, files)));
            let [_, low, high] = (self.value)(row);
            let interval = low.zip(high).filter(|(low, high)| low <= high);
            if let Some((low, high)) = interval.filter(|_| value <= usual) {
                drawn.push(Drawn::Interval {
                    low,
                    high,
                    class: if is_behind(n, files) { "pale" } else { "" },
                    slot: slot(n, files),
                });
            }
            let mut about = about(value, interval, (n, files));
            if row.status != Status::Ok {
                about = format!("{about} {}", row.status);
            }
            values.push((number::plain(value), about.trim_start().to_owned()));
        }
        if values.is_empty() {
            let row = line.rows_by_file.iter().flatten().next();
            let why = row.map(|row| match row.status {
                Status::Ok => "not known".to_owned(),
                status => status.to_string(),
            });
            values.push((String::new(), why.unwrap_or_default()));
        }
        Track {
            label: line.label.clone(),
            drawn,
            values,
        }
    }
}

/// Returns whether bars of other files are drawn over this file's bars.
fn is_behind(n: usize, files: usize) -> bool {
    n == 0 && files > 1
}

/// Returns the vertical position of a file's bars. The first file has the whole height, and the others share it.
fn slot(n: usize, files: usize) -> (usize, usize) {
    if n == 0 { WHOLE } else { (n - 1, files - 1) }
}

fn bars((value, hatched): (f64, f64), class: &str, (n, files): (usize, usize)) -> Vec<Drawn> {
    let bar = |from, to, class: String| Drawn::Bar {
        from,
        to,
        class,
        slot: slot(n, files),
    };
    if is_behind(n, files) {
        return vec![bar(0.0, value, format!("{class} pale"))];
    }
    let plain = bar(0.0, value - hatched, class.to_owned());
    let rest = (hatched > 0.0).then(|| bar(value - hatched, value, format!("{class} hatched")));
    std::iter::once(plain).chain(rest).collect()
}

/// Returns the half-width of the interval and the letter of the file. An interval with unequal sides is only drawn,
/// because two numbers do not fit.
fn about(value: f64, interval: Option<(f64, f64)>, (n, files): (usize, usize)) -> String {
    let reach = interval.and_then(|(low, high)| match IntervalWidth::new(value, low, high)? {
        IntervalWidth::Sides(..) => None,
        width @ IntervalWidth::Half(_) => Some(format!("±{width} %")),
    });
    let file = (files > 1).then(|| letter(n));
    let parts: Vec<String> = reach.into_iter().chain(file).collect();
    parts.join(" ")
}

/// Returns the letter of a file: A to Z, and a number after Z.
pub(super) fn letter(n: usize) -> String {
    let letters = 'A'..='Z';
    letters
        .into_iter()
        .nth(n)
        .map_or_else(|| n.to_string(), String::from)
}
