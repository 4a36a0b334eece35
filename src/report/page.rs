//! The page: its frame, and the order of its sections.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::charts::{self, Charts};
use super::details::{appendix, details};
use super::summary::is_of_a_wire;
use super::title::{rows, title, title_of};
use super::{board, comparison, latency, summary, tables};
use crate::VERSION;
use crate::experiment::register::ExperimentResults;
use crate::experiment::suite::Suite;
use crate::results::files::Results;
use crate::results::row::Network;

/// Start of each report. A file without it is not a report, and is not overwritten.
pub const MARK: &str = "<!DOCTYPE html><!-- a report of udpbench -->";

/// State of the tables at first. Only unfolded ones are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    /// The reader unfolds what is of interest.
    Folded,
    /// All are unfolded, and printed.
    Unfolded,
}

/// Returns the whole page. With several sweeps, the others are compared with the first. Each log has its own section.
/// The sweeps of a suite are not compared: they are next to published results.
pub fn page(
    sweeps: &[Results],
    others: &[ExperimentResults],
    suite: Option<&Suite>,
    tables: Tables,
) -> String {
    let page = whole(&Contents {
        sweeps,
        others,
        suite,
        tables,
    });
    match tables {
        Tables::Folded => page.into_string(),
        // Texts of the results cannot contain this: there, `<` is escaped.
        Tables::Unfolded => page.into_string().replace("<details>", "<details open>"),
    }
}

/// Subject of the page.
struct Contents<'a> {
    sweeps: &'a [Results],
    others: &'a [ExperimentResults],
    suite: Option<&'a Suite>,
    tables: Tables,
}

/// A section: its id, heading and contents.
type Section = (String, String, Markup);

fn whole(of: &Contents) -> Markup {
    let Contents {
        sweeps,
        others,
        suite,
        ..
    } = *of;
    let title = match suite {
        None if sweeps.is_empty() => title_of(others),
        None => title(sweeps),
        Some(suite) => format!("{}{}", suite.title, title(sweeps).trim_start_matches("UDP")),
    };
    let charts = of.charts();
    let styles: String = charts.iter().map(Charts::style).collect();
    html! {
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
                (of.body(&charts))
                footer {
                    p {
                        "Made by udpbench " (VERSION) "."
                        @if of.is_loopback() { " UDP over loopback, not over a network." }
                    }
                }
                (tables::data(sweeps))
                script { (PreEscaped(include_str!("page.js"))) }
            }
        }
    }
}

/// Content security policy: the page loads nothing from the network, whatever the results contain.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      img-src data:; base-uri 'none'; form-action 'none'";

impl<'a> Contents<'a> {
    /// Returns the charts. The sweeps of a suite measure different things, so each has its own charts.
    fn charts(&self) -> Vec<Charts<'a>> {
        let together = match self.suite {
            Some(_) => 1,
            None => self.sweeps.len().max(1),
        };
        let groups = self.sweeps.chunks(together).enumerate();
        groups.map(|(n, sweeps)| Charts::new(sweeps, n)).collect()
    }

    fn is_loopback(&self) -> bool {
        !rows(self.sweeps).any(is_of_a_wire)
            && self
                .others
                .iter()
                .all(|other| other.network() == Some(Network::Loopback))
    }

    /// Returns the table of contents and the sections.
    fn body(&self, charts: &[Charts]) -> Markup {
        let changes = comparison::changes(self.sweeps).filter(|_| self.suite.is_none());
        let drawn = charts.iter().enumerate();
        let drawn: Vec<(Option<String>, Vec<Section>)> = drawn
            .map(|(n, charts)| (self.name(n), measured(charts, n)))
            .collect();
        let mut entries: Vec<(String, String)> = Vec::new();
        let entry = |id: &str, title: &str| (id.to_owned(), title.to_owned());
        entries.extend(changes.iter().map(|_| entry("comparison", "What changed")));
        for (n, (name, sections)) in drawn.iter().enumerate() {
            match name {
                Some(name) => entries.push((format!("sweep-{n}"), name.clone())),
                None => entries.extend(sections.iter().map(|(id, title, _)| entry(id, title))),
            }
        }
        let logs = self.others.iter().enumerate();
        entries.extend(logs.map(|(n, log)| (log.id(n), log.title().to_owned())));
        if !self.sweeps.is_empty() {
            entries.extend([entry("details", "Details"), entry("appendix", "Appendix")]);
        }
        let has_changes = changes.is_some();
        html! {
            nav aria-label="Contents" {
                ul { @for (id, title) in entries { li { a href={ "#" (id) } { (title) } } } }
            }
            main #content {
                @if let Some(changes) = changes {
                    section aria-labelledby="comparison" { h2 #comparison { "What changed" } (changes) }
                }
                @if !self.sweeps.is_empty() {
                    section #summary aria-label="Summary" {
                        @if has_changes { h2 { "Which engine to use, by all files" } }
                        (summary::summary(self.sweeps))
                    }
                }
                @for (n, (name, sections)) in drawn.iter().enumerate() {
                    @if let Some(name) = name { h2 id={ "sweep-" (n) } { (name) } }
                    @for (id, title, body) in sections {
                        section aria-labelledby=(id) {
                            @if name.is_some() { h3 id=(id) { (title) } } @else { h2 id=(id) { (title) } }
                            (body)
                        }
                    }
                }
                @for (n, log) in self.others.iter().enumerate() { (log.section(n)) }
                @if !self.sweeps.is_empty() { (self.rest()) }
            }
        }
    }

    /// Returns the name of the n-th sweep of a suite.
    fn name(&self, n: usize) -> Option<String> {
        let file = self.suite.and(self.sweeps.get(n))?;
        Some(board::shown(file, self.sweeps))
    }

    /// Returns the part after the charts: details and appendix.
    fn rest(&self) -> Markup {
        let (details, appendix) = (details(self.sweeps, self.suite), appendix(self.sweeps));
        let titles: Vec<&str> = details.iter().map(|(_, title, _)| *title).collect();
        html! {
            h2 #details { "Details" }
            @if self.tables == Tables::Folded {
                p .paper {
                    "On paper are only the tables that are unfolded. Of these parts: " (titles.join(", ").to_lowercase())
                    ". udpbench report --print-tables unfolds all."
                }
            }
            @for (id, title, body) in details {
                section .fold aria-labelledby=(id) { details { summary { h3 id=(id) { (title) } } (body) } }
            }
            h2 #appendix { "Appendix" }
            @for (id, title, body) in appendix {
                section aria-labelledby=(id) { h3 id=(id) { (title) } (body) }
            }
        }
    }
}

/// Returns the charts of round trips, if any were measured, and of throughput and CPU time.
fn measured(charts: &Charts, n: usize) -> Vec<Section> {
    let files = charts.files();
    let round_trips = latency::is_measured(files).then(|| {
        let body = board::each(files, latency::charts);
        (charts::id("latency", n), "Round trips".to_owned(), body)
    });
    round_trips.into_iter().chain(charts.draw()).collect()
}
