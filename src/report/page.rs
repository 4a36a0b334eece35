//! The sections of the page, and their order.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::charts::Charts;
use super::{
    board, comparison, drift, fitness, latency, over_payload, published, ranking, reasons, shares,
    summary, tables,
};
use crate::VERSION;
use crate::experiment::register::ExperimentResults;
use crate::experiment::suite::Suite;
use crate::results::files::Results;
use crate::results::row::Row;

/// Start of each report. A file without it is not a report, and is not overwritten.
pub const MARK: &str = "<!DOCTYPE html><!-- a report of udpbench -->";

/// Returns the whole page. With several sweeps, the others are compared with the first. Each log has its own section.
pub fn page(sweeps: &[Results], others: &[ExperimentResults]) -> String {
    page_of(sweeps, others, None)
}

/// Returns the page of a suite's sweeps and searches, next to published results.
pub fn suite_page(sweeps: &[Results], others: &[ExperimentResults], suite: &Suite) -> String {
    page_of(sweeps, others, Some(suite))
}

fn page_of(sweeps: &[Results], others: &[ExperimentResults], suite: Option<&Suite>) -> String {
    let title = match suite {
        None if sweeps.is_empty() => title_of(others),
        None => title(sweeps),
        Some(suite) => format!("{}{}", suite.title, title(sweeps).trim_start_matches("UDP")),
    };
    let charts = if sweeps.is_empty() {
        Vec::new()
    } else {
        all_charts(sweeps, suite)
    };
    let styles: String = charts.iter().map(Charts::style).collect();
    let page = html! {
        (DOCTYPE) (PreEscaped("<!-- a report of udpbench -->"))
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(include_str!("page.css"))) (PreEscaped(styles)) }
            }
            body {
                a .skip href="#content" { "Skip to the content" }
                header {
                    h1 { (title) }
                    @if !sweeps.is_empty() { p { (board::lead(sweeps)) } }
                    @if let Some(suite) = suite { p { (suite.about) " From " (suite.source) "." } }
                }
                nav aria-label="Contents" {
                    ul {
                        @for (id, title) in contents(sweeps, others, suite) { li { a href={ "#" (id) } { (title) } } }
                    }
                }
                main #content {
                    @if !sweeps.is_empty() {
                        section #summary aria-label="Summary" { (summary::summary(sweeps, suite.is_none())) }
                    }
                    @for (n, charts) in charts.iter().enumerate() {
                        @let name = suite.and(sweeps.get(n)).map(|file| board::shown(file, sweeps));
                        (of_files(charts, n, name.as_deref()))
                    }
                    @for (n, log) in others.iter().enumerate() { (log.section(n)) }
                    @if !sweeps.is_empty() { (rest(sweeps, suite)) }
                }
                footer {
                    p {
                        "Made by udpbench " (VERSION) "."
                        @if !rows(sweeps).any(is_of_a_wire) && !others.iter().any(ExperimentResults::is_of_a_wire) { " UDP over loopback, not over a network." }
                    }
                }
                (tables::data(sweeps))
                script { (PreEscaped(include_str!("page.js"))) }
            }
        }
    };
    page.into_string()
}

/// Returns the charts. Compared sweeps are drawn over each other. The sweeps of a suite measure different things, so
/// each has its own charts.
fn all_charts<'a>(sweeps: &'a [Results], suite: Option<&Suite>) -> Vec<Charts<'a>> {
    let together = if suite.is_some() {
        1
    } else {
        sweeps.len().max(1)
    };
    let groups = sweeps.chunks(together).enumerate();
    groups.map(|(n, sweeps)| Charts::new(sweeps, n)).collect()
}

/// Returns the sections of the charts. `name`: the sweep's name, in a suite.
fn of_files(charts: &Charts, n: usize, name: Option<&str>) -> Markup {
    html! {
        @if let Some(name) = name { h2 id={ "sweep-" (n) } { (name) } }
        @for (id, title, body) in charts.draw() {
            section aria-labelledby=(id) {
                @if name.is_some() { h3 id=(id) { (title) } } @else { h2 id=(id) { (title) } }
                (body)
            }
        }
    }
}

/// Returns the part after the charts: details and appendix.
fn rest(sweeps: &[Results], suite: Option<&Suite>) -> Markup {
    html! {
        h2 #details { "Details" }
        @for section in details(sweeps, suite) {
            section aria-labelledby=(section.id) {
                details open[section.is_open] {
                    summary { h3 id=(section.id) { (section.title) } }
                    (section.body)
                }
            }
        }
        h2 #appendix { "Appendix" }
        @for section in appendix(sweeps) {
            section aria-labelledby=(section.id) { h3 id=(section.id) { (section.title) } (section.body) }
        }
    }
}

/// Content security policy: the page loads nothing from the network, whatever the results contain.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      img-src data:; base-uri 'none'; form-action 'none'";

