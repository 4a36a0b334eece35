//! Time lines: what lasted from when to when, one lane per kind.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::scale::Scale;
use super::svg::{Area, LABELS, picture, px, text};

/// A time line.
#[derive(Clone, Debug)]
pub(in crate::report) struct TimeLine<'a> {
    /// Length of the line, in units of its axis.
    pub(in crate::report) length: f64,
    /// Name of the axis, with its unit.
    pub(in crate::report) axis: &'a str,
    /// Name of each lane, and the start and the length of each part.
    pub(in crate::report) lanes: &'a [(&'a str, Vec<(f64, f64)>)],
    /// Text that replaces the chart for screen readers.
    pub(in crate::report) about: &'a str,
}

const WIDTH: f64 = 400.0;
const TOP: f64 = 10.0;
const LANE: f64 = 22.0;
/// Height of a part.
const HEIGHT: f64 = 14.0;
/// Shortest part that is drawn, so that it can be seen.
const LEAST: f64 = 1.5;

impl TimeLine<'_> {
    /// Draws the lanes from top to bottom.
    pub(in crate::report) fn draw(&self) -> Markup {
        let area = Area {
            left: 56.0,
            right: WIDTH - 16.0,
            top: TOP,
            bottom: TOP + LANE * self.lanes.len() as f64,
        };
        let scale = Scale::linear([self.length]).up_to(self.length);
        let parts = html! {
            (area.grid(&scale.ticks(), &[]))
            (text((area.left, area.bottom + 31.0), self.axis))
            @for (n, (name, parts)) in self.lanes.iter().enumerate() {
                @let middle = TOP + LANE * (n as f64 + 0.5);
                (text((4.0, middle), name))
                path .{ "c" (n + 1) } .part d=(path(parts, &scale, &area, middle)) {}
            }
        };
        picture((WIDTH, area.bottom + LABELS), self.about, &parts)
    }
}

/// Returns a path with a rectangle for each part.
fn path(parts: &[(f64, f64)], scale: &Scale, area: &Area, middle: f64) -> String {
    parts
        .iter()
        .fold(String::new(), |mut path, (start, length)| {
            let (from, _) = area.at(scale.share(*start), 0.0);
            let (to, _) = area.at(scale.share(start + length), 0.0);
            let width = px((to - from).max(LEAST));
            let top = px(middle - HEIGHT / 2.0);
            // Writing to a String cannot fail.
            let _ = write!(path, "M{} {top}h{width}v{HEIGHT}h-{width}z", px(from));
            path
        })
}
