//! Identification of the machine of a row, or of the two machines between two hosts.

use std::fmt;

use super::Row;

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
