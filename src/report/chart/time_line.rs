//! Time lines: what lasted from when to when, one lane per kind.

use maud::Markup;

use super::scale::Scale;
use super::tracks::{Drawn, Track, Tracks};
use crate::report::number;

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
        values: vec![(number::grouped(parts.len() as i128), String::new())],
        ..Track::default()
    };
    let caption = format!("{caption}, in {name} since the start");
    let tracks: Vec<Track> = lanes.iter().map(track).collect();
    Tracks::new(&["number"], &caption, scale).draw(&tracks)
}

/// Returns the unit of an axis of this many seconds: its length in seconds, and its name.
pub(super) fn time_unit(seconds: f64) -> (f64, &'static str) {
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
