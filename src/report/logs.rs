//! Sections of logs other than sweeps: of a search along a parameter also its curve, of a comparison of A with B the
//! setups and the changes.

use maud::{Markup, html};

use super::changes::{self, legend_of, what};
use super::chart::{Look, Scale, Track, Tracks, dot};
#[cfg(feature = "field")]
use super::field;
use super::labels::{drawable, plain};
use super::summary::{begun, command, marked, reach};
use super::tables::table;
use crate::experiment::ab::table::{legend, notes, settings};
use crate::experiment::ab::{AbComparison, Side, judge};
use crate::experiment::find::axis::{AxisQuestion, Parameter};
use crate::experiment::find::header::SearchQuestion;
use crate::experiment::find::table::answers;
use crate::experiment::find::{Record, Search};
use crate::experiment::register::ExperimentResults;
use crate::host::facts::{Host, InterfaceKind};
use crate::plan::WireLink;
use crate::plan::once_each;
use crate::results::row::{Environment, Network};
use crate::session::Logged;
use crate::term::table::Columns;
use crate::verdict::judge::table::counts;
use crate::verdict::judge::{Criterion, Judgement, Metric, Threshold};

impl ExperimentResults {
    /// Returns what was measured where, and what was found.
    pub(super) fn found(&self) -> Markup {
        let run = match self {
            Self::Search(record) => &record.header.run,
            Self::Sides(it) => &it.header().run,
            #[cfg(feature = "field")]
            Self::Field(log) => log.run(),
        };
        let found = match self {
            Self::Search(record) => searched(record),
            Self::Sides(it) => compared(it),
            #[cfg(feature = "field")]
            Self::Field(log) => field::found(log),
        };
        html! {
            p { (begun(run, &self.machine())) }
            (command(run))
            @if let Some(network) = self.network() { p .chips { span { (reach(network)) } } }
            (found)
        }
    }

    /// Returns the beginning of the id of the section, and its heading.
    pub(super) fn title(&self) -> (&'static str, &'static str) {
        match self {
            Self::Search(record) => ("search", question(record)),
            Self::Sides(_) => ("ab", "Did this change help"),
            #[cfg(feature = "field")]
            Self::Field(log) => field::title(log),
        }
    }

    /// Returns the machine. Between two hosts, both.
    pub(super) fn machine(&self) -> String {
        match self {
            Self::Search(record) => {
                let local = real(&record.header.environment);
                match &record.header.wire {
                    None => local,
                    Some(wire) => format!("{local} to {}", model(&wire.host, &wire.board)),
                }
            }
            Self::Sides(it) => real(&it.header().environment),
            #[cfg(feature = "field")]
            Self::Field(log) => field::machine(log),
        }
    }

    /// Returns what is between the ends. `None`: not known, as the other end is no udpbench.
    fn network(&self) -> Option<Network> {
        let wire = match self {
            Self::Search(record) => record.header.wire.as_ref(),
            Self::Sides(_) => None,
            #[cfg(feature = "field")]
            Self::Field(log) => return field::network(log),
        };
        let is_veth = |link: &WireLink| link.local.interface.kind == InterfaceKind::Veth;
        Some(match wire {
            None => Network::Loopback,
            Some(wire) if wire.links.iter().any(is_veth) => Network::Veth,
            Some(_) => Network::Wire,
        })
    }
}

fn model(host: &Host, board: &str) -> String {
    let model = host.model.as_deref();
    model.unwrap_or(board).to_owned()
}

fn real(Environment { host, board, .. }: &Environment) -> String {
    let by = host.virtualization.as_deref().unwrap_or_default();
    marked(model(host, board), by)
}

/// Returns the results of a search.
fn searched(record: &Record) -> Markup {
    let answers = answers(record);
    html! {
        @for line in paragraphs(&answers.answer) { p { (line) } }
        @if !answers.table.is_empty() {
            @if let SearchQuestion::Axis(asked) = &record.header.question { (curves(record, *asked)) }
            (table("Answers", &answers.table))
        }
        @for paragraph in paragraphs(&answers.legend) { p { (paragraph) } }
        @for paragraph in paragraphs(&answers.notes) { p .bad { (paragraph) } }
    }
}

/// Returns the heading of a search.
fn question(record: &Record) -> &'static str {
    match record.header.question {
        SearchQuestion::Lossless(_) => "The highest rate without loss",
        SearchQuestion::Axis(asked) => match asked.parameter {
            Parameter::Payload { .. } => "The byte that costs more",
            Parameter::Silence { .. } => "What silence costs",
            Parameter::Call => "How many datagrams per call are enough",
        },
        SearchQuestion::Burst(_) => "The longest train that is taken whole",
    }
}

fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// Draws time over the searched parameter: a chart for each case, with a line for each value. Values without a time are
/// left out.
fn curves(record: &Record, asked: AxisQuestion) -> Markup {
    let names = record.names();
    let measured = record.cases.iter().filter_map(|case| {
        let Search::Axis(search) = &case.search else {
            return None;
        };
        let points = search.curve().into_iter().filter_map(|(value, ns, _)| {
            let us = drawable(ns? / 1e3)?;
            Some((asked.parameter.text(value), us))
        });
        let name = format!("{}, by {}", names.name(&case.case), search.parameter());
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
        Metric::Speed => "Median round trip, or time per datagram received,",
        Metric::Cpu => "CPU time per datagram received",
    };
    html! {
        p .legend { (heading) " on a logarithmic axis. Further left is shorter." }
        .facets {
            @for (name, points) in &measured {
                (Tracks::new(&["µs"], name, scale).draw(&points.iter().map(track).collect::<Vec<_>>()))
            }
        }
    }
}

/// Returns the results of a comparison of A with B, by speed and by CPU time.
fn compared(comparison: &AbComparison) -> Markup {
    let judged = [Metric::Speed, Metric::Cpu].map(|by| {
        let threshold = Threshold::default();
        judge(comparison, Criterion { by, threshold })
    });
    let notes = judged.each_ref().map(|it| notes(comparison, it)).concat();
    html! {
        .answer .worse[judged.iter().any(Judgement::is_worse)] {
            p .advice { b { "B against A, " (comparison.rounds()) " rounds" } }
            @for judgement in &judged {
                p .advice { b { (what(judgement.question.by)) ": " } (counts(judgement)) "." }
            }
        }
        (changes::engines(&judged.each_ref()))
        @match &comparison.header().tunings {
            Some(tunings) => (table("Settings", &settings(tunings))),
            None => (setups(comparison)),
        }
        @for judgement in &judged {
            h3 { (what(judgement.question.by)) }
            (changes::cases(judgement, ["A", "B"]))
            (legend_of(&legend(comparison.header(), judgement)))
        }
        @for note in once_each(notes.lines().filter(|line| !line.is_empty())) { p .bad { (note) } }
    }
}

/// Returns a table of the setups of A and B.
fn setups(comparison: &AbComparison) -> Markup {
    let setup = |side: &Side| comparison.header().setup(*side);
    let columns = Columns::<Side>::default()
        .word("side", Side::to_string)
        .word("program", |side| setup(side).name().to_owned())
        .word("version", |side| setup(side).version.clone())
        .word("options", |side| setup(side).options.join(" "))
        .text("command before it", |side| {
            setup(side).before.clone().unwrap_or_default()
        });
    table("Sides", &columns.table(Side::BOTH))
}
