//! The page: its frame, and the order of its sections.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::title::{title, title_of};
use super::{comparison, dots, files, latency, summary, troubles};
use crate::VERSION;
use crate::experiment::register::ExperimentResults;
use crate::experiment::suite::Suite;
use crate::results::files::Results;

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
                    @for file in sweeps { (files::about(file, sweeps)) }
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
        let changes = comparison::changes(sweeps);
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
            Section::new(format!("sweep-{n}"), files::name(file, sweeps), body)
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
        ("reasons", "Skipped and failed", troubles::reasons(file)),
        ("warnings", "Warnings", troubles::warnings(file)),
    ];
    let sections = sections.into_iter();
    let known = sections.filter_map(|(id, heading, body)| {
        Some(Section::new(format!("{id}{number}"), heading, body?))
    });
    known.collect()
}
