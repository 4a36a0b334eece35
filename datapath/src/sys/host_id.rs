//! Identity of the machine and of the network namespace that a process runs in.

use std::fs;

use serde::{Deserialize, Serialize};

/// Identity by which two processes find out if they read the same counters of the kernel.
///
/// An unreadable identity is unequal even to itself. The discards of both ends are then added: too many only
/// over-explain a loss, too few would fail the row.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HostId {
    /// Random id of the boot (random(4)).
    boot: Option<String>,
    /// The network namespace (namespaces(7)).
    network: Option<String>,
}

impl HostId {
    /// Reads the identity of this process.
    pub fn read() -> Self {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
        let network = fs::read_link("/proc/self/ns/net").ok();
        Self {
            boot: boot.map(|boot| boot.trim().to_owned()),
            network: network.map(|link| link.to_string_lossy().into_owned()),
        }
    }

    /// Returns whether both are on one machine, since the same boot.
    pub fn is_same_machine(&self, other: &Self) -> bool {
        self.boot.is_some() && self.boot == other.boot
    }

    /// Returns whether both are in one network namespace of one machine.
    pub fn is_same_network(&self, other: &Self) -> bool {
        let is_same = self.network.is_some() && self.network == other.network;
        is_same && self.is_same_machine(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_where_it_is() {
        let here = HostId::read();
        assert!(here.is_same_machine(&here) && here.is_same_network(&here));
        let other_namespace = HostId {
            network: Some("net:[1]".to_owned()),
            ..here.clone()
        };
        assert!(here.is_same_machine(&other_namespace) && !here.is_same_network(&other_namespace));
        let other_machine = HostId {
            boot: Some("another".to_owned()),
            ..here.clone()
        };
        assert!(!here.is_same_machine(&other_machine) && !here.is_same_network(&other_machine));
    }

    #[test]
    fn what_is_not_known_equals_nothing() {
        let unknown = HostId::default();
        assert!(!unknown.is_same_machine(&unknown) && !unknown.is_same_network(&unknown));
    }
}
