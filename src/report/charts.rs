//! The three charts that are read first, of files that are laid over each other: throughput, CPU time, and loss
//! against throughput. One choice of payload and sockets holds for all three.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use maud::{Markup, html};

use super::bars::letter;
use super::chart::key;
use super::panels::{Facet, Panels};
use super::{board, cost, engines, loss, speed};
use crate::results::files::Results;

/// The charts of some files, and what tells them from other charts on the page.
pub(super) struct Charts<'a> {
    files: &'a [Results],
    panels: Panels<'a>,
    n: usize,
}

/// An id, a heading, and what is below it.
pub(super) type Chart = (String, &'static str, Markup);

/// More lines than these are more than a page for each chart.
const MOST_PRINTED: usize = 60;

impl<'a> Charts<'a> {
    /// `n`: their number on the page, from 0.
    pub(super) fn new(files: &'a [Results], n: usize) -> Self {
        Self {
            files,
            panels: Panels::of(files),
            n,
        }
    }

    /// In their order. The first has the choice.
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

    /// Which panels are hidden: all but the chosen one, where the browser knows how to tell. On paper there are all
    /// payloads, unless that is too long.
    pub(super) fn style(&self) -> String {
        let n = self.n;
        let (mut style, mut paper) = (String::new(), String::new());
        for (payload, sockets) in self.places() {
            let chosen_sockets = format!(":has(#sockets-{n}-{sockets}:checked)");
            let panel = format!(".at-{n}-{payload}-{sockets}{{display:block}}");
            // A String takes everything.
            let _ = write!(
                style,
                "main:has(#payload-{n}-{payload}:checked){chosen_sockets} {panel}"
            );
            if self.panels.lines(sockets) <= MOST_PRINTED {
                let _ = write!(paper, "main{chosen_sockets} {panel}");
            }
        }
        format!(
            "@supports selector(:has(a)){{.of-{n}{{display:none}}{style}@media print{{{paper}}}}}"
        )
    }

    /// All that can be chosen.
    fn places(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (payloads, sockets) = (self.panels.payloads.len(), self.panels.sockets.len());
        (0..payloads).flat_map(move |payload| (0..sockets).map(move |sockets| (payload, sockets)))
    }

    fn chart(&self, about: &str, draw: Draw) -> Markup {
        let n = self.n;
        if self.panels.all.is_empty() {
            return html! { p { "No case was measured." } };
        }
        html! {
            p .legend { (about) }
            @for place in self.places() {
                @let name = self.panels.name(place);
                div class={ "of-" (n) " at-" (n) "-" (place.0) "-" (place.1) } {
                    @match self.panels.all.get(&place) {
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
        let all_sockets = self.panels.sockets.iter();
        let all_sockets = all_sockets.map(|(ip, connection)| format!("{ip}, {connection}"));
        html! {
            (self.choice("payload", "Payload", &payloads.collect::<Vec<_>>(), payload))
            (self.choice("sockets", "Sockets", &all_sockets.collect::<Vec<_>>(), sockets))
        }
    }

    /// One of several; hidden where there is only one.
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

    /// The colours, and the letters of the files.
    fn legend(&self) -> Markup {
        let facets = self.panels.all.values().flatten();
        let rows = facets
            .flat_map(|facet| &facet.engines)
            .flat_map(|engine| &engine.runs);
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

/// The cases of a panel as a picture, and what tells the panel from others.
type Draw = fn(&[Facet], &str) -> Markup;
