//! Kinds of network interfaces.

use serde::{Deserialize, Serialize};

use super::super::network;
use crate::sys::files::Root;

/// Kind of a network interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InterfaceKind {
    /// A device with a wire, or one of a virtual machine.
    #[default]
    Hardware,
    /// A radio.
    Wireless,
    /// The loopback interface, `lo`.
    Loopback,
    /// One end of a pair of virtual Ethernet interfaces, as containers have.
    Veth,
    /// A bridge.
    Bridge,
    /// A VLAN of another interface.
    Vlan,
    /// Several interfaces that act as one.
    Bond,
    /// A tunnel to a program: tun or tap.
    Tun,
    /// Any other software.
    Software,
}

impl InterfaceKind {
    pub(super) fn in_sysfs(root: &Root, name: &str) -> Self {
        /// `ARPHRD_LOOPBACK` (linux/if_arp.h).
        const LOOPBACK: u32 = 772;
        let has = |file: &str| root.path(format!("sys/class/net/{name}/{file}")).exists();
        let uevent = root
            .text(format!("sys/class/net/{name}/uevent"))
            .unwrap_or_default();
        let mut lines = uevent.lines();
        let kind = lines.find_map(|line| line.strip_prefix("DEVTYPE="));
        match kind {
            Some("wlan") => Self::Wireless,
            Some("bridge") => Self::Bridge,
            Some("vlan") => Self::Vlan,
            Some("bond") => Self::Bond,
            _ if has("wireless") || has("phy80211") => Self::Wireless,
            _ if has("tun_flags") => Self::Tun,
            _ if root.number(format!("sys/class/net/{name}/type")) == Some(LOOPBACK) => {
                Self::Loopback
            }
            _ if network::device(root, name).is_some() => Self::Hardware,
            _ => Self::Software,
        }
    }

    /// Returns the name of the kind. `None` for `Hardware`.
    pub(super) fn word(self) -> Option<&'static str> {
        match self {
            Self::Hardware => None,
            Self::Wireless => Some("wireless"),
            Self::Loopback => Some("loopback"),
            Self::Veth => Some("veth"),
            Self::Bridge => Some("bridge"),
            Self::Vlan => Some("VLAN"),
            Self::Bond => Some("bond"),
            Self::Tun => Some("tun"),
            Self::Software => Some("software"),
        }
    }
}
