//! Kinds of network interfaces.

use serde::{Deserialize, Serialize};

use super::super::network;
use crate::sys::files::Root;
use crate::sys::nic::Link;

/// `ARPHRD_LOOPBACK` (linux/if_arp.h).
const LOOPBACK: u16 = 772;

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
    /// A second interface on top of another one: macvlan, macvtap or ipvlan.
    Macvlan,
    /// A port of a switch chip, which another interface connects to the CPU (DSA).
    Dsa,
    /// A tunnel to a program: tun or tap.
    Tun,
    /// Any other software.
    Software,
}

impl InterfaceKind {
    pub(super) fn in_sysfs(root: &Root, name: &str) -> Self {
        let has = |file: &str| root.path(format!("sys/class/net/{name}/{file}")).exists();
        let uevent = root
            .text(format!("sys/class/net/{name}/uevent"))
            .unwrap_or_default();
        let mut lines = uevent.lines();
        let kind = lines.find_map(|line| line.strip_prefix("DEVTYPE="));
        match kind.and_then(Self::named) {
            Some(kind) => kind,
            None if kind == Some("wlan") || has("wireless") || has("phy80211") => Self::Wireless,
            None if has("tun_flags") => Self::Tun,
            None if root.number(format!("sys/class/net/{name}/type")) == Some(LOOPBACK) => {
                Self::Loopback
            }
            None if network::device(root, name).is_some() => Self::Hardware,
            None => Self::Software,
        }
    }

    /// Returns the kind that has this name in the kernel.
    fn named(kind: &str) -> Option<Self> {
        Some(match kind {
            "veth" | "netkit" => Self::Veth,
            "bridge" => Self::Bridge,
            "vlan" => Self::Vlan,
            "bond" => Self::Bond,
            "macvlan" | "macvtap" | "ipvlan" | "ipvtap" => Self::Macvlan,
            "dsa" => Self::Dsa,
            "tun" => Self::Tun,
            _ => return None,
        })
    }

    /// Returns the kind that the kernel tells by netlink. `None`: it does not tell.
    pub(super) fn by_netlink(link: &Link) -> Option<Self> {
        match link.kind.as_deref() {
            _ if link.hardware == LOOPBACK => Some(Self::Loopback),
            // Kinds of drivers that have hardware or a radio (2026-11).
            None | Some("wlan" | "can" | "rmnet" | "ipoib") => None,
            Some(kind) => Some(Self::named(kind).unwrap_or(Self::Software)),
        }
    }

    /// Returns whether other interfaces below it carry its packets.
    pub fn is_on_top(self) -> bool {
        matches!(
            self,
            Self::Bridge | Self::Vlan | Self::Bond | Self::Macvlan | Self::Dsa
        )
    }

    /// Returns the name of the kind. `None` for `Hardware`.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Hardware => None,
            Self::Wireless => Some("wireless"),
            Self::Loopback => Some("loopback"),
            Self::Veth => Some("veth"),
            Self::Bridge => Some("bridge"),
            Self::Vlan => Some("VLAN"),
            Self::Bond => Some("bond"),
            Self::Macvlan => Some("macvlan"),
            Self::Dsa => Some("port of a switch"),
            Self::Tun => Some("tun"),
            Self::Software => Some("software"),
        }
    }
}
