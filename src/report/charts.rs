//! The charts of throughput and CPU time. One choice of run and sockets applies to both.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use maud::{Markup, html};

use super::chart::key;
use super::dots::{METRICS, Metric};
use super::panels::Panels;
use super::{board, engines};
use crate::results::files::Results;

/// The charts of some files, with a number that distinguishes them from other charts on the page.
pub(super) struct Charts<'a> {
    files: &'a [Results],
    panels: Panels<'a>,
    n: usize,
}

/// A chart: id, heading and contents.
pub(super) type Chart = (String, String, Markup);

/// Returns the id of a section of the n-th charts.
pub(super) fn id(name: &str, n: usize) -> String {
    match n {
        0 => name.to_owned(),
        n => format!("{name}-{n}"),
    }
}

impl<'a> Charts<'a> {
    /// Creates the charts. `n`: their number on the page, from 0.
    pub(super) fn new(files: &'a [Results], n: usize) -> Self {
        Self {
            files,
            panels: Panels::of(files),
            n,
        }
    }

    /// Returns the files that are drawn.
    pub(super) fn files(&self) -> &'a [Results] {
        self.files
    }

    /// Returns the charts in their order. The first one contains the choice of run and sockets.
    pub(super) fn draw(&self) -> Vec<Chart> {
        let charts = METRICS.iter().enumerate().map(|(n, metric)| {
            let body = html! {
                @if n == 0 { (self.choices()) (self.legend()) }
                (self.chart(metric))
            };
            (id(metric.id, self.n), metric.title.to_owned(), body)
        });
        charts.collect()
    }

    /// Returns the style that hides all panels except the chosen one, in browsers that support it.
    pub(super) fn style(&self) -> String {
        let n = self.n;
        let mut style = format!("@supports selector(:has(a)){{.of-{n}{{display:none}}");
        for (file, sockets) in self.cells() {
            // Writing to a String cannot fail.
            let _ = write!(
                style,
                "main:has(#run-{n}-{file}:checked):has(#sockets-{n}-{sockets}:checked) .at-{n}-{file}-{sockets}{{display:block}}"
            );
        }
        style + "}"
    }

    /// Returns all choices of run and sockets, by index.
    fn cells(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (files, sockets) = (self.files.len(), self.panels.socket_kinds.len());
        (0..files).flat_map(move |file| (0..sockets).map(move |sockets| (file, sockets)))
    }

    fn chart(&self, metric: &Metric) -> Markup {
        let n = self.n;
        if self.panels.cells.is_empty() {
            return html! { p { "No case was measured." } };
        }
        html! {
            p .legend { (metric.about) }
            @for cell in self.cells() {
                div class={ "of-" (n) " at-" (n) "-" (cell.0) "-" (cell.1) } {
                    @if self.cells().count() > 1 { p .paper { (self.name(cell)) ". The other choices are on the page." } }
                    @match self.panels.cells.get(&cell) {
                        Some(facets) => (metric.draw(facets, self.files.len())),
                        None => p { "Not measured: " (self.name(cell)) "." },
                    }
                }
            }
        }
    }

    /// Returns the name of a panel, from what distinguishes it.
    fn name(&self, (file, sockets): (usize, usize)) -> String {
        let one_of = |names: Vec<String>, n: usize| {
            let is_told = names.len() > 1;
            names.into_iter().nth(n).filter(|_| is_told)
        };
        let parts = [
            one_of(self.runs(), file),
            one_of(self.socket_kinds(), sockets),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    fn runs(&self) -> Vec<String> {
        let names = self.files.iter();
        names.map(|file| board::shown(file, self.files)).collect()
    }

    fn socket_kinds(&self) -> Vec<String> {
        let kinds = self.panels.socket_kinds.iter();
        kinds
            .map(|(ip, connection)| format!("{ip}, {connection}"))
            .collect()
    }

    fn choices(&self) -> Markup {
        let (file, sockets) = self.panels.first();
        html! {
            (self.choice("run", "Run", &self.runs(), file))
            (self.choice("sockets", "Sockets", &self.socket_kinds(), sockets))
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

    /// Returns the legend of colours.
    fn legend(&self) -> Markup {
        let facets = self.panels.cells.values().flatten();
        let rows = facets.flat_map(|facet| &facet.lines).map(|line| line.row);
        let named = rows.map(engines::group).map(|group| {
            (
                engines::colour(group),
                group.map_or("other", |group| group.name()),
            )
        });
        let groups: BTreeSet<(u8, &str)> = named.collect();
        html! {
            p .legend {
                @for (colour, name) in groups { (key(&format!("c{colour}"), "●", name)) }
            }
        }
    }
}
