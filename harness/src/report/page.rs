//! What is on the page, in which order.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{
    board, comparison, cost, drift, latency, published, ranking, reasons, shares, speed, tables,
};
use crate::VERSION;
use crate::results::Results;
use crate::suite::Suite;

/// How a report begins: what does not begin so is not ours to overwrite.
pub const MARK: &str = "<!DOCTYPE html><!-- a report of udpbench -->";

/// The whole page. With several files, the others are compared with the first.
pub fn page(files: &[Results]) -> String {
    page_of(files, None)
}

/// The page of a suite's sweeps, beside what has been published.
pub fn suite_page(files: &[Results], suite: &Suite) -> String {
    page_of(files, Some(suite))
}

fn page_of(files: &[Results], suite: Option<&Suite>) -> String {
    let sections = sections(files, suite);
    let title = match suite {
        None => title(files),
        Some(suite) => format!("{}{}", suite.title, title(files).trim_start_matches("UDP")),
    };
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
                    p { (board::lead(files)) }
                    @if let Some(suite) = suite { p { (suite.about) " From " (suite.source) "." } }
                }
                nav aria-label="Sections" {
                    ul {
                        @for section in &sections {
                            li { a href={ "#" (section.id) } { (section.title) } }
                        }
                    }
                }
                main #content {
                    @for section in &sections {
                        section aria-labelledby=(section.id) {
                            h2 id=(section.id) { (section.title) }
                            (section.body)
                        }
                    }
                }
                footer {
                    p { "Made by udpbench " (VERSION) ". UDP over loopback, not over a network." }
                }
                (tables::data(files))
                script { (PreEscaped(include_str!("page.js"))) }
            }
        }
    };
    page.into_string()
}

/// Nothing from elsewhere, whatever is in the results.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      img-src data:; base-uri 'none'; form-action 'none'";

struct Section {
    id: &'static str,
    title: &'static str,
    body: Markup,
}

/// The sections in their order. A single file has nothing that it could differ from.
fn sections(files: &[Results], suite: Option<&Suite>) -> Vec<Section> {
    let section = |id, title, body| Section { id, title, body };
    let published = suite.and_then(|suite| published::tables(suite, files));
    let changes = comparison::changes(files).filter(|_| suite.is_none());
    let published =
        published.map(|tables| section("published", "Beside what was published", tables));
    let mut sections = Vec::from_iter(published);
    sections.extend([
        section("board", "Board and fitness", each(files, board::facts)),
        section("ranking", "What to use", ranking::places(files)),
    ]);
    sections.extend(changes.map(|changes| section("comparison", "What changed", changes)));
    let latency = latency::charts(files);
    sections.extend(latency.map(|charts| section("latency", "Round trips", each(files, charts))));
    sections.extend([
        section("speed", "Throughput", each(files, speed::charts)),
        section("cpu", "CPU time per datagram", each(files, cost::cpu)),
        section("loss", "Loss", each(files, cost::loss)),
        section("drift", "Over time", each(files, drift::charts)),
        section("shares", "Receiver shares", each(files, shares::charts)),
        section("reasons", "Skipped and failed", each(files, reasons::table)),
        section("rows", "All numbers", tables::tables(files)),
    ]);
    sections
}

/// The part of each file; with several files, under its name.
fn each(files: &[Results], part: impl Fn(&Results) -> Markup) -> Markup {
    html! {
        @for file in files {
            @if files.len() > 1 { h3 { (board::shown(file, files)) } }
            (part(file))
        }
    }
}

/// Every machine once. One that is not real says so at once: its numbers are not those of the board.
fn title(files: &[Results]) -> String {
    let mut machines: Vec<String> = Vec::new();
    for row in files.iter().flat_map(|file| &file.rows) {
        let names = [&row.model, &row.cpu_model, &row.board];
        let Some(name) = names.into_iter().find(|name| !name.is_empty()) else {
            continue;
        };
        let machine = match row.virtualization.as_str() {
            "" => name.clone(),
            by => format!("{name} (emulated or virtualised: {by})"),
        };
        if !machines.contains(&machine) {
            machines.push(machine);
        }
    }
    match machines.len() {
        0 => "UDP, measured".to_owned(),
        1..=3 => format!("UDP on {}", machines.join(" and ")),
        many => format!("UDP on {many} machines"),
    }
}
