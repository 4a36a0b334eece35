//! Charts of values over time: a point per window.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::time_line::time_unit;
use crate::report::number::plain;

const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 180.0;

/// Draws points: seconds since the first window, and a value. The caption has both ends of both axes.
pub(in crate::report) fn time_series(caption: &str, points: &[(f64, f64)]) -> Markup {
    let most = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).fold(0.0, f64::max);
    let (last, highest) = (most(|point| point.0), most(|point| point.1));
    let share = |value: f64, most: f64| if most > 0.0 { value / most } else { 0.0 };
    // Rounded to whole pixels, so that thousands of windows in one pixel are drawn once.
    let pixels = points.iter().map(|(x, y)| {
        let (x, y) = (WIDTH * share(*x, last), HEIGHT * (1.0 - share(*y, highest)));
        (x.round(), y.round())
    });
    let mut pixels: Vec<_> = pixels.collect();
    pixels.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
    pixels.dedup();
    // A path of round dots takes a tenth of the space of circles.
    let dots = pixels.iter().fold(String::new(), |mut path, (x, y)| {
        // Writing to a String cannot fail.
        let _ = write!(path, "M{x} {y}h0");
        path
    });
    let (unit, name) = time_unit(last);
    let (highest, length) = (plain(highest), plain(last / unit));
    let about =
        format!("{caption}: 0 to {highest}, from the first window to {length} {name} after it");
    html! {
        figure {
            figcaption { (about) }
            svg viewBox={ "-3 -3 " (WIDTH + 6.0) " " (HEIGHT + 6.0) } role="img" aria-label=(about) {
                path .points d=(dots) {}
            }
        }
    }
}
