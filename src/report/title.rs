//! The title of the page: what was measured, and on which machines.

use crate::experiment::register::ExperimentResults;
use crate::results::export::once_each;
use crate::results::files::Results;
use crate::results::row::Row;

/// Returns the title of a page without sweeps: each distinct question and machine once.
pub(super) fn title_of(others: &[ExperimentResults]) -> String {
    let titles = once_each(others.iter().map(|log| log.title().1));
    let machines = once_each(others.iter().map(ExperimentResults::machine));
    format!("{}: UDP on {}", titles.join(", "), machines.join(", "))
}

/// Returns the title of a page of sweeps: each distinct machine once.
pub(super) fn title(sweeps: &[Results]) -> String {
    let machines = once_each(rows(sweeps).filter_map(machine));
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
    let local = marked(local, &row.virtualization);
    let remote = known([&row.remote_model, &row.remote_cpu_model, &row.remote_board]);
    Some(match remote {
        None => local,
        Some(remote) => format!("{local} to {remote}"),
    })
}

/// Marks an emulated or virtual machine, because its numbers are not those of the board.
pub(super) fn marked(machine: String, virtualization: &str) -> String {
    match virtualization {
        "" => machine,
        by => format!("{machine} (emulated or virtualised: {by})"),
    }
}

fn rows(sweeps: &[Results]) -> impl Iterator<Item = &Row> {
    sweeps.iter().flat_map(|file| &file.rows)
}
