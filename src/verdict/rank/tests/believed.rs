//! Tests of how far the answer believes what it ranks: on a virtual machine, and over a path that every engine fills.

use super::*;
use crate::data::{Case, Direction};

fn first_claim(rows: &[Row]) -> String {
    sentences(&ranked(rows), RankBy::Both).remove(0)
}

#[test]
fn on_a_virtual_machine_a_lead_that_one_of_its_states_may_be_is_a_perhaps() {
    let on = |virtualization: &str, ratio| {
        let rows = [row("std", 2, 1.0, 1.0), row("mmsg", 2, ratio, 0.9)];
        first_claim(&rows.map(|row| Row {
            virtualization: virtualization.to_owned(),
            ..row
        }))
    };
    assert!(on("", 1.12).ends_with(": use mmsg"));
    assert!(on("kvm", 1.12).ends_with(": perhaps mmsg"));
    assert!(on("kvm", 1.9).ends_with(": use mmsg"));
}

/// Returns a row over a path of 300 Mb/s, whose threads take a tenth of a CPU each.
fn over_a_full_path(engine: &str, cpu_ratio: f64, cpu_ratio_sd_pct: f64) -> Row {
    let direction = Some(Direction::Up);
    let row = row(engine, 2, 1.0, cpu_ratio);
    Row {
        case: Case {
            direction,
            ..row.case
        },
        direction,
        sent_pps: Some(25_000.0),
        received_pps: Some(25_000.0),
        received_mbps: Some(292.0),
        sender_cpu_ns_per_packet: Some(4000.0),
        receiver_cpu_ns_per_packet: Some(4000.0),
        cpu_ns_per_packet: Some(8000.0),
        cpu_ratio_sd_pct: Some(cpu_ratio_sd_pct),
        ..row
    }
}

#[test]
fn over_a_full_path_cpu_times_choose_or_nobody_is_chosen() {
    let of = |mmsg_sd_pct| {
        first_claim(&[
            over_a_full_path("std", 1.0, 0.0),
            over_a_full_path("mmsg", 0.7, mmsg_sd_pct),
            over_a_full_path("tokio", 1.5, 2.0),
        ])
    };
    let full = "the path is full, no thread needed a whole CPU";
    let chosen = format!("use mmsg (as fast as std and tokio for less CPU time: {full})");
    assert!(of(2.0).ends_with(&chosen), "{}", of(2.0));
    let none = format!("no recommendation: {full}: compare CPU times at a lower rate");
    assert!(of(60.0).ends_with(&none), "{}", of(60.0));
}
