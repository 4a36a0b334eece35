//! Charts of the distribution of round trips, and of round trips over the load. No chart has a single line: of a single
//! engine, the lines are its loads or quantiles.

use maud::{Markup, html};

use super::loads::{EngineRows, Loads};
use super::{QUANTILES, Quantile, of_load};
use crate::report::cases::drawable;
use crate::report::chart::{LOOKS, Line, Lines, Look, Mark, Over, figure, legend};
use crate::report::engines;
use crate::results::row::Row;

const TAIL: Over = Over {
    name: "share of requests",
    axis: "share of requests",
    unit: "",
    is_log: true,
};

const LOAD: Over = Over {
    name: "load",
    axis: "load",
    unit: "",
    is_log: true,
};

/// Returns charts of the distribution: one for each load with all engines, or one for all loads of the only engine.
pub(super) fn tails(group: &Loads) -> Vec<Markup> {
    let steps = QUANTILES.map(|(name, ..)| name.to_owned());
    let line = |label: &str, row: &Row, look| {
        let marks = QUANTILES.iter().enumerate();
        let marks = marks.filter_map(|(step, of)| Some((step, mark(of, row, look)?)));
        Line {
            label: label.to_owned(),
            look,
            marks: marks.collect(),
        }
    };
    let draw = |caption: &str, lines: Vec<Line>| drawn(caption, TAIL, &steps, &lines);
    if let [(engine, rows)] = &group.engines[..] {
        let lines = rows.iter().enumerate();
        let lines = lines.map(|(n, (load, row))| line(&group.steps[*load], row, Look::nth(n)));
        let lines: Vec<Line> = lines.collect();
        let charts = lines.chunks(LOOKS);
        return charts
            .map(|lines| draw(&format!("Distribution, {engine}"), lines.to_vec()))
            .collect();
    }
    let mut charts = Vec::new();
    for (n, load) in group.steps.iter().enumerate() {
        for rows in group.at(n).chunks(LOOKS) {
            let looks = engines::looks(&rows.iter().map(|(_, row)| *row).collect::<Vec<_>>());
            let lines = rows.iter().zip(looks);
            let lines = lines.map(|((label, row), look)| line(label, row, look));
            charts.push(draw(
                &format!("Distribution {}", of_load(load)),
                lines.collect(),
            ));
        }
    }
    charts
}

/// Returns charts over the load: one for each quantile with all engines, or one for both quantiles of the only engine.
pub(super) fn over_load(group: &Loads) -> Vec<Markup> {
    if group.steps.len() < 2 {
        return Vec::new();
    }
    let [half, _, rare, ..] = &QUANTILES;
    let draw = |caption: &str, lines: Vec<Line>| drawn(caption, LOAD, &group.steps, &lines);
    if let [(engine, rows)] = &group.engines[..] {
        let lines = [half, rare].into_iter().enumerate();
        let lines = lines.map(|(n, quantile)| loaded(quantile.0, rows, quantile, Look::nth(n)));
        return vec![draw(&format!("Over the load, {engine}"), lines.collect())];
    }
    let of_quantile = |engines: &[EngineRows], quantile: &Quantile| {
        let firsts = engines.iter().filter_map(|(_, rows)| Some(rows.first()?.1));
        let looks = engines::looks(&firsts.collect::<Vec<_>>());
        let lines = engines.iter().zip(looks);
        let lines = lines.map(|((label, rows), look)| loaded(label, rows, quantile, look));
        draw(
            &format!("{} of requests, over the load", quantile.0),
            lines.collect(),
        )
    };
    let charts = group.engines.chunks(LOOKS);
    let charts =
        charts.flat_map(|engines| [half, rare].map(|quantile| of_quantile(engines, quantile)));
    charts.collect()
}

/// Returns the line of an engine over the load.
fn loaded(label: &str, rows: &[(usize, &Row)], quantile: &Quantile, look: Look) -> Line {
    let marks = rows.iter();
    let marks = marks.filter_map(|(load, row)| Some((*load, mark(quantile, row, look)?)));
    Line {
        label: label.to_owned(),
        look,
        marks: marks.collect(),
    }
}

/// Draws lines with their legend. Without any mark, says so.
fn drawn(caption: &str, over: Over, steps: &[String], lines: &[Line]) -> Markup {
    let picture = Lines {
        axis: "µs",
        over,
        steps,
        caption,
    };
    let lines: Vec<Line> = lines
        .iter()
        .filter(|line| !line.marks.is_empty())
        .cloned()
        .collect();
    if lines.is_empty() {
        return html! { figure { figcaption { (caption) } p { "No round trips." } } };
    }
    figure(
        caption,
        &html! { p .legend { (legend(&lines)) } (picture.draw(&lines)) },
    )
}

fn mark((_, of): &Quantile, row: &Row, look: Look) -> Option<Mark> {
    let [value, low, high] = of(row);
    Some(Mark {
        value: value.and_then(drawable)?,
        low,
        high,
        look,
    })
}
