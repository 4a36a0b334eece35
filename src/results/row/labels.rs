//! A row is made here, and has properties that follow from its columns: label, block, loss place, machine.

use std::fmt;

use super::computed::Computed;
use super::derived::move_estimates;
use super::sensors::NOT_THROTTLED;
use super::{Environment, Interval, Row, RowInput, Warning};
use crate::data::{BlockKey, Case};
use crate::is_debug;
use crate::plan::PlanWarning;

impl Row {
    /// Computes a row.
    pub fn new(input: &RowInput, environment: &Environment) -> Self {
        let mut row = Self::of(&Computed::new(input, environment));
        row.machine_id = Machine::of(&row).to_string();
        row
    }

    /// Returns the row that follows from a case alone. Columns that need more are empty.
    pub fn of_case(case: &Case) -> Self {
        let input = RowInput::skipped(case, String::new());
        Self {
            machine_id: String::new(),
            ..Self::new(&input, &Environment::default())
        }
    }

    /// Returns the label that distinguishes the row within its block, without the connection: see
    /// [`Case::label`](crate::data::Case::label).
    pub fn label(&self) -> String {
        self.case.label()
    }

    /// Returns the block of the row, whose rows are compared with each other.
    pub fn block(&self) -> BlockKey {
        self.case.block()
    }

    /// Returns the CPUs of the threads, as in the column `pin`. Empty: the case was skipped.
    pub fn cpus(&self) -> String {
        self.pin
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default()
    }

    /// Returns the number of windows in the estimates.
    pub fn counted_windows(&self) -> usize {
        usize::try_from(self.rounds).unwrap_or(usize::MAX)
    }

    /// Returns whether benchmark threads lost CPU time in so many windows that the estimates are in doubt.
    pub fn lost_cpu_time(&self) -> bool {
        let disturbed = self.disturbed_windows;
        disturbed.is_some_and(|windows| move_estimates(windows, self.counted_windows()))
    }

    /// Returns whether both ends of a wire had the same CPU.
    pub fn shares_cpu(&self) -> bool {
        let mut warnings = self.warnings.iter();
        warnings.any(|it| matches!(it, Warning::Plan(PlanWarning::BothEndsShareCpu { .. })))
    }

    /// Returns whether the program was a debug build, which is slower.
    pub fn is_debug(&self) -> bool {
        is_debug(&self.version)
    }

    /// Returns whether the half-width of each interval is at most `half_width_pct` percent of its estimate. An
    /// estimate without an interval counts as narrow, and an interval around 0 as wide.
    pub fn is_narrow(&self, half_width_pct: f64) -> bool {
        let is_wide = |[middle, low, high]: Interval| {
            let half = 50.0 * (high? - low?);
            Some(half > half_width_pct * middle?)
        };
        let estimates = [self.pps(), self.to_std(), self.p50_us()];
        !estimates.into_iter().filter_map(is_wide).any(|it| it)
    }

    /// Returns the place between two hosts where most datagrams were lost, and its share of all losses in percent.
    /// `None`: one host, or no loss.
    pub fn lost_at(&self) -> Option<(&'static str, f64)> {
        self.direction?;
        let places = [
            ("kernel out", self.dropped_kernel_out_packets),
            ("qdisc", self.dropped_qdisc_packets),
            ("NIC out", self.dropped_nic_out_packets),
            ("path", self.lost_on_path_packets),
            ("NIC in", self.dropped_nic_in_packets),
            ("backlog", self.dropped_backlog_packets),
            ("kernel in", self.dropped_kernel_in_packets),
            ("protocol", self.dropped_protocol_packets),
            ("socket", self.dropped_socket_packets),
        ];
        let all: u64 = places.iter().filter_map(|(_, lost)| *lost).sum();
        let (place, lost) = places.into_iter().max_by_key(|(_, lost)| *lost)?;
        let lost = lost.filter(|&lost| lost > 0)?;
        Some((place, 100.0 * lost as f64 / all as f64))
    }

    /// Returns whether the row is the reference of its block.
    pub fn is_reference(&self) -> bool {
        self.case.is_reference()
    }

    /// Returns whether the board was throttled. False if it is unknown.
    pub fn was_throttled(&self) -> bool {
        !NOT_THROTTLED.contains(&self.throttled.as_str())
    }
}

/// Machine of a row, as named in its column `machine_id`. Rows of the same machine have equal values. The
/// address of the remote host does not matter, because a machine can have several names and addresses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Machine {
    id: String,
    /// What is between its senders and receivers.
    pub network: Network,
}

/// What datagrams go through from senders to receivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Network {
    /// One host.
    Loopback,
    /// A pair of virtual interfaces (veth(4)) between two network namespaces. Like loopback, it hands a train over as
    /// one packet.
    Veth,
    /// Two hosts.
    Wire,
}

impl Machine {
    /// Returns the machine of a row.
    pub fn of(row: &Row) -> Self {
        Self {
            id: id(row),
            network: Network::of(row),
        }
    }
}

impl Network {
    fn of(row: &Row) -> Self {
        if row.direction.is_none() {
            Self::Loopback
        } else if row.nic.is_veth || row.remote_nic.is_veth {
            Self::Veth
        } else {
            Self::Wire
        }
    }

    /// Returns the beginning of a sentence about a number of engines.
    pub fn among(self) -> &'static str {
        match self {
            Self::Loopback => "Over loopback, of",
            Self::Veth => "Over veth, of",
            Self::Wire => "Of",
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id)
    }
}

fn id(row: &Row) -> String {
    // Builds for another architecture and debug builds count as other machines.
    let debug = if row.is_debug() { "debug build" } else { "" };
    let local = known(&[
        &row.board,
        &row.model,
        &row.cpu_model,
        &row.arch,
        &row.virtualization,
        debug,
    ]);
    if row.direction.is_none() {
        return local;
    }
    let remote = known(&[
        &row.remote_board,
        &row.remote_model,
        &row.remote_cpu_model,
        &row.remote_machine,
    ]);
    let network = match Network::of(row) {
        Network::Veth => ", over veth",
        Network::Loopback | Network::Wire => "",
    };
    format!("{local} to {remote}{network}")
}

fn known(parts: &[&str]) -> String {
    let known = parts.iter().copied().filter(|part| !part.is_empty());
    known.collect::<Vec<&str>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::NicText;
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
            |row| row.remote_board = "rpi-5".to_owned(),
            |row| row.remote_model = "Raspberry Pi 400".to_owned(),
            |row| row.remote_cpu_model = "Cortex-A76".to_owned(),
            |row| row.remote_machine = "armv7l".to_owned(),
        ];
        for change in changes {
            let mut other = wire.clone();
            change(&mut other);
            assert_ne!(Machine::of(&other), machine);
        }
        assert_eq!(machine.network, Network::Wire);
        assert_eq!(Machine::of(&ordinary_row()).network, Network::Loopback);
    }

    #[test]
    fn veth_is_known_from_either_interface() {
        let veth = Row {
            remote_nic: NicText {
                is_veth: true,
                ..NicText::default()
            },
            ..row_of_a_wire()
        };
        assert_eq!(Machine::of(&veth).network, Network::Veth);
    }

    #[test]
    fn another_kernel_and_another_name_are_no_other_machine() {
        let wire = row_of_a_wire();
        let again = Row {
            remote: "192.168.7.2".to_owned(),
            remote_kernel: "6.13.0".to_owned(),
            remote_governor: "powersave".to_owned(),
            ..wire.clone()
        };
        assert_eq!(Machine::of(&again), Machine::of(&wire));
    }
}
