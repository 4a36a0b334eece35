//! Checks whether a host is fit to measure on: a pure function from what was read to problems, each with its fix.
//!
//! The command `check` prints all findings. The sweep prints the graver ones once and marks every row with them.

mod finding;
mod interface;
mod machine;
mod power_and_heat;

pub use self::finding::{Finding, Problem, Seen, Unfit, why_and_fix};
pub use self::interface::{Cause, cause};
use crate::board::Board;
use crate::data::Buffer;
use crate::facts::{self, Cpu, Host, Interface};
use crate::sys::files::Root;
use crate::sys::processes::{self, BusyProcess};
use crate::sys::sensors::{SensorReadings, Watch};
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
    /// The other sensors now.
    pub sensors: SensorReadings,
    /// Other processes that use CPU time now, the busiest first.
    pub busy: Vec<BusyProcess>,
    /// Network interfaces to check, for runs between two hosts.
    pub interfaces: Vec<Interface>,
}

impl<'a> Subject<'a> {
    /// Reads the sensors of a host whose facts are known, and observes for 200 ms which processes use its CPUs.
    pub fn new(host: &'a Host, board: &'a Board, rcvbuf_bytes: u32, root: &Root) -> Self {
        Self {
            host,
            board,
            rcvbuf_bytes,
            temperatures: Temperatures::read(root),
            sensors: Watch::start(root).climate,
            busy: processes::busiest(root, &numbers(&host.cpus)),
            interfaces: Vec::new(),
        }
    }

    /// Returns all findings, the graver ones first.
    pub fn findings(&self) -> Vec<Finding> {
        let mut all = machine::findings(self);
        all.extend(power_and_heat::findings(self));
        all.extend(machine::network(self));
        all.extend(interface::findings(self));
        all.sort_by_key(|finding| finding.problem().is_none());
        all
    }
}

/// Observes for 200 ms which other programs use the CPUs that this one may use. `None`: together they use little.
pub fn other_programs(root: &Root) -> Option<Finding> {
    let cpus = numbers(&facts::usable(root));
    machine::other_programs(&processes::busiest(root, &cpus), cpus.len())
}

fn numbers(cpus: &[Cpu]) -> Vec<usize> {
    cpus.iter().map(|cpu| cpu.id).collect()
}

/// Returns the finding about other programs, if it is one of these.
pub fn other_programs_in(findings: Vec<Finding>) -> Option<Finding> {
    let mut findings = findings.into_iter();
    findings.find(|finding| finding.problem().is_some_and(Problem::is_other_programs))
}

/// Returns the findings about interfaces alone, without the rest of the host.
pub fn of_interfaces(host: &Host, board: &Board, interfaces: Vec<Interface>) -> Vec<Finding> {
    interface::findings(&Subject {
        host,
        board,
        rcvbuf_bytes: Buffer::DEFAULT.into(),
        temperatures: Temperatures::default(),
        sensors: SensorReadings::default(),
        busy: Vec::new(),
        interfaces,
    })
}

#[cfg(test)]
mod tests;
