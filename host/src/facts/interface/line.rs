//! Formats an interface as one line.

use std::fmt;

use super::{Interface, InterfaceKind};

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
        // What has no hardware has a driver that only repeats its kind, in other words: 802.1Q VLAN Support, bonding.
        let repeats = matches!(
            self.kind,
            InterfaceKind::Vlan | InterfaceKind::Bond | InterfaceKind::Bridge
        );
        let driver = self.driver.clone().filter(|_| !repeats);
        let is_other = |kind: &String| match self.kind {
            // It names which one: macvlan, macvtap, ipvlan.
            InterfaceKind::Macvlan => driver.is_none(),
            // The word veth is both driver and kind.
            _ => Some(kind) != driver.as_ref(),
        };
        let kind = self.kind.word().map(str::to_owned).filter(is_other);
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
        let eee = self.eee.map(|eee| if eee.is_active { "on" } else { "off" });
        let radio = self.wireless.unwrap_or_default();
        let signal = radio.signal_dbm.map(|dbm| format!("{dbm} dBm"));
        let rate = radio
            .tx_kbps
            .map(|kbps| format!("{:.1} Mb/s", f64::from(kbps) / 1e3));
        let power_save = radio
            .power_save
            .map(|is_on| if is_on { "on" } else { "off" });
        let settings = [
            ("channel ", radio.channel().map(|number| number.to_string())),
            ("", signal),
            ("sending at ", rate),
            ("power save ", power_save.map(str::to_owned)),
            ("MTU ", self.mtu.map(|mtu| mtu.to_string())),
            ("", queues),
            ("rings ", rings),
            ("rx-usecs ", held.map(|held| held.rx_usecs.to_string())),
            ("EEE ", eee.map(str::to_owned)),
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
            (InterfaceKind::Vlan, "802.1Q VLAN Support", "VLAN"),
            (InterfaceKind::Bond, "bonding", "bond"),
            (InterfaceKind::Macvlan, "ipvlan", "ipvlan"),
            (
                InterfaceKind::Dsa,
                "mt7530-mdio",
                "mt7530-mdio port of a switch",
            ),
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
