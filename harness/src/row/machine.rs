//! Which machine a row is of; across a wire, which two.

use std::fmt;

use super::Row;

/// What has to be the same for two rows to be of one machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Machine {
    /// The board's profile.
    pub board: String,
    /// What the machine calls itself; may be empty.
    pub model: String,
    /// What the CPUs call themselves; may be empty.
    pub cpu_model: String,
    /// What the program was built for: a 32-bit program is another one. May be empty.
    pub arch: String,
    /// What it is emulated or virtualised by; may be empty.
    pub virtualization: String,
    /// Whether the program was built for finding faults, which is another one, too.
    pub is_debug: bool,
    /// The other host of a wire. `None`: all is on one host.
    pub there: Option<OtherMachine>,
}

/// The same of the other host. Not how it was reached: one machine has several names and addresses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OtherMachine {
    /// Its board's profile.
    pub board: String,
    /// What it calls itself; may be empty.
    pub model: String,
    /// What its CPUs call themselves; may be empty.
    pub cpu_model: String,
    /// Its architecture, as `uname -m` says it; may be empty.
    pub machine: String,
}

impl Machine {
    /// Of a row.
    pub fn of(row: &Row) -> Self {
        Self {
            board: row.board.clone(),
            model: row.model.clone(),
            cpu_model: row.cpu_model.clone(),
            arch: row.arch.clone(),
            virtualization: row.virtualization.clone(),
            is_debug: row.is_debug(),
            there: row.direction.map(|_| OtherMachine {
                board: row.there_board.clone(),
                model: row.there_model.clone(),
                cpu_model: row.there_cpu_model.clone(),
                machine: row.there_machine.clone(),
            }),
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
        let debug = if self.is_debug { "debug build" } else { "" };
        let here = [
            self.board.as_str(),
            &self.model,
            &self.cpu_model,
            &self.arch,
            &self.virtualization,
            debug,
        ];
        f.write_str(&known(&here))?;
        let Some(there) = &self.there else {
            return Ok(());
        };
        let there = [
            there.board.as_str(),
            &there.model,
            &there.cpu_model,
            &there.machine,
        ];
        write!(f, " to {}", known(&there))
    }
}

fn known(parts: &[&str]) -> String {
    let known = parts.iter().copied().filter(|part| !part.is_empty());
    known.collect::<Vec<&str>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::{ordinary_row, row_of_a_wire};

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
        assert_eq!(Machine::of(&ordinary_row()).there, None);
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
