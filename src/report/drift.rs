//! Charts of the windows over time, which show drift of the machine.

use std::collections::HashMap;

use maud::{Markup, html};

use super::chart::{TimeSeries, figure, key};
use crate::data::Sample;
use crate::results::files::Results;
use crate::stats;

/// Returns charts of each window's speed relative to its case's median, and of the temperature.
pub(super) fn charts(file: &Results) -> Markup {
    let windows: Vec<&Sample> = file
        .windows
        .iter()
        .filter(|window| window.verified.is_none())
        .collect();
    let speeds = relative_speeds(&windows);
    if speeds.is_empty() {
        return html! {
            p { "No window was measured." }
        };
    }
    let temperatures = temperatures(&windows);
    html! {
        (speed(&speeds))
        @if temperatures.is_empty() { p { "No temperature was measured." } }
        @else { (temperature(&temperatures)) }
    }
}

type Points = Vec<(f64, f64)>;

fn speed(points: &[(f64, f64)]) -> Markup {
    let medians = medians(points);
    let around = spread(points);
    let ends = medians.first().zip(medians.last());
    let drift = ends.map_or_else(String::new, |((_, first), (_, last))| {
        format!("The median of the first twentieth is {first:.1} %, of the last {last:.1} %.")
    });
    let about = format!(
        "Points: received in each window over time, in % of the median of its case. {drift}"
    );
    let picture = TimeSeries {
        axis: "% of the case's median",
        points,
        range: (100.0 - around, 100.0 + around),
        line: &medians,
        about: &about,
    };
    html! {
        p .legend {
            "Datagrams received in each window, in % of the median of its case: a slope means that the "
            "machine drifted. Windows beyond the edge are drawn at the edge. " (drift) " "
            (key("c1", "●", "window")) (key("c2", "━", "median of each twentieth of the time"))
        }
        (figure("Received over time", &picture.draw()))
    }
}

/// Returns the range around 100 %, in percent, that contains nearly all windows.
fn spread(points: &[(f64, f64)]) -> f64 {
    let mut aside: Vec<f64> = points
        .iter()
        .map(|(_, speed)| (speed - 100.0).abs())
        .collect();
    aside.sort_by(f64::total_cmp);
    let most = aside.get(aside.len() * 19 / 20).copied().unwrap_or(0.0);
    let shown = [2.0, 4.0, 10.0, 20.0, 40.0];
    shown
        .into_iter()
        .find(|&shown| shown >= most)
        .unwrap_or(100.0)
}

fn temperature(points: &[(f64, f64)]) -> Markup {
    let most = points.iter().map(|point| point.1).fold(0.0, f64::max);
    let about =
        format!("Points: the hottest sensor of the CPUs over time. The highest is {most:.1} °C.");
    let picture = TimeSeries {
        axis: "°C",
        points,
        range: (20.0, if most > 100.0 { 140.0 } else { 100.0 }),
        line: &medians(points),
        about: &about,
    };
    figure("Hottest sensor of the CPUs", &picture.draw())
}

/// Returns seconds since the first window, with the rate in % of the case's median.
fn relative_speeds(windows: &[&Sample]) -> Points {
    let mut by_case: HashMap<&str, Vec<f64>> = HashMap::new();
    for window in windows {
        by_case
            .entry(&window.case)
            .or_default()
            .extend(rate(window));
    }
    let usual = by_case
        .into_iter()
        .filter_map(|(case, rates)| Some((case, stats::median(rates)?)));
    let usual: HashMap<&str, f64> = usual.collect();
    over_time(windows, |window| {
        let usual = usual
            .get(window.case.as_str())
            .filter(|&&usual| usual > 0.0)?;
        Some(100.0 * rate(window)? / usual)
    })
}

/// Returns seconds since the first window, with degrees Celsius.
fn temperatures(windows: &[&Sample]) -> Points {
    over_time(windows, |window| {
        Some(f64::from(window.climate.hottest_millic?) / 1000.0)
    })
}

fn over_time(windows: &[&Sample], value: impl Fn(&Sample) -> Option<f64>) -> Points {
    let start = windows
        .iter()
        .map(|window| window.opened_unix_ms)
        .min()
        .unwrap_or(0);
    let seconds = |window: &Sample| (window.opened_unix_ms - start) as f64 / 1000.0;
    let point = |window: &&Sample| Some((seconds(window), value(window)?));
    windows.iter().filter_map(point).collect()
}

/// Returns the received datagrams per second. `None`: the window has no length.
fn rate(window: &Sample) -> Option<f64> {
    let received = window.threads.iter().map(|thread| thread.result().0 as f64);
    (window.window_ns > 0).then(|| received.sum::<f64>() * 1e9 / window.window_ns as f64)
}

/// Number of equal parts of the time, each with a median.
const PARTS: usize = 20;

fn medians(points: &[(f64, f64)]) -> Points {
    let end = points.iter().map(|point| point.0).fold(0.0, f64::max);
    let part = |n: usize| {
        let (from, to) = (
            end * n as f64 / PARTS as f64,
            end * (n + 1) as f64 / PARTS as f64,
        );
        let is_last = n + 1 == PARTS;
        let within = points
            .iter()
            .filter(|(x, _)| from <= *x && (*x < to || is_last));
        Some((
            f64::midpoint(from, to),
            stats::median(within.map(|point| point.1).collect())?,
        ))
    };
    (0..PARTS).filter_map(part).collect()
}
