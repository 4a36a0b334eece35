//! Section of a `udpbench find` search: the table of the terminal; of a search along a parameter, also the curve.

use maud::{Markup, html};

use super::chart::{Look, Scale, Track, Tracks, dot};
use super::labels::{drawable, plain};
use super::tables::table;
use crate::experiment::find::axis::{AxisQuestion, Parameter};
use crate::experiment::find::header::Question;
use crate::experiment::find::table::answers;
use crate::experiment::find::{Record, Search};
use crate::verdict::judge::By;

/// Returns the results of a search.
pub(super) fn found(record: &Record) -> Markup {
    let answers = answers(record);
    html! {
        @for line in paragraphs(&answers.answer) { p { (line) } }
        @if !answers.table.is_empty() {
            @if let Question::Axis(asked) = &record.header().question { (curves(record, *asked)) }
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
            Some((asked.parameter.text(value), us))
        });
        let name = format!("{}, by {}", names.name(&searched.case), search.parameter());
        Some((name, points.collect::<Vec<(String, f64)>>()))
    });
    let measured: Vec<_> = measured.filter(|(_, points)| !points.is_empty()).collect();
    let all = measured.iter().flat_map(|(_, points)| points);
    let scale = Scale::logarithmic(all.map(|(_, us)| *us).collect::<Vec<f64>>());
    let track = |(label, us): &(String, f64)| Track {
        label: label.clone(),
        drawn: dot(*us, None, Look::DOT),
        values: vec![(plain(*us), String::new())],
        ..Track::default()
    };
    let heading = match asked.by {
        By::Speed => "Median round trip, or time per datagram received,",
        By::Cpu => "CPU time per datagram received",
    };
    html! {
        p .legend { (heading) " on a logarithmic axis. Further left is shorter." }
        .facets {
            @for (case, points) in &measured {
                (Tracks::new(&["µs"], case, scale).draw(&points.iter().map(track).collect::<Vec<_>>()))
            }
        }
    }
}
