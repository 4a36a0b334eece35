//! Busy polling over interfaces that deliver by NAPI, as network cards do, and over a pair that does not.

use udpbench::data::BusyPoll;
use udpbench::engines;
use udpbench::results::row::{CaseWarning, Row};
use udpbench::sys::busy_poll::Refusals;

use crate::common::lab::Lab;
use crate::common::swept::Swept;

const WORDS: &str = "--direction up --duration 20ms --threads 2 --payload 100 --ip v4 --connection connected \
                     --busy-poll 50us";

/// Returns the engines that can poll here, each with what polls for it; none, loudly, if no socket can.
fn polling() -> Vec<(&'static str, &'static str)> {
    let refusals = Refusals::read();
    if let Some(why) = refusals.socket {
        eprintln!("SKIPPED: {why}");
        return Vec::new();
    }
    let mut engines = vec![("std", "socket"), ("mmsg", "socket")];
    if let Some(why) = refusals.epoll {
        eprintln!("SKIPPED: {why}");
    } else {
        let by = "socket+epoll";
        engines.extend([("epoll-level", by), ("epoll-drain", by)]);
    }
    let uring = engines::find("uring");
    match (uring, refusals.ring) {
        (Some(_), None) => engines.push(("uring", "socket+uring")),
        (_, why) => eprintln!("SKIPPED: no io_uring that polls: {why:?}"),
    }
    engines
}

/// Returns what polled for a row, and the share of sockets that had a NAPI.
///
/// # Panics
/// If a row does not say that it polled, or warns of no effect without a reason.
fn found(row: &Row) -> (&str, f64) {
    assert_eq!(row.busy_poll, Some(BusyPoll { us: 50 }));
    let napi_pct = row.busy_poll_napi_pct.expect("it has polled");
    let warnings = row.warnings.iter();
    let has_no_effect = warnings
        .filter(|it| **it == CaseWarning::NothingToPoll.into())
        .count();
    assert_eq!(has_no_effect == 1, napi_pct <= 0.0, "{row:?}");
    (&row.busy_poll_by, napi_pct)
}

#[test]
fn each_engine_polls_the_napi_that_delivers_its_requests_and_responses() {
    let engines = polling();
    if engines.is_empty() {
        return;
    }
    let names: Vec<&str> = engines.iter().map(|(name, _)| *name).collect();
    let words = format!("{WORDS} --workload rr --engine {}", names.join(","));
    let Some(swept) = Swept::over(Lab::builder().napi(), &words) else {
        return;
    };
    assert_eq!(swept.rows.len(), engines.len());
    for row in &swept.rows {
        let mut engines = engines.iter();
        let (_, by) = engines
            .find(|(name, _)| row.receiver == *name)
            .expect("one of ours");
        // Servers and clients, at the end of every window.
        assert_eq!(found(row), (*by, 100.0), "{row:?}");
        assert!(row.answered_requests > Some(0), "{row:?}");
    }
}

#[test]
fn over_interfaces_without_gro_a_row_says_that_there_was_no_napi_to_poll() {
    if polling().is_empty() {
        return;
    }
    let words = format!("{WORDS} --engine std");
    if let Some(swept) = Swept::over(Lab::builder(), &words) {
        assert_eq!(found(swept.the_row()), ("socket", 0.0));
    }
}
