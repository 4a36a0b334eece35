//! Of silences.

use std::fmt::Write as _;

use super::super::idle::{Asked, Idle, Step};
use super::super::log::Header;
use crate::columns::Columns;

pub(super) const IDLE: Columns = Columns {
    headings: &[
        "case",
        "silence\nfrom",
        "before\nus",
        "behind\nus",
        "more, 95 %\ninterval %",
        "lost before,\nbehind %",
        "CPUs enter",
    ],
    words: 2,
    leaves: &[6],
    longest: super::LONGEST,
};

/// One that has no step has a row, too.
pub(super) fn idle_rows(key: &str, search: &Idle) -> Vec<Vec<String>> {
    let steps = search.steps();
    if steps.is_empty() {
        let mut row = vec!["-".to_owned(); IDLE.headings.len()];
        key.clone_into(&mut row[0]);
        "none".clone_into(&mut row[1]);
        return vec![row];
    }
    steps.iter().map(|step| row(key, step)).collect()
}

fn row(key: &str, step: &Step) -> Vec<String> {
    let dash = || "-".to_owned();
    let us = |ns: Option<f64>| ns.map_or_else(dash, |ns| format!("{:.1}", ns / 1e3));
    let (before, behind) = step.round_trip_ns;
    let entered = step.idle_state.as_ref();
    vec![
        key.to_owned(),
        step.at.to_string(),
        us(before),
        us(behind),
        step.interval.map_or_else(dash, |(low, high)| {
            format!("{:+.0} to {:+.0}", 100.0 * low, 100.0 * high)
        }),
        format!("{:.0}, {:.0}", 100.0 * step.loss.0, 100.0 * step.loss.1),
        entered.map_or_else(dash, |entered| {
            let pct = |share: f64| 100.0 * share;
            let (before, behind) = (pct(entered.before), pct(entered.behind));
            format!("{} ({before:.0} to {behind:.0} %)", entered.name)
        }),
    ]
}

/// How long round trips take by silence, in a sentence.
pub(super) fn curve(key: &str, search: &Idle) -> String {
    let points = search.curve().into_iter().map(|(silence, ns, loss)| {
        let us = ns.map_or_else(|| "-".to_owned(), |ns| format!("{:.1}", ns / 1e3));
        if loss >= 0.005 {
            format!("{silence} {us} ({:.0} % lost)", 100.0 * loss)
        } else {
            format!("{silence} {us}")
        }
    });
    let points: Vec<String> = points.collect();
    format!(
        "\n{key}, round trips in us by silence: {}\n",
        points.join(", ")
    )
}

pub(super) fn idle_legend(header: &Header, asked: Asked) -> String {
    let Asked {
        from, to, step_pct, ..
    } = asked;
    let mut text = format!(
        "\nsilence from: the first, of {from} to {to} on a grid of 1, 2 and 5, before which a client was silent and its next \
         request then took so much longer, or was lost more often, than after the silence before it on the grid. Round trips \
         that differ by {step_pct} % or more, and loss that differs by 10 points or more, are steps; what changes gradually is \
         none. before, behind: microseconds of half of the round trips. CPUs enter: the idle state, and the share of their time \
         in it.\n",
    );
    let reasons = reasons(header);
    if !reasons.is_empty() {
        let _ = writeln!(text, "\nWhat may make a step: {}.", reasons.join("; "));
    }
    text
}

/// What the hosts say of themselves that makes the first datagram after a silence late.
fn reasons(header: &Header) -> Vec<String> {
    let mut reasons = Vec::new();
    let mut hosts = vec![("here", &header.host)];
    hosts.extend(header.wire.as_ref().map(|wire| ("there", &wire.host)));
    for (place, host) in hosts {
        let governor = host.governor.as_deref();
        if let Some(governor) = governor.filter(|governor| *governor != "performance") {
            reasons.push(format!("{place}, the cpufreq governor is {governor}"));
        }
        if let Some(driver) = &host.cpuidle_driver {
            reasons.push(format!("{place}, {driver} has CPUs sleep"));
        }
    }
    for link in header.wire.iter().flat_map(|wire| &wire.links) {
        for (place, end) in [("here", &link.here), ("there", &link.there)] {
            let interface = &end.interface;
            if interface.eee.as_ref().is_some_and(|eee| eee.is_active) {
                reasons.push(format!(
                    "{place}, {} has energy-efficient Ethernet",
                    interface.name
                ));
            }
        }
    }
    reasons
}
