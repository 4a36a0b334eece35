//! Which machine a row is of; across a wire, which two.

use std::fmt;

use super::Row;

/// The machine of a row, as its column `machine_id` names it: what has to be the same for two rows to be of one machine.
/// How the other host was reached does not count: one machine has several names and addresses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Machine {
    id: String,
    /// Whether there are two, with a wire between them.
    pub is_wire: bool,
}

impl Machine {
    /// Returns that of a row.
    pub fn of(row: &Row) -> Self {
        Self {
            id: if row.knows_its_host() || row.machine_id.is_empty() {
                id(row)
            } else {
                row.machine_id.clone()
            },
            is_wire: row.direction.is_some(),
        }
    }

    /// The rows of each machine, in order of appearance: a file may have those of several.
    pub fn each(rows: &[Row]) -> Vec<(Self, Vec<Row>)> {
        let mut machines: Vec<(Self, Vec<Row>)> = Vec::new();
        for row in rows {
            let machine = Self::of(row);
            match machines.iter_mut().find(|(other, _)| *other == machine) {
                Some((_, rows)) => rows.push(row.clone()),
                None => machines.push((machine, vec![row.clone()])),
            }
        }
        machines
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id)
    }
}

impl Row {
    /// Whether it has the columns of the host, which are not among those that a CSV has by default.
    pub fn knows_its_host(&self) -> bool {
        !self.board.is_empty()
    }
}

fn id(row: &Row) -> String {
    // A program for another architecture is another one, and so is one that was built for finding faults.
    let debug = if row.is_debug() { "debug build" } else { "" };
    let here = known(&[
        &row.board,
        &row.model,
        &row.cpu_model,
        &row.arch,
        &row.virtualization,
        debug,
    ]);
    if row.direction.is_none() {
        return here;
    }
    let there = known(&[
        &row.there_board,
        &row.there_model,
        &row.there_cpu_model,
        &row.there_machine,
    ]);
    format!("{here} to {there}")
}

fn known(parts: &[&str]) -> String {
    let known = parts.iter().copied().filter(|part| !part.is_empty());
    known.collect::<Vec<&str>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::tests::{ordinary_row, row_of_a_wire};

    #[test]
    fn a_wire_is_of_two_machines() {
        let wire = row_of_a_wire();
        let machine = Machine::of(&wire);
        assert_eq!(
            machine.to_string(),
            "generic, a laptop, x86_64 to rpi-4b, Raspberry Pi 4 Model B, Cortex-A72, aarch64"
        );
        let changes: [fn(&mut Row); 5] = [
            |row| row.direction = None,
            |row| row.there_board = "rpi-5".to_owned(),
            |row| row.there_model = "Raspberry Pi 400".to_owned(),
            |row| row.there_cpu_model = "Cortex-A76".to_owned(),
            |row| row.there_machine = "armv7l".to_owned(),
        ];
        for change in changes {
            let mut other = wire.clone();
            change(&mut other);
            assert_ne!(Machine::of(&other), machine);
        }
        assert!(machine.is_wire && !Machine::of(&ordinary_row()).is_wire);
    }

    #[test]
    fn another_kernel_and_another_name_are_no_other_machine() {
        let wire = row_of_a_wire();
        let again = Row {
            there: "192.168.7.2".to_owned(),
            there_kernel: "6.13.0".to_owned(),
            there_governor: "powersave".to_owned(),
            ..wire.clone()
        };
        assert_eq!(Machine::of(&again), Machine::of(&wire));
    }
}
