//! Charts of values over time: a point per window.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::scale::Scale;
use super::svg::{Area, LABELS, WIDTH, picture, text};
use super::time_line::time_unit;
use crate::report::number;

/// A chart of values over time.
#[derive(Clone, Debug)]
pub(in crate::report) struct TimeSeries<'a> {
    /// Name of the values, with their unit.
    pub(in crate::report) axis: &'a str,
    /// Points: seconds since the first window, and a value.
    pub(in crate::report) points: &'a [(f64, f64)],
}

const AREA: Area = Area {
    left: 48.0,
    right: WIDTH - 16.0,
    top: 26.0,
    bottom: 198.0,
};

impl TimeSeries<'_> {
    /// Draws the points.
    pub(in crate::report) fn draw(&self) -> Markup {
        let most = |of: fn(&(f64, f64)) -> f64| self.points.iter().map(of).fold(0.0, f64::max);
        let (last, highest) = (most(|point| point.0), most(|point| point.1));
        let (unit, name) = time_unit(last);
        let time = Scale::linear([last / unit]).up_to(last / unit);
        let values = Scale::linear([highest]);
        let at = |&(x, y): &(f64, f64)| AREA.at(time.share(x / unit), values.share(y));
        // Rounded to whole pixels, so that thousands of windows in one pixel are drawn once.
        let pixels = self.points.iter().map(at);
        let mut pixels: Vec<_> = pixels.map(|(x, y)| (x.round(), y.round())).collect();
        pixels.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
        pixels.dedup();
        // A path of round dots takes a tenth of the space of circles.
        let dots = pixels.iter().fold(String::new(), |mut path, (x, y)| {
            // Writing to a String cannot fail.
            let _ = write!(path, "M{x} {y}h0");
            path
        });
        let parts = html! {
            (text((4.0, 10.0), self.axis))
            (AREA.grid(&time.ticks(), &values.ticks()))
            // On the left, where a phone shows it as well.
            (text((AREA.left, AREA.bottom + 31.0), &format!("{name} since the first window")))
            path .points d=(dots) {}
        };
        let about = format!(
            "Points: {} over {name}, at most {}.",
            self.axis,
            number::short(highest)
        );
        picture((WIDTH, AREA.bottom + LABELS), &about, &parts)
    }
}
