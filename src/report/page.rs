//! The page: its frame, its title, and the order of its sections.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{changes, dots, latency, summary, tables};
use crate::VERSION;
use crate::experiment::register::ExperimentResults;
use crate::experiment::suite::Suite;
use crate::plan::once_each;
use crate::results::files::Results;
use crate::results::row::Row;

/// Start of each report. A file without it is not a report, and is not overwritten.
pub const MARK: &str = "<!DOCTYPE html><!-- a report of udpbench -->";

/// Content security policy: the page loads nothing and runs nothing, whatever the results contain.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// A section of the page.
struct Section {
    id: String,
    heading: String,
    body: Markup,
}

impl Section {
    fn new(id: impl Into<String>, heading: impl Into<String>, body: Markup) -> Self {
        Self {
            id: id.into(),
            heading: heading.into(),
            body,
        }
    }
}

/// Returns the whole page. With several sweeps, the others are compared with the first. Each log has its own section.
/// The sweeps of a suite are not compared.
pub fn page(sweeps: &[Results], others: &[ExperimentResults], suite: Option<&Suite>) -> String {
    let title = match suite {
        None if sweeps.is_empty() => title_of(others),
        None => title(sweeps),
        Some(suite) => format!("{}{}", suite.title, title(sweeps).trim_start_matches("UDP")),
    };
    let sections = sections(sweeps, others, suite);
    let page = html! {
        (DOCTYPE) (PreEscaped("<!-- a report of udpbench -->"))
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(include_str!("page.css"))) }
            }
            body {
                a .skip href="#content" { "Skip to the content" }
                header {
                    h1 { (title) }
                    @if let Some(suite) = suite { p { (suite.about) " From " (suite.source) "." } }
                    @for file in sweeps { (summary::about(file, sweeps)) }
                }
                nav aria-label="Contents" {
                    ul { @for section in &sections { li { a href={ "#" (section.id) } { (section.heading) } } } }
                }
                main #content {
                    @for Section { id, heading, body } in &sections {
                        section aria-labelledby=(id) { h2 id=(id) { (heading) } (body) }
                    }
                }
                footer { p { "Made by udpbench " (VERSION) "." } }
            }
        }
    };
    page.into_string()
}

fn sections(
    sweeps: &[Results],
    others: &[ExperimentResults],
    suite: Option<&Suite>,
) -> Vec<Section> {
    let mut sections = Vec::new();
    if suite.is_none() {
        let changes = changes::changes(sweeps);
        sections.extend(changes.map(|it| Section::new("comparison", "What changed", it)));
    }
    if !sweeps.is_empty() {
        let answer = summary::summary(sweeps);
        sections.push(Section::new("summary", "Which engine to use", answer));
    }
    match sweeps {
        [one] => sections.extend(of_sweep(one, "")),
        several => sections.extend(several.iter().enumerate().map(|(n, file)| {
            let parts = of_sweep(file, &format!("-{n}"));
            let body = html! {
                @for Section { id, heading, body } in parts {
                    section aria-labelledby=(id) { h3 id=(id) { (heading) } (body) }
                }
            };
            Section::new(format!("sweep-{n}"), summary::name(file, sweeps), body)
        })),
    }
    let logs = others.iter().enumerate();
    sections.extend(logs.map(|(n, log)| {
        let (id, heading) = log.title();
        Section::new(format!("{id}-{n}"), heading, log.found())
    }));
    sections
}

/// Returns the sections of a sweep. `number`: the end of their ids, which distinguishes sweeps.
fn of_sweep(file: &Results, number: &str) -> Vec<Section> {
    let rows = &file.rows;
    let sections = [
        ("latency", "Round trips", latency::charts(rows)),
        ("speed", "Throughput", Some(dots::SPEED.charts(rows))),
        ("cpu", "CPU time per datagram", Some(dots::CPU.charts(rows))),
        ("reasons", "Skipped and failed", tables::reasons(file)),
        ("warnings", "Warnings", tables::warnings(file)),
    ];
    let sections = sections.into_iter();
    let known = sections.filter_map(|(id, heading, body)| {
        Some(Section::new(format!("{id}{number}"), heading, body?))
    });
    known.collect()
}

/// Returns the title of a page without sweeps: each distinct question and machine once.
fn title_of(others: &[ExperimentResults]) -> String {
    let titles = once_each(others.iter().map(|log| log.title().1));
    let machines = once_each(others.iter().map(ExperimentResults::machine));
    format!("{}: UDP on {}", titles.join(", "), machines.join(", "))
}

/// Returns the title of a page of sweeps: each distinct machine once.
fn title(sweeps: &[Results]) -> String {
    let machines = once_each(rows(sweeps).filter_map(machine));
    let are_wires = rows(sweeps).all(|row| row.direction.is_some());
    let preposition = if are_wires { "from" } else { "on" };
    match machines.len() {
        0 => "UDP, measured".to_owned(),
        1..=3 => format!("UDP {preposition} {}", machines.join(" and ")),
        many => format!("UDP on {many} machines"),
    }
}

/// Returns the machine of a row. Between two hosts, both: `a laptop to Raspberry Pi 4 Model B`.
fn machine(row: &Row) -> Option<String> {
    let known = |names: [&String; 3]| names.into_iter().find(|name| !name.is_empty()).cloned();
    let local = known([&row.model, &row.cpu_model, &row.board])?;
    let local = summary::marked(local, &row.virtualization);
    let remote = known([&row.remote_model, &row.remote_cpu_model, &row.remote_board]);
    Some(match remote {
        None => local,
        Some(remote) => format!("{local} to {remote}"),
    })
}

fn rows(sweeps: &[Results]) -> impl Iterator<Item = &Row> {
    sweeps.iter().flat_map(|file| &file.rows)
}
