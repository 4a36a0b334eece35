//! Section of a `udpbench find` search: a chart of the results, and the table of the terminal.

use maud::{Markup, html};

use super::cases::drawable;
use super::chart::{Drawn, Look, Scale, Track, Tracks};
use super::number::plain;
use super::table::table;
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
    }
}

fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

fn picture(record: &Record) -> Markup {
    match &record.header().question {
        Question::Lossless(_) => intervals(record, ("kpps", "Without loss, with its interval")),
        Question::Burst(_) => intervals(record, ("datagrams", "Longest train, with its interval")),
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
        let interval = value(found.interval.0).zip(value(found.interval.1));
        let name = names.name(&searched.case);
        Some(track(name, value(found.load)?, interval))
    };
    let tracks: Vec<Track> = record.cases().iter().filter_map(of).collect();
    if tracks.is_empty() {
        return html! {};
    }
    Tracks {
        columns: &[unit],
        caption,
        // The rates of engines may differ by a factor of a hundred.
        scale: Scale::logarithmic(values(&tracks)),
        reference: None,
        band: None,
    }
    .draw(&tracks)
}

/// Returns a track of one value with its interval.
fn track(label: String, value: f64, interval: Option<(f64, f64)>) -> Track {
    let look = Look::DOT;
    let drawn = interval.map(|(low, high)| Drawn::Interval { low, high });
    let drawn = drawn.into_iter().chain([Drawn::Mark { at: value, look }]);
    let about = interval.map(|(low, high)| format!("{} to {}", plain(low), plain(high)));
    Track {
        label,
        drawn: drawn.collect(),
        values: vec![(plain(value), about.unwrap_or_default())],
        ..Track::default()
    }
}

/// Returns the values that an axis has to contain.
fn values(tracks: &[Track]) -> Vec<f64> {
    let drawn = tracks.iter().flat_map(|track| &track.drawn);
    let values = drawn.flat_map(|drawn| match drawn {
        Drawn::Interval { low, high } => vec![*low, *high],
        Drawn::Mark { at, .. } | Drawn::Note { at, .. } => vec![*at],
    });
    values.collect()
}

/// Draws time over the searched parameter: a chart for each case, with a line for each step.
fn curves(record: &Record, heading: &str) -> Markup {
    let names = record.names();
    let measured = record.cases().iter().map(|searched| {
        let points = points(&searched.search).into_iter();
        let tracks = points.map(|(step, us)| track(step, us, None));
        (names.name(&searched.case), tracks.collect::<Vec<Track>>())
    });
    let measured: Vec<_> = measured.filter(|(_, tracks)| !tracks.is_empty()).collect();
    let all = measured.iter().flat_map(|(_, tracks)| values(tracks));
    let scale = Scale::logarithmic(all.collect::<Vec<f64>>());
    html! {
        p .legend { (heading) " on a logarithmic axis. Further left is shorter." }
        .facets {
            @for (case, tracks) in &measured {
                (Tracks { columns: &["µs"], caption: case, scale, reference: None, band: None }.draw(tracks))
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
