//! Time lines: what lasted from when to when, one lane per kind.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::scale::Scale;
use super::svg::{Area, LABELS, WIDTH, picture, px, text};

/// A time line.
#[derive(Clone, Debug)]
pub(in crate::report) struct TimeLine<'a> {
    /// Length of the line in seconds.
    pub(in crate::report) seconds: f64,
    /// Name of each lane, and the start and the length of each part in seconds.
    pub(in crate::report) lanes: &'a [(&'a str, Vec<(f64, f64)>)],
    /// Text that replaces the chart for screen readers.
    pub(in crate::report) about: &'a str,
}

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
        let (unit, name) = time_unit(self.seconds);
        let scale = Scale::linear([self.seconds / unit]).up_to(self.seconds / unit);
        let parts = html! {
            (area.grid(&scale.ticks(), &[]))
            (text((area.left, area.bottom + 31.0), &format!("{name} since the start")))
            @for (n, (name, parts)) in self.lanes.iter().enumerate() {
                @let middle = TOP + LANE * (n as f64 + 0.5);
                (text((4.0, middle), name))
                path .{ "c" (n + 1) } .part d=(path(parts, unit, &scale, &area, middle)) {}
            }
        };
        picture((WIDTH, area.bottom + LABELS), self.about, &parts)
    }
}

/// Returns the unit of an axis of this many seconds: its length in seconds, and its name.
pub(super) fn time_unit(seconds: f64) -> (f64, &'static str) {
    match seconds {
        0.0..600.0 => (1.0, "seconds"),
        600.0..36_000.0 => (60.0, "minutes"),
        _ => (3600.0, "hours"),
    }
}

/// Returns a path with a rectangle for each part. Parts in the order of time that are less than a pixel apart are one.
fn path(parts: &[(f64, f64)], unit: f64, scale: &Scale, area: &Area, middle: f64) -> String {
    let at = |seconds: f64| area.at(scale.share(seconds / unit), 0.0).0;
    let mut drawn: Vec<(f64, f64)> = Vec::new();
    for (start, length) in parts {
        let (from, to) = (at(*start), at(start + length));
        match drawn.last_mut() {
            Some(last) if (last.0..last.1 + 1.0).contains(&from) => last.1 = last.1.max(to),
            _ => drawn.push((from, to)),
        }
    }
    let top = px(middle - HEIGHT / 2.0);
    drawn.iter().fold(String::new(), |mut path, (from, to)| {
        let width = px((to - from).max(LEAST));
        // Writing to a String cannot fail.
        let _ = write!(path, "M{} {top}h{width}v{HEIGHT}h-{width}z", px(*from));
        path
    })
}
