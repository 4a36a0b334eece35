//! Table of a search for silences.

use std::fmt::Write as _;

use super::super::header::Header;
use super::super::idle::{Idle, IdleQuestion, Step};
use super::super::{Record, Search};
use super::{Found, found, from, known, or_dash, percents, us};
use crate::term::table::{Columns, Table};

/// Returns the table of steps. A case without a step also has a row.
pub(super) fn table(record: &Record) -> Table {
    let columns = Columns::<Found<Step>>::default()
        .word("case", |(name, _)| name.clone())
        .word("silence\nfrom", |(_, step)| from(step, "step", |it| it.at))
        .number(
            "before\nus",
            known(|it: &Step| or_dash(it.round_trip_ns.0.map(us))),
        )
        .number(
            "behind\nus",
            known(|it: &Step| or_dash(it.round_trip_ns.1.map(us))),
        )
        .number(
            "more, 95 %\ninterval %",
            known(|it: &Step| or_dash(it.interval.map(percents))),
        )
        .number(
            "lost before,\nbehind %",
            known(|it: &Step| {
                let pct =
                    |loss: Option<f64>| or_dash(loss.map(|loss| format!("{:.0}", 100.0 * loss)));
                format!("{}, {}", pct(it.loss.0), pct(it.loss.1))
            }),
        )
        .spare(
            1,
            "CPUs enter",
            known(|it: &Step| {
                or_dash(it.idle_state.as_ref().map(|share| {
                    let (before, after) = (100.0 * share.before, 100.0 * share.after);
                    format!("{} ({before:.0} to {after:.0} %)", share.name)
                }))
            }),
        );
    columns.table(found(record, |search| match search {
        Search::Idle(search) => (search.steps(), search.detectable()),
        _ => (Vec::new(), None),
    }))
}

/// Lists the round trips by silence, in a sentence.
pub(super) fn curve(name: &str, search: &Idle) -> String {
    let points = search.curve().into_iter().map(|(silence, ns, loss)| {
        let us = ns.map_or_else(|| "-".to_owned(), |ns| format!("{:.1}", ns / 1e3));
        match loss {
            Some(loss) if loss >= 0.005 => format!("{silence} {us} ({:.0} % lost)", 100.0 * loss),
            _ => format!("{silence} {us}"),
        }
    });
    let points: Vec<String> = points.collect();
    format!(
        "\n{name}, round trips in us by silence: {}\n",
        points.join(", ")
    )
}

pub(super) fn legend(header: &Header, asked: IdleQuestion) -> String {
    let IdleQuestion {
        from, to, step_pct, ..
    } = asked;
    let mut text = format!(
        "\nsilence from: the first, of {from} to {to} on a grid of 1, 2 and 5, before which a client was silent and its next \
         request then took so much longer, or was lost more often, than after the silence before it on the grid. Round trips \
         that differ by {step_pct} % or more, and loss that differs by 10 points or more, are steps; what changes gradually is \
         none. no step of: at this scatter, 9 of 10 searches find such a step of the round trip. before, behind: microseconds \
         of half of the round trips. CPUs enter: the idle state, and the share of their time in it.\n",
    );
    let reasons = reasons(header);
    if !reasons.is_empty() {
        let _ = writeln!(text, "\nWhat may make a step: {}.", reasons.join("; "));
    }
    text
}

/// Returns the facts about the hosts that delay the first datagram after a silence.
fn reasons(header: &Header) -> Vec<String> {
    let mut reasons = Vec::new();
    let mut hosts = vec![("here", &header.environment.host)];
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
        for (place, end) in [("here", &link.local), ("there", &link.remote)] {
            let interface = &end.interface;
            if interface.eee.as_ref().is_some_and(|eee| eee.is_active) {
                reasons.push(format!(
                    "{place}, {} has energy-efficient Ethernet",
                    interface.name
                ));
            }
            let saves = interface.wireless.and_then(|radio| radio.power_save);
            if saves == Some(true) {
                reasons.push(format!(
                    "{place}, {} has power save of Wi-Fi on: off with iw dev {} set power_save off",
                    interface.name, interface.name
                ));
            }
        }
    }
    reasons
}
