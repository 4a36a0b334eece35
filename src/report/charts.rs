//! The three main charts of files that are drawn over each other: throughput, CPU time, and loss against throughput.
//! One choice of payload and sockets applies to all three.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use maud::{Markup, html};

use super::bars::letter;
use super::chart::key;
use super::panels::{Facet, Panels};
use super::{board, cost, engines, loss, speed};
use crate::results::files::Results;

/// The charts of some files, with a number that distinguishes them from other charts on the page.
pub(super) struct Charts<'a> {
    files: &'a [Results],
    panels: Panels<'a>,
    n: usize,
}

/// A chart: id, heading and contents.
pub(super) type Chart = (String, &'static str, Markup);

/// Maximum number of lines in a printed chart. More do not fit on a page.
const MOST_PRINTED: usize = 60;

impl<'a> Charts<'a> {
    /// Creates the charts. `n`: their number on the page, from 0.
    pub(super) fn new(files: &'a [Results], n: usize) -> Self {
        Self {
            files,
            panels: Panels::of(files),
            n,
        }
    }

    /// Returns the charts in their order. The first one contains the choice of payload and sockets.
    pub(super) fn draw(&self) -> Vec<Chart> {
        let id = |name: &str| match self.n {
            0 => name.to_owned(),
            n => format!("{name}-{n}"),
        };
        let chart = |name, title, about, draw| (id(name), title, self.chart(about, draw));
        let (speed, cpu, loss) = (
            chart("speed", "Throughput", speed::ABOUT, speed::draw as Draw),
            chart("cpu", "CPU time per datagram", cost::ABOUT, cost::draw),
            chart("loss", "Loss against throughput", loss::ABOUT, loss::draw),
        );
        let first = html! { (self.choices()) (self.legend()) (speed.2) };
        vec![(speed.0, speed.1, first), cpu, loss]
    }

    /// Returns the style that hides all panels except the chosen one, in browsers that support it. On paper, the
    /// panels of all payloads are shown, unless these are too long.
    pub(super) fn style(&self) -> String {
        let n = self.n;
        let (mut style, mut paper) = (String::new(), String::new());
        for (payload, sockets) in self.cells() {
            let chosen_sockets = format!(":has(#sockets-{n}-{sockets}:checked)");
            let panel = format!(".at-{n}-{payload}-{sockets}{{display:block}}");
            // Writing to a String cannot fail.
            let _ = write!(
                style,
                "main:has(#payload-{n}-{payload}:checked){chosen_sockets} {panel}"
            );
            if self.panels.line_count(sockets) <= MOST_PRINTED {
                let _ = write!(paper, "main{chosen_sockets} {panel}");
            }
        }
        format!(
            "@supports selector(:has(a)){{.of-{n}{{display:none}}{style}@media print{{{paper}}}}}"
        )
    }

    /// Returns all choices of payload and sockets, by index.
    fn cells(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (payloads, sockets) = (self.panels.payloads.len(), self.panels.socket_kinds.len());
        (0..payloads).flat_map(move |payload| (0..sockets).map(move |sockets| (payload, sockets)))
    }

    fn chart(&self, about: &str, draw: Draw) -> Markup {
        let n = self.n;
        if self.panels.cells.is_empty() {
            return html! { p { "No case was measured." } };
        }
        html! {
            p .legend { (about) }
            @for cell in self.cells() {
                @let name = self.panels.name(cell);
                div class={ "of-" (n) " at-" (n) "-" (cell.0) "-" (cell.1) } {
                    @match self.panels.cells.get(&cell) {
                        Some(facets) => (draw(facets, &name)),
                        None => p { "Not measured: " (name) "." },
                    }
                }
            }
        }
    }

    fn choices(&self) -> Markup {
        let (payload, sockets) = self.panels.first();
        let payloads = self
            .panels
            .payloads
            .iter()
            .map(|payload| format!("{payload} B"));
        let all_sockets = self.panels.socket_kinds.iter();
        let all_sockets = all_sockets.map(|(ip, connection)| format!("{ip}, {connection}"));
        html! {
            (self.choice("payload", "Payload", &payloads.collect::<Vec<_>>(), payload))
            (self.choice("sockets", "Sockets", &all_sockets.collect::<Vec<_>>(), sockets))
        }
    }

    /// Returns radio buttons for a choice. They are hidden if there is only one.
    fn choice(&self, name: &str, legend: &str, names: &[String], chosen: usize) -> Markup {
        let group = format!("{name}-{}", self.n);
        html! {
            fieldset .choice hidden[names.len() < 2] {
                legend { (legend) }
                @for (n, name) in names.iter().enumerate() {
                    @let id = format!("{group}-{n}");
                    span {
                        input type="radio" name=(group) id=(id) checked[n == chosen] autocomplete="off";
                        label for=(id) { (name) }
                    }
                }
            }
        }
    }

    /// Returns the legend of colours and of the files' letters.
    fn legend(&self) -> Markup {
        let facets = self.panels.cells.values().flatten();
        let rows = facets
            .flat_map(|facet| &facet.lines)
            .flat_map(|line| &line.rows_by_file);
        let groups: BTreeSet<(u8, &str)> = rows
            .flatten()
            .map(|row| engines::group(row))
            .map(|group| {
                (
                    engines::colour(group),
                    group.map_or("other", |group| group.name()),
                )
            })
            .collect();
        html! {
            p .legend {
                @for (colour, name) in groups { (key(&format!("c{colour}"), "■", name)) }
            }
            @if self.files.len() > 1 {
                p .legend {
                    @for (n, file) in self.files.iter().enumerate() {
                        (key("r", &letter(n), &board::shown(file, self.files)))
                    }
                    " " (letter(0)) " is drawn pale behind the others."
                }
            }
        }
    }
}

/// Function that draws the facets of a panel, with the panel's name.
type Draw = fn(&[Facet], &str) -> Markup;
