//! Charts over time: what lasted from when to when, one lane per kind; and values, a point per window.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::{Drawn, Scale, Track, Tracks};
use crate::report::labels::plain;

const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 180.0;

/// What lasted, in the order of time: start and length in seconds.
pub(in crate::report) type Parts = Vec<(f64, f64)>;

/// Draws a lane for each name from top to bottom, beside the number of its parts.
pub(in crate::report) fn time_line(caption: &str, seconds: f64, lanes: &[(&str, Parts)]) -> Markup {
    let (unit, name) = time_unit(seconds);
    let scale = Scale::linear([seconds / unit]);
    let track = |(name, parts): &(&str, Parts)| Track {
        label: (*name).to_owned(),
        drawn: joined(parts, seconds)
            .map(|(from, to)| Drawn::Interval {
                low: from / unit,
                high: to / unit,
            })
            .collect(),
        values: vec![(parts.len().to_string(), String::new())],
        ..Track::default()
    };
    let caption = format!("{caption}, in {name} since the start");
    let tracks: Vec<Track> = lanes.iter().map(track).collect();
    Tracks::new(&["number"], &caption, scale).draw(&tracks)
}

/// Returns the unit of an axis of this many seconds: its length in seconds, and its name.
fn time_unit(seconds: f64) -> (f64, &'static str) {
    match seconds {
        0.0..600.0 => (1.0, "seconds"),
        600.0..36_000.0 => (60.0, "minutes"),
        _ => (3600.0, "hours"),
    }
}

/// Returns start and end of the parts. Those that are less than a pixel apart are one.
fn joined(parts: &Parts, seconds: f64) -> impl Iterator<Item = (f64, f64)> {
    let pixel = seconds / 400.0;
    let mut joined: Parts = Vec::new();
    for (start, length) in parts {
        match joined.last_mut() {
            Some((_, end)) if *start < *end + pixel => *end = end.max(start + length),
            _ => joined.push((*start, start + length)),
        }
    }
    joined.into_iter()
}

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