/// Returns the table of contents: ids and titles.
fn contents(
    sweeps: &[Results],
    others: &[ExperimentResults],
    suite: Option<&Suite>,
) -> Vec<(String, String)> {
    let entry = |(id, title): (&str, &str)| (id.to_owned(), title.to_owned());
    let charts = [
        ("speed", "Throughput"),
        ("cpu", "CPU time"),
        ("loss", "Loss"),
    ];
    let parts = sweeps.iter().enumerate();
    let parts = parts.map(|(n, file)| (format!("sweep-{n}"), board::shown(file, sweeps)));
    let charts: Vec<_> = match suite {
        None if sweeps.is_empty() => Vec::new(),
        None => charts.into_iter().map(entry).collect(),
        Some(_) => parts.collect(),
    };
    let others = others.iter().enumerate();
    let others = others.map(|(n, log)| (log.id(n), log.title().to_owned()));
    let rest = [("details", "Details"), ("appendix", "Appendix")].map(entry);
    let rest = rest.into_iter().filter(|_| !sweeps.is_empty());
    charts.into_iter().chain(others).chain(rest).collect()
}

struct Section {
    id: &'static str,
    title: &'static str,
    body: Markup,
    /// True if a collapsible section is open at first.
    is_open: bool,
}

fn section(id: &'static str, title: &'static str, body: Markup) -> Section {
    Section {
        id,
        title,
        body,
        is_open: false,
    }
}

/// Returns the collapsible sections. The comparison needs more than one file.
fn details(sweeps: &[Results], suite: Option<&Suite>) -> Vec<Section> {
    let published = suite.and_then(|suite| published::tables(suite, sweeps));
    let changes = comparison::changes(sweeps).filter(|_| suite.is_none());
    let latency = latency::charts(sweeps).map(|charts| each(sweeps, charts));
    let beginning = [
        ("published", "Beside what was published", published),
        ("comparison", "What changed", changes),
        ("latency", "Round trips", latency),
    ];
    let beginning = beginning.into_iter();
    let mut sections: Vec<Section> = beginning
        .filter_map(|(id, title, body)| {
            Some(Section {
                is_open: true,
                ..section(id, title, body?)
            })
        })
        .collect();
    sections.extend([section("ranking", "Ranking", ranking::places(sweeps))]);
    let over_payload = over_payload::charts(sweeps).map(|charts| each(sweeps, charts));
    sections
        .extend(over_payload.map(|charts| section("payload", "Throughput over payload", charts)));
    sections.extend([
        section("drift", "Over time", each(sweeps, drift::charts)),
        section("shares", "Receiver shares", each(sweeps, shares::charts)),
        section(
            "reasons",
            "Skipped and failed",
            each(
                sweeps,
                |file| html! { (board::cases(file)) (reasons::table(file)) },
            ),
        ),
        section(
            "accounting",
            "Every datagram",
            each(sweeps, fitness::accounting),
        ),
        section("rows", "All numbers", tables::tables(sweeps)),
    ]);
    sections
}

/// Returns the sections on the machine and on warnings.
fn appendix(sweeps: &[Results]) -> Vec<Section> {
    vec![
        section("host", "Host", each(sweeps, board::host)),
        section("warnings", "Warnings", each(sweeps, fitness::warnings)),
    ]
}

/// Returns the part of each file, under the file's name if there are several.
fn each(sweeps: &[Results], part: impl Fn(&Results) -> Markup) -> Markup {
    html! {
        @for file in sweeps {
            @if sweeps.len() > 1 { h4 { (board::shown(file, sweeps)) } }
            (part(file))
        }
    }
}

/// Returns the title of a page without sweeps: each distinct question and machine once.
fn title_of(others: &[ExperimentResults]) -> String {
    let distinct = |of: &dyn Fn(&ExperimentResults) -> String| {
        let mut all: Vec<String> = Vec::new();
        for one in others.iter().map(of) {
            if !all.contains(&one) {
                all.push(one);
            }
        }
        all.join(", ")
    };
    let asked = distinct(&|log| log.title().to_owned());
    format!("{asked}: UDP on {}", distinct(&ExperimentResults::machine))
}

/// Returns the title of a page of sweeps: each distinct machine once. An emulated or virtual machine is marked,
/// because its numbers are not those of the board.
fn title(sweeps: &[Results]) -> String {
    let mut machines: Vec<String> = Vec::new();
    for machine in rows(sweeps).filter_map(machine) {
        if !machines.contains(&machine) {
            machines.push(machine);
        }
    }
    let preposition = if rows(sweeps).all(is_of_a_wire) {
        "from"
    } else {
        "on"
    };
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
    let local = match row.virtualization.as_str() {
        "" => local,
        by => format!("{local} (emulated or virtualised: {by})"),
    };
    let remote = known([&row.remote_model, &row.remote_cpu_model, &row.remote_board]);
    Some(match remote {
        None => local,
        Some(remote) => format!("{local} to {remote}"),
    })
}

fn is_of_a_wire(row: &Row) -> bool {
    row.direction.is_some()
}

fn rows(sweeps: &[Results]) -> impl Iterator<Item = &Row> {
    sweeps.iter().flat_map(|file| &file.rows)
}
