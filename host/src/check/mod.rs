//! Checks whether a host is fit to measure on: a pure function from what was read to problems, each with its fix.
//!
//! The command `check` prints all findings. The sweep prints the graver ones once and marks every row with them.

mod interface;
mod machine;
mod network;
mod power_and_heat;
mod unfit;
mod words;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::interface::{Cause, cause};
pub use self::unfit::{Problem, Unfit};
pub(crate) use self::words::{Values, why_and_fix};
use crate::board::Board;
use crate::data::Buffer;
use crate::facts::{self, Cpu, Host, Interface};
use crate::sys::busy::{self, Busy};
use crate::sys::files::Root;
use crate::sys::sensors;
use crate::sys::temperature::Temperatures;

/// State of a host to check.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// The machine.
    pub host: &'a Host,
    /// The machine's profile.
    pub board: &'a Board,
    /// `SO_RCVBUF` that receivers will request, in bytes.
    pub rcvbuf_bytes: u32,
    /// The temperatures now.
    pub temperatures: Temperatures,
    /// The Raspberry Pi firmware's throttle bits now.
    pub throttle_bits: Option<u32>,
    /// True if the kernel's own driver finds the supply voltage too low now.
    pub under_voltage: Option<bool>,
    /// True if the kernel limits a CPU's clock because of heat now.
    pub cooling: Option<bool>,
    /// Other processes that use CPU time now, the busiest first.
    pub busy: Vec<Busy>,
    /// Network interfaces to check, for runs between two hosts.
    pub interfaces: Vec<Interface>,
}

/// A property of the host that affects the numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The observation.
    pub seen: Seen,
    /// Reason why it matters for the numbers.
    pub why: String,
    /// Command or action that removes it.
    pub fix: String,
}

/// Observation of a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// The numbers would not be those of this board, or not the same tomorrow.
    Problem(Problem),
    /// Worth knowing when the numbers are read.
    Note(String),
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Problem(problem) => problem.fmt(f),
            Self::Note(text) => f.write_str(text),
        }
    }
}

impl Finding {
    pub(crate) fn invalid(unfit: Unfit, why: impl Into<String>, fix: impl Into<String>) -> Self {
        let is_remote = false;
        Self {
            seen: Seen::Problem(Problem { unfit, is_remote }),
            why: why.into(),
            fix: fix.into(),
        }
    }

    pub(crate) fn note(
        seen: impl Into<String>,
        why: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            seen: Seen::Note(seen.into()),
            why: why.into(),
            fix: fix.into(),
        }
    }

    /// Returns the problem, if it is one that makes the host unfit to measure on.
    pub fn problem(&self) -> Option<&Problem> {
        match &self.seen {
            Seen::Problem(problem) => Some(problem),
            Seen::Note(_) => None,
        }
    }

    /// Marks a finding of the other host.
    pub fn on_the_other_host(mut self) -> Self {
        match &mut self.seen {
            Seen::Problem(problem) => problem.is_remote = true,
            Seen::Note(text) => *text = format!("on the other host: {text}"),
        }
        self
    }
}

impl<'a> Subject<'a> {
    /// Reads the sensors of a host whose facts are known, and observes for 200 ms which processes use its CPUs.
    pub fn new(host: &'a Host, board: &'a Board, rcvbuf_bytes: u32, root: &Root) -> Self {
        Self {
            host,
            board,
            rcvbuf_bytes,
            temperatures: Temperatures::read(root),
            throttle_bits: sensors::throttle_bits(root),
            under_voltage: sensors::under_voltage(root),
            cooling: sensors::cooling(root),
            busy: busy::now(root, &numbers(&host.cpus)),
            interfaces: Vec::new(),
        }
    }

    /// Adds interfaces to check.
    pub fn with_interfaces(self, interfaces: Vec<Interface>) -> Self {
        Self { interfaces, ..self }
    }

    /// Returns all findings, the graver ones first.
    pub fn findings(&self) -> Vec<Finding> {
        let all = [
            machine::findings(self),
            power_and_heat::findings(self),
            network::findings(self),
            interface::findings(self),
        ]
        .into_iter()
        .flatten();
        let (mut gravest_first, notes): (Vec<Finding>, Vec<Finding>) =
            all.partition(|finding| finding.problem().is_some());
        gravest_first.extend(notes);
        gravest_first
    }
}

/// Observes for 200 ms which other programs use the CPUs that this one may use. `None`: together they use little.
pub fn other_programs(root: &Root) -> Option<Finding> {
    let cpus = numbers(&facts::usable(root));
    machine::other_programs(&busy::now(root, &cpus), cpus.len())
}

fn numbers(cpus: &[Cpu]) -> Vec<usize> {
    cpus.iter().map(|cpu| cpu.id).collect()
}

/// Returns the finding about other programs, if it is one of these.
pub fn other_programs_in(mut findings: Vec<Finding>) -> Option<Finding> {
    findings.retain(|finding| finding.problem().is_some_and(Problem::is_other_programs));
    findings.pop()
}

/// Returns the findings about interfaces alone, without the rest of the host.
pub fn of_interfaces(host: &Host, board: &Board, interfaces: Vec<Interface>) -> Vec<Finding> {
    interface::findings(&Subject {
        host,
        board,
        rcvbuf_bytes: Buffer::DEFAULT.into(),
        temperatures: Temperatures::default(),
        throttle_bits: None,
        under_voltage: None,
        cooling: None,
        busy: Vec::new(),
        interfaces,
    })
}

#[cfg(test)]
mod tests;
