//! Chart of loss against throughput.

use maud::{Markup, html};

use super::cases::drawable;
use super::chart::{Look, Points, Scale, Scatter, Shape, figure};
use super::panels::{Facet, FacetLine};
use crate::results::row::Row;

pub(super) const ABOUT: &str = "Datagrams sent and not received, in % of those sent: further right is faster, further down \
                                is better. Engines without loss are not named.";

/// Draws the facets with loss. Facets without loss are only named.
pub(super) fn draw(facets: &[Facet], panel: &str) -> Markup {
    let most = |facet: &Facet| {
        let lines = facet.lines.iter().map(points);
        let all = lines.flat_map(|line| line.points);
        all.map(|((_, pct), _)| pct).reduce(f64::max)
    };
    let (known, unknown): (Vec<&Facet>, Vec<&Facet>) =
        facets.iter().partition(|facet| most(facet).is_some());
    let (with, without): (Vec<&Facet>, Vec<&Facet>) =
        known.into_iter().partition(|facet| most(facet) > Some(0.0));
    let values = |value: fn(&Row) -> Option<f64>| -> Vec<f64> {
        let lines = with.iter().flat_map(|facet| &facet.lines);
        let values = lines.flat_map(|line| line.values(value));
        values.map(|(.., value)| value).collect()
    };
    // The throughput of engines may differ by a factor of a hundred.
    let axes = [
        Scale::logarithmic(values(kpps)),
        Scale::linear(values(loss)),
    ];
    let names = |facets: &[&Facet]| {
        let names: Vec<&str> = facets.iter().map(|facet| facet.name.as_str()).collect();
        names.join("; ")
    };
    html! {
        @if !without.is_empty() { p { "No loss, " (panel) ": " (names(&without)) "." } }
        @if !unknown.is_empty() { p { "Not measured, " (panel) ": " (names(&unknown)) "." } }
        .charts { @for facet in with { (of_facet(facet, panel, axes)) } }
    }
}

fn loss(row: &Row) -> Option<f64> {
    row.loss_pct
}

fn kpps(row: &Row) -> Option<f64> {
    row.received_pps.map(|pps| pps / 1000.0)
}

fn of_facet(facet: &Facet, panel: &str, [x, y]: [Scale; 2]) -> Markup {
    let caption = format!("{}, {panel}", facet.name);
    let scatter = Scatter {
        x: ("kpps, log scale", x),
        y: ("% lost", y),
        caption: &caption,
    };
    let all: Vec<Points> = facet.lines.iter().map(points).collect();
    let (picture, unnamed) = scatter.draw(
        &all.into_iter()
            .filter(|all| !all.points.is_empty())
            .collect::<Vec<_>>(),
    );
    html! {
        (figure(&caption, &html! {
            (picture)
            @if !unnamed.is_empty() { p .legend { "Too close to others to be named: " (unnamed.join(", ")) "." } }
        }))
    }
}

/// Returns the points of a line. Of several files, the first has hollow points, the others filled ones.
fn points(line: &FacetLine) -> Points {
    let files = line.rows_by_file.len();
    let at = line.values(loss).filter_map(|(n, row, pct)| {
        let kpps = kpps(row).and_then(drawable)?;
        let look = Look {
            colour: line.colour,
            shape: if n > 1 { Shape::Square } else { Shape::Circle },
            filled: n > 0 || files == 1,
        };
        Some(((kpps, pct), look))
    });
    Points {
        label: line.label.clone(),
        points: at.collect(),
    }
}
