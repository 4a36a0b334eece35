//! Kinds of network interfaces, and the line that describes one.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Interface;
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
            None if root
                .link_name(format!("sys/class/net/{name}/device"))
                .is_some() =>
            {
                Self::Hardware
            }
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

    /// Returns the name of the kind. `None` for `Hardware`.
    pub fn word(self) -> Option<String> {
        let name = serde_json::to_value(self).unwrap_or_default();
        let name = name.as_str().filter(|_| self != Self::Hardware);
        name.map(str::to_owned)
    }
}

/// Writes one line: `bcmgenet 1000 Mb/s full, MTU 1500, 5 queues, rings 512/512, rx-usecs 57, EEE on, qdisc mq`.
impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.what())?;
        for (before, value) in self.settings() {
            write!(f, ", {before}{value}")?;
        }
        Ok(())
    }
}

impl Interface {
    /// Returns driver, kind, speed, duplex mode, and `down` if the interface is down.
    fn what(&self) -> String {
        let driver = self.driver.clone();
        // The word veth is both driver and kind.
        let is_other = |kind: &String| Some(kind) != driver.as_ref();
        let kind = self.kind.word().filter(is_other);
        let speed = self.speed_mbps.map(|speed| format!("{speed} Mb/s"));
        let is_down = self.state.as_deref() == Some("down");
        let down = is_down.then(|| "down".to_owned());
        let duplex = self.duplex.clone().filter(|_| speed.is_some());
        let words = [driver, kind, speed, duplex, down];
        let words: Vec<String> = words.into_iter().flatten().collect();
        if words.is_empty() {
            return "unknown driver".to_owned();
        }
        words.join(" ")
    }

    /// Returns the settings after the first words, each with its prefix.
    fn settings(&self) -> impl Iterator<Item = (&'static str, String)> {
        let (rx, tx) = (self.rx_queues, self.tx_queues);
        let queues = match (rx, tx) {
            (0, _) | (_, 0) => None,
            (1, 1) => Some("1 queue".to_owned()),
            _ if rx == tx => Some(format!("{rx} queues")),
            _ => Some(format!("{rx}/{tx} queues")),
        };
        let rings = self.rings.map(|rings| format!("{}/{}", rings.rx, rings.tx));
        let held = self.coalescing.filter(|held| held.rx_usecs > 0);
        let switch = |is_on: bool| if is_on { "on" } else { "off" }.to_owned();
        let radio = self.wireless.unwrap_or_default();
        let signal = radio.signal_dbm.map(|dbm| format!("{dbm} dBm"));
        let rate = radio.tx_kbps.map(|kbps| f64::from(kbps) / 1e3);
        let settings = [
            ("channel ", radio.channel().map(|number| number.to_string())),
            ("", signal),
            ("sending at ", rate.map(|mbps| format!("{mbps:.1} Mb/s"))),
            ("power save ", radio.power_save.map(switch)),
            ("MTU ", self.mtu.map(|mtu| mtu.to_string())),
            ("", queues),
            ("rings ", rings),
            ("rx-usecs ", held.map(|held| held.rx_usecs.to_string())),
            ("EEE ", self.eee.map(|eee| switch(eee.is_active))),
            ("qdisc ", self.qdisc.clone()),
        ];
        let said = settings.into_iter();
        said.filter_map(|(before, value)| Some((before, value?)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Interface, InterfaceKind};
    use crate::sys::nic::{Coalescing, Eee, Rings, Wireless};

    #[test]
    fn what_is_known_stands_in_one_line() {
        let eth0 = Interface {
            name: "eth0".to_owned(),
            driver: Some("bcmgenet".to_owned()),
            speed_mbps: Some(1000),
            duplex: Some("full".to_owned()),
            mtu: Some(1500),
            rx_queues: 5,
            tx_queues: 5,
            rings: Some(Rings {
                rx: 512,
                tx: 256,
                rx_max: 512,
                tx_max: 512,
            }),
            coalescing: Some(Coalescing {
                rx_usecs: 57,
                rx_frames: 0,
                tx_usecs: 0,
                tx_frames: 1,
                adapts_rx: false,
            }),
            eee: Some(Eee {
                is_active: true,
                is_enabled: true,
                sleeps: true,
                sleeps_after_us: 34,
            }),
            qdisc: Some("mq".to_owned()),
            ..Interface::default()
        };
        let line = "bcmgenet 1000 Mb/s full, MTU 1500, 5 queues, rings 512/256, rx-usecs 57, EEE on, qdisc mq";
        assert_eq!(eth0.to_string(), line);
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        assert_eq!(Interface::default().to_string(), "unknown driver");
        let wlan0 = Interface {
            kind: InterfaceKind::Wireless,
            driver: Some("brcmfmac".to_owned()),
            state: Some("down".to_owned()),
            rx_queues: 1,
            tx_queues: 4,
            ..Interface::default()
        };
        assert_eq!(wlan0.to_string(), "brcmfmac wireless down, 1/4 queues");
        let wlan0 = Interface {
            state: Some("up".to_owned()),
            wireless: Some(Wireless {
                power_save: Some(true),
                frequency_mhz: Some(2437),
                signal_dbm: Some(-58),
                tx_kbps: Some(72_200),
                ..Wireless::default()
            }),
            ..wlan0
        };
        let line = "brcmfmac wireless, channel 6, -58 dBm, sending at 72.2 Mb/s, power save on, 1/4 queues";
        assert_eq!(wlan0.to_string(), line);
        let veth = Interface {
            kind: InterfaceKind::Veth,
            driver: Some("veth".to_owned()),
            ..Interface::default()
        };
        assert_eq!(veth.to_string(), "veth");
        for (kind, driver, line) in [
            (InterfaceKind::Bond, "bonding", "bonding bond"),
            (InterfaceKind::Macvlan, "ipvlan", "ipvlan macvlan"),
            (InterfaceKind::Dsa, "mt7530-mdio", "mt7530-mdio dsa"),
        ] {
            let interface = Interface {
                kind,
                driver: Some(driver.to_owned()),
                ..Interface::default()
            };
            assert_eq!(interface.to_string(), line);
        }
    }
}
