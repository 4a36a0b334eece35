//! Charts of values over time: one point per window, and a line.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::scale::Scale;
use super::svg::{Area, LABELS, line, picture, text};
use super::time_line::time_unit;

/// A chart of values over time.
#[derive(Clone, Debug)]
pub(in crate::report) struct TimeSeries<'a> {
    /// Name of the values, with their unit.
    pub(in crate::report) axis: &'a str,
    /// Points: seconds since the first window, and a value.
    pub(in crate::report) points: &'a [(f64, f64)],
    /// Range of values that is shown. Points beyond it are drawn at its edge.
    pub(in crate::report) range: (f64, f64),
    /// Points of the line: seconds since the first window, and a value.
    pub(in crate::report) line: &'a [(f64, f64)],
    /// Text that replaces the chart for screen readers.
    pub(in crate::report) about: &'a str,
}

const WIDTH: f64 = 400.0;
const AREA: Area = Area {
    left: 48.0,
    right: WIDTH - 16.0,
    top: 26.0,
    bottom: 198.0,
};

impl TimeSeries<'_> {
    /// Draws the points and the line.
    pub(in crate::report) fn draw(&self) -> Markup {
        let last = self.points.iter().map(|point| point.0).fold(0.0, f64::max);
        let (unit, name) = time_unit(last);
        let time = Scale::linear([last / unit]).up_to(last / unit);
        let values = Scale::between(self.range.0, self.range.1);
        let at = |&(x, y): &(f64, f64)| AREA.at(time.share(x / unit), values.share(y));
        // Rounded to whole pixels, so that thousands of windows in one pixel are drawn once.
        let pixels = self.points.iter().map(at);
        let mut pixels: Vec<_> = pixels.map(|(x, y)| (x.round(), y.round())).collect();
        pixels.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
        pixels.dedup();
        // A path of round dots takes a tenth of the space of circles.
        let dots = pixels.iter().fold(String::new(), |mut path, (x, y)| {
            let _ = write!(path, "M{x} {y}h0");
            path
        });
        let parts = html! {
            (text((4.0, 10.0), self.axis))
            (AREA.grid(&time.ticks(), &values.ticks()))
            // On the left, where a phone shows it as well.
            (text((AREA.left, AREA.bottom + 31.0), &format!("{name} since the first window")))
            path .points d=(dots) {}
            (line("c2", self.line.iter().map(at)))
        };
        picture((WIDTH, AREA.bottom + LABELS), self.about, &parts)
    }
}
