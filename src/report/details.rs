//! Sections after the charts: the details, which are folded at first, and the appendix.

use maud::{Markup, html};

use super::board::{self, each};
use super::{drift, fitness, latency, published, ranking, reasons, shares, tables};
use crate::experiment::suite::Suite;
use crate::results::files::Results;

/// Id, heading and contents of a section.
type Section = (&'static str, &'static str, Markup);

/// Returns the folded sections. Those without contents are left out.
pub(super) fn details(sweeps: &[Results], suite: Option<&Suite>) -> Vec<Section> {
    let published = suite.and_then(|suite| published::tables(suite, sweeps));
    let over_time = latency::is_measured(sweeps).then(|| each(sweeps, latency::over_time));
    let shares = shares::are_known(sweeps).then(|| each(sweeps, shares::charts));
    let skipped = |file: &Results| html! { (board::cases(file)) (reasons::table(file)) };
    let all = [
        ("published", "Beside what was published", published),
        (
            "results",
            "Results in tables",
            Some(each(sweeps, tables::results)),
        ),
        ("ranking", "Ranking", Some(ranking::places(sweeps))),
        ("drift", "Over time", Some(each(sweeps, drift::charts))),
        ("stalls", "Round trips over time", over_time),
        ("shares", "Receiver shares", shares),
        ("reasons", "Skipped and failed", Some(each(sweeps, skipped))),
        (
            "accounting",
            "Every datagram",
            Some(each(sweeps, fitness::accounting)),
        ),
        ("rows", "All numbers", Some(tables::tables(sweeps))),
    ];
    let all = all.into_iter();
    all.filter_map(|(id, title, body)| Some((id, title, body?)))
        .collect()
}

/// Returns the sections on the machine and on warnings.
pub(super) fn appendix(sweeps: &[Results]) -> Vec<Section> {
    vec![
        ("host", "Host", each(sweeps, board::host)),
        ("warnings", "Warnings", each(sweeps, fitness::warnings)),
    ]
}
