//! Section of a `udpbench find` search: a chart of the results, and the table of the terminal.

use maud::{Markup, html};

use super::chart::{Drawn, Look, Scale, Track, Tracks, dot};
use super::labels::{drawable, plain};
use super::tables::table;
use crate::experiment::find::axis::{AxisQuestion, Parameter};
use crate::experiment::find::header::Question;
use crate::experiment::find::table::answers;
use crate::experiment::find::{Record, Search, Searched};
use crate::verdict::judge::By;

/// Returns the results of a search.
pub(super) fn found(record: &Record) -> Markup {
    let answers = answers(record);
    html! {
        @for line in paragraphs(&answers.answer) { p { (line) } }
        @if !answers.table.is_empty() {
            @match &record.header().question {
                Question::Lossless(_) => (intervals(record, ("kpps", "Without loss, with its interval"))),
                Question::Burst(_) => (intervals(record, ("datagrams", "Longest train, with its interval"))),
                Question::Axis(asked) => (curves(record, *asked)),
            }
            (table("Answers", &answers.table))
        }
        @for paragraph in paragraphs(&answers.legend) { p { (paragraph) } }
        @for paragraph in paragraphs(&answers.notes) { p .bad { (paragraph) } }
    }
}

/// Returns the heading of a search.
pub(super) fn title(record: &Record) -> &'static str {
    match record.header().question {
        Question::Lossless(_) => "The highest rate without loss",
        Question::Axis(asked) => match asked.parameter {
            Parameter::Payload { .. } => "The byte that costs more",
            Parameter::Silence { .. } => "What silence costs",
            Parameter::Call => "How many datagrams per call are enough",
        },
        Question::Burst(_) => "The longest train that is taken whole",
    }
}

fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// Draws the result of each case with its interval.
fn intervals(record: &Record, (unit, caption): (&str, &str)) -> Markup {
    let names = record.names();
    let of = |searched: &Searched| {
        let (found, divisor) = match &searched.search {
            Search::Lossless(search) => (search.found(), 1000.0),
            Search::Burst(search) => (search.found(), 1.0),
            Search::Axis(_) => return None,
        };
        let value = |load: Option<u32>| load.map(|load| f64::from(load) / divisor);
        let interval = value(found.interval.0).zip(value(found.interval.1));
        let name = names.name(&searched.case);
        Some(track(name, value(found.load)?, interval))
    };
    let tracks: Vec<Track> = record.cases().iter().filter_map(of).collect();
    if tracks.is_empty() {
        return html! {};
    }
    // The rates of engines may differ by a factor of a hundred.
    let scale = Scale::logarithmic(values(&tracks));
    Tracks::new(&[unit], caption, scale).draw(&tracks)
}

/// Returns a track of one value with its interval.
fn track(label: String, value: f64, interval: Option<(f64, f64)>) -> Track {
    let about = interval.map(|(low, high)| format!("{} to {}", plain(low), plain(high)));
    Track {
        label,
        drawn: dot(value, interval, Look::DOT),
        values: vec![(plain(value), about.unwrap_or_default())],
        ..Track::default()
    }
}

/// Returns the values that an axis has to contain.
fn values(tracks: &[Track]) -> Vec<f64> {
    let drawn = tracks.iter().flat_map(|track| &track.drawn);
    let values = drawn.flat_map(|drawn| match drawn {
        Drawn::Interval { low, high } => vec![*low, *high],
        Drawn::Mark { at, .. } => vec![*at],
    });
    values.collect()
}

/// Draws time over the searched parameter: a chart for each case, with a line for each value. Values without a time are
/// left out.
fn curves(record: &Record, asked: AxisQuestion) -> Markup {
    let names = record.names();
    let measured = record.cases().iter().filter_map(|searched| {
        let Search::Axis(search) = &searched.search else {
            return None;
        };
        let points = search.curve().into_iter().filter_map(|(value, ns, _)| {
            let us = drawable(ns? / 1e3)?;
            Some(track(asked.parameter.text(value), us, None))
        });
        let name = format!("{}, by {}", names.name(&searched.case), search.parameter());
        Some((name, points.collect::<Vec<Track>>()))
    });
    let measured: Vec<_> = measured.filter(|(_, tracks)| !tracks.is_empty()).collect();
    let all = measured.iter().flat_map(|(_, tracks)| values(tracks));
    let scale = Scale::logarithmic(all.collect::<Vec<f64>>());
    let heading = match asked.by {
        By::Speed => "Median round trip, or time per datagram received,",
        By::Cpu => "CPU time per datagram received",
    };
    html! {
        p .legend { (heading) " on a logarithmic axis. Further left is shorter." }
        .facets {
            @for (case, tracks) in &measured {
                (Tracks::new(&["µs"], case, scale).draw(tracks))
            }
        }
    }
}
