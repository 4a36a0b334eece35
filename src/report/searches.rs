//! Section of a `udpbench find` search: a chart of the results, and the table of the terminal.

use maud::{Markup, html};

use super::cases::drawable;
use super::chart::{Drawn, Look, Scale, Track, Tracks};
use super::table::table;
use crate::experiment::find::header::Question;
use crate::experiment::find::table::answers;
use crate::experiment::find::tuning::judge;
use crate::experiment::find::{Record, Search, Searched};
use crate::verdict::judge::By;

/// Returns the results of a search.
pub(super) fn found(record: &Record) -> Markup {
    let answers = answers(record);
    html! {
        @for line in paragraphs(&answers.answer) { p { (line) } }
        @if !answers.table.is_empty() {
            (picture(record))
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
        Question::Cliff(_) => "The byte that costs more",
        Question::Idle(_) => "What silence costs",
        Question::Burst(_) => "The longest train that is taken whole",
        Question::Knee(_) => "How many datagrams per call are enough",
        Question::Tuning(_) => "Which setting helps",
    }
}

fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

fn picture(record: &Record) -> Markup {
    match &record.header().question {
        Question::Lossless(_) => intervals(record, ("kpps", "Without loss, with its interval")),
        Question::Burst(_) => intervals(record, ("datagrams", "Longest train, with its interval")),
        Question::Tuning(_) => changes(record),
        Question::Cliff(_) => curves(record, "Time per datagram or round trip by payload"),
        Question::Idle(_) => curves(
            record,
            "Median round trip by the silence before the request",
        ),
        Question::Knee(asked) => curves(
            record,
            match asked.by {
                By::Cpu => "CPU time per datagram received, by datagrams per call",
                By::Speed => "Time per datagram received, by datagrams per call",
            },
        ),
    }
}

/// Draws the result of each case with its interval.
fn intervals(record: &Record, (unit, caption): (&str, &str)) -> Markup {
    let names = record.names();
    let of = |searched: &Searched| {
        let (found, divisor) = match &searched.search {
            Search::Lossless(search) => (search.found(), 1000.0),
            Search::Burst(search) => (search.found(), 1.0),
            _ => return None,
        };
        let value = |load: Option<u32>| load.map(|load| f64::from(load) / divisor);
        let (low, high) = (value(found.interval.0), value(found.interval.1));
        Some(value_track(
            names.name(&searched.case),
            value(found.load)?,
            low.zip(high),
        ))
    };
    let found: Vec<(Track, Vec<f64>)> = record.cases().iter().filter_map(of).collect();
    // The rates of engines may differ by a factor of a hundred.
    let scale = Scale::logarithmic(
        found
            .iter()
            .flat_map(|(_, values)| values)
            .copied()
            .collect::<Vec<f64>>(),
    );
    let tracks: Vec<Track> = found.into_iter().map(|(track, _)| track).collect();
    Tracks {
        columns: &[unit],
        caption,
        scale,
        reference: None,
        band: None,
    }
    .draw(&tracks)
}

/// Returns a track of one value with its interval, and the values on it.
fn value_track(label: String, value: f64, interval: Option<(f64, f64)>) -> (Track, Vec<f64>) {
    let mut drawn = Vec::new();
    if let Some((low, high)) = interval {
        drawn.push(Drawn::Interval { low, high });
    }
    drawn.push(Drawn::Mark {
        at: value,
        look: Look::DOT,
    });
    let number = |value: f64| super::number::plain(value);
    let about = interval.map_or_else(String::new, |(low, high)| {
        format!("{} to {}", number(low), number(high))
    });
    let track = Track {
        label,
        drawn,
        values: vec![(number(value), about)],
        ..Track::default()
    };
    let ends = interval.into_iter().flat_map(|(low, high)| [low, high]);
    (track, ends.chain([value]).collect())
}

/// Draws the change by each setting.
fn changes(record: &Record) -> Markup {
    let tunings = record
        .header()
        .tunings
        .iter()
        .flat_map(|tunings| &tunings.tried);
    let names: Vec<&str> = tunings.map(|tuning| tuning.name.text()).collect();
    let cases = record.names();
    let mut tracks = Vec::new();
    let mut ends = Vec::new();
    for (searched, answers) in record.cases().iter().zip(judge(record)) {
        for (name, answer) in names.iter().zip(answers) {
            let Some(answer) = answer else {
                continue;
            };
            let pct = |faster: f64| 100.0 * faster.exp_m1();
            let interval = (pct(answer.low), pct(answer.high));
            let is_known = interval.0.is_finite() && interval.1.is_finite();
            let interval = is_known.then_some(interval);
            let label = format!("{name}: {}", cases.name(&searched.case));
            let change = pct(answer.faster);
            let (mut track, _) = value_track(label, change, interval);
            answer.verdict.text().clone_into(&mut track.values[0].1);
            ends.push(change);
            ends.extend(interval.into_iter().flat_map(|(low, high)| [low, high]));
            tracks.push(track);
        }
    }
    Tracks {
        columns: &["% faster"],
        caption: "Change by the value that is tried, with its interval",
        scale: Scale::linear(ends),
        reference: Some(0.0),
        band: None,
    }
    .draw(&tracks)
}

/// Draws time over the searched parameter: a chart for each case, with a line for each step.
fn curves(record: &Record, heading: &str) -> Markup {
    let names = record.names();
    let measured = record.cases().iter();
    let measured = measured.map(|searched| (names.name(&searched.case), points(&searched.search)));
    let measured: Vec<(String, Points)> =
        measured.filter(|(_, points)| !points.is_empty()).collect();
    let all = measured.iter().flat_map(|(_, points)| points);
    let all: Vec<f64> = all.map(|(_, us)| *us).collect();
    let scale = Scale::logarithmic(all);
    html! {
        p .legend { (heading) " on a logarithmic axis. Further left is shorter." }
        .facets {
            @for (case, points) in &measured {
                @let tracks = points.iter().map(|(step, us)| value_track(step.clone(), *us, None).0);
                (Tracks { columns: &["µs"], caption: case, scale, reference: None, band: None }
                    .draw(&tracks.collect::<Vec<_>>()))
            }
        }
    }
}

/// Labels of steps, with a time in microseconds.
type Points = Vec<(String, f64)>;

/// Returns the time of each step. Steps without a response are left out.
fn points(search: &Search) -> Points {
    let point = |step: String, ns: f64| Some((step, drawable(ns / 1e3)?));
    match search {
        Search::Cliff(search) => {
            let points = search.grid_ns().into_iter();
            points
                .filter_map(|(payload, ns)| point(format!("{payload} B"), ns))
                .collect()
        }
        Search::Idle(search) => {
            let points = search.curve().into_iter();
            points
                .filter_map(|(silence, ns, _)| point(silence.to_string(), ns?))
                .collect()
        }
        Search::Knee(search) => {
            let points = search.curve().into_iter();
            points
                .filter_map(|(datagrams, ns)| point(datagrams.to_string(), ns))
                .collect()
        }
        _ => Vec::new(),
    }
}
