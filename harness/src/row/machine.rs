//! Which machine a row is of.

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
        let parts = [
            &self.board,
            &self.model,
            &self.cpu_model,
            &self.arch,
            &self.virtualization,
            debug,
        ];
        let known: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        f.write_str(&known.join(", "))
    }
}
