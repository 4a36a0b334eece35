//! The title of the page: what was measured, and on which machines.

use crate::experiment::register::ExperimentResults;
use crate::results::files::Results;
use crate::results::row::Row;

/// Returns the title of a page without sweeps: each distinct question and machine once.
pub(super) fn title_of(others: &[ExperimentResults]) -> String {
    let distinct = |of: &dyn Fn(&ExperimentResults) -> String| {
        let mut all: Vec<String> = Vec::new();
        for one in others.iter().map(of) {
            if !all.contains(&one) {
                all.push(one);
            }
        }
        all.join(", ")
    };
    let asked = distinct(&|log| log.title().to_owned());
    format!("{asked}: UDP on {}", distinct(&ExperimentResults::machine))
}

/// Returns the title of a page of sweeps: each distinct machine once. An emulated or virtual machine is marked,
/// because its numbers are not those of the board.
pub(super) fn title(sweeps: &[Results]) -> String {
    let mut machines: Vec<String> = Vec::new();
    for machine in rows(sweeps).filter_map(machine) {
        if !machines.contains(&machine) {
            machines.push(machine);
        }
    }
    let preposition = if rows(sweeps).all(|row| row.direction.is_some()) {
        "from"
    } else {
        "on"
    };
    match machines.len() {
        0 => "UDP, measured".to_owned(),
        1..=3 => format!("UDP {preposition} {}", machines.join(" and ")),
        many => format!("UDP on {many} machines"),
    }
}

/// Returns the machine of a row. Between two hosts, both: `a laptop to Raspberry Pi 4 Model B`.
fn machine(row: &Row) -> Option<String> {
    let known = |names: [&String; 3]| names.into_iter().find(|name| !name.is_empty()).cloned();
    let local = known([&row.model, &row.cpu_model, &row.board])?;
    let local = match row.virtualization.as_str() {
        "" => local,
        by => format!("{local} (emulated or virtualised: {by})"),
    };
    let remote = known([&row.remote_model, &row.remote_cpu_model, &row.remote_board]);
    Some(match remote {
        None => local,
        Some(remote) => format!("{local} to {remote}"),
    })
}

fn rows(sweeps: &[Results]) -> impl Iterator<Item = &Row> {
    sweeps.iter().flat_map(|file| &file.rows)
}
