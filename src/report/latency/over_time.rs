//! Charts of round-trip times over time, which show stalls.

use maud::{Markup, html};

use crate::data::Sample;
use crate::report::cases::drawable;
use crate::report::chart::{TimeSeries, figure};
use crate::report::number;
use crate::results::files::Results;

/// Maximum number of cases with a chart. The windows of the others are in the raw samples.
const MOST_SERIES: usize = 12;

/// Draws the longest round trip and the median of each window. Results without raw windows have no such charts.
pub(in crate::report) fn over_time(file: &Results) -> Markup {
    let mut cases: Vec<(&str, Vec<&Sample>)> = Vec::new();
    for sample in file
        .windows
        .iter()
        .filter(|sample| sample.round_trips.is_some())
    {
        match cases.iter_mut().find(|(case, _)| *case == sample.case) {
            Some((_, samples)) => samples.push(sample),
            None => cases.push((&sample.case, vec![sample])),
        }
    }
    let shown = &cases[..cases.len().min(MOST_SERIES)];
    html! {
        @if !cases.is_empty() {
            p {
                "Each point is the longest round trip of a window, the line what half of its requests took."
                @if cases.len() > shown.len() {
                    " The first " (shown.len()) " of " (cases.len()) " cases; the raw samples have all."
                }
            }
        }
        .charts { @for (case, samples) in shown { (figure(case, &series(case, samples))) } }
    }
}

fn series(case: &str, samples: &[&Sample]) -> Markup {
    let first = samples
        .iter()
        .map(|sample| sample.opened_unix_ms)
        .min()
        .unwrap_or_default();
    let points = |share| -> Vec<(f64, f64)> {
        let point = |sample: &&Sample| {
            let seconds = (sample.opened_unix_ms - first) as f64 / 1000.0;
            let us = sample.round_trips.as_ref()?.times.quantile(share)? / 1000.0;
            Some((seconds, drawable(us)?))
        };
        let mut points: Vec<(f64, f64)> = samples.iter().filter_map(point).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        points
    };
    let (longest, halves) = (points(1.0), points(0.5));
    let most = longest.iter().map(|point| point.1).fold(0.0, f64::max);
    let about = format!(
        "Round trips over time, {case}: the longest of {}, up to {} µs.",
        number::counted(longest.len(), "window"),
        number::short(most)
    );
    let picture = TimeSeries {
        axis: "µs",
        points: &longest,
        range: (0.0, most),
        line: &halves,
        about: &about,
    };
    picture.draw()
}
