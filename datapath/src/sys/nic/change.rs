//! Settings of a driver that can be changed and put back. Values are text, so that they are shown and stored in the
//! same form.

use std::io;

use serde::{Deserialize, Serialize};

use super::ethtool::{Ethtool, Query};
use super::{link_settings, wireless};

/// A setting that can be changed, with CAP_NET_ADMIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Changeable {
    /// Generic receive offload (`ethtool -K gro`): `on`, `off`.
    Gro,
    /// Time that interrupts of received packets are held back (`ethtool -C`): `50 us`, `50 us, adaptive`.
    Coalescing,
    /// Energy-efficient Ethernet (`ethtool --set-eee`): `on`, `off`.
    Eee,
    /// Descriptors for packets (`ethtool -G`): `rx 256 tx 256`.
    Rings,
    /// Flow control by pause frames (`ethtool -A`): `rx on tx off`, `rx on tx on, negotiated`.
    Pause,
    /// Modes that are negotiated (`ethtool -s advertise`): `up to 2500 Mb/s (0x80000000002f)`.
    Speed,
    /// Power save of Wi-Fi (`iw set power_save`): `on`, `off`.
    PowerSave,
}

// Index of each number in its structure (linux/ethtool.h).
const GRO: usize = 1;
const RX_USECS: usize = 1;
const ADAPTS_RX: usize = 10;
const EEE_ENABLED: usize = 5;
const RX_RING: usize = 5;
const TX_RING: usize = 8;
const PAUSE_NEGOTIATED: usize = 1;
const RX_PAUSE: usize = 2;
const TX_PAUSE: usize = 3;

impl Changeable {
    /// Returns the request with the setting in a structure of fixed size. `None`: it is in another one.
    fn query(self) -> Option<Query> {
        match self {
            Self::Gro => Some(Query::Gro),
            Self::Coalescing => Some(Query::Coalescing),
            Self::Eee => Some(Query::Eee),
            Self::Rings => Some(Query::Rings),
            Self::Pause => Some(Query::Pause),
            Self::Speed | Self::PowerSave => None,
        }
    }

    /// Reads the value of the setting.
    ///
    /// # Errors
    /// Returns the error of the driver: `EOPNOTSUPP` if it has no such setting.
    pub fn read(self, driver: &Ethtool) -> io::Result<String> {
        let Some(query) = self.query() else {
            return match self {
                Self::PowerSave => {
                    wireless::power_save(driver.interface()).map(|is_on| switch(is_on.into()))
                }
                _ => link_settings::advertised(driver),
            };
        };
        let words = driver.ask(query)?;
        Ok(match self {
            Self::Gro => switch(words[GRO]),
            Self::Eee => switch(words[EEE_ENABLED]),
            Self::Coalescing if words[ADAPTS_RX] != 0 => {
                format!("{} us, adaptive", words[RX_USECS])
            }
            Self::Coalescing => format!("{} us", words[RX_USECS]),
            Self::Pause => {
                let (rx, tx) = (switch(words[RX_PAUSE]), switch(words[TX_PAUSE]));
                match words[PAUSE_NEGOTIATED] {
                    0 => format!("rx {rx} tx {tx}"),
                    _ => format!("rx {rx} tx {tx}{NEGOTIATED}"),
                }
            }
            _ => format!("rx {} tx {}", words[RX_RING], words[TX_RING]),
        })
    }

    /// Sets the value. The other fields of the same request stay unchanged.
    ///
    /// # Errors
    /// Returns the error of the driver, or an error if `value` is not a value of this setting.
    pub fn write(self, driver: &Ethtool, value: &str) -> io::Result<()> {
        let Some(query) = self.query() else {
            return match (self, value) {
                (Self::PowerSave, "on" | "off") => {
                    wireless::set_power_save(driver.interface(), value == "on")
                }
                (Self::PowerSave, _) => Err(no_value(value)),
                _ => link_settings::advertise(driver, value),
            };
        };
        let mut words = driver.ask(query)?;
        let numbers: Vec<u32> = value
            .split(|letter: char| !letter.is_ascii_digit())
            .filter_map(|digits| digits.parse().ok())
            .collect();
        match (self, &numbers[..], value) {
            (Self::Gro, [], "on" | "off") => words[GRO] = (value == "on").into(),
            (Self::Eee, [], "on" | "off") => words[EEE_ENABLED] = (value == "on").into(),
            (Self::Coalescing, [usecs], _) => {
                words[RX_USECS] = *usecs;
                words[ADAPTS_RX] = value.ends_with("adaptive").into();
            }
            (Self::Pause, [], _) => {
                let (rx, tx) = pause(value).ok_or_else(|| no_value(value))?;
                words[PAUSE_NEGOTIATED] = value.ends_with(NEGOTIATED).into();
                (words[RX_PAUSE], words[TX_PAUSE]) = (rx.into(), tx.into());
            }
            (Self::Rings, [rx, tx], _) => (words[RX_RING], words[TX_RING]) = (*rx, *tx),
            _ => return Err(no_value(value)),
        }
        driver.tell(query, words)
    }

    /// Returns the other value of flow control: off in both directions if it is on in both, else on.
    pub fn other_pause(before: &str) -> String {
        let negotiated = if before.ends_with(NEGOTIATED) {
            NEGOTIATED
        } else {
            ""
        };
        let other = match pause(before) {
            Some((true, true)) => "off",
            _ => "on",
        };
        format!("rx {other} tx {other}{negotiated}")
    }
}

/// End of a value of flow control that both ends of the link negotiate.
const NEGOTIATED: &str = ", negotiated";

fn no_value(value: &str) -> io::Error {
    io::Error::other(format!("{value:?} is no value of it"))
}

/// Returns whether pause frames are heeded, and sent, in a value of flow control.
fn pause(value: &str) -> Option<(bool, bool)> {
    let value = value.strip_suffix(NEGOTIATED).unwrap_or(value);
    let (rx, tx) = value.strip_prefix("rx ")?.split_once(" tx ")?;
    let is_on = |word| match word {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    };
    Some((is_on(rx)?, is_on(tx)?))
}

fn switch(number: u32) -> String {
    if number == 0 { "off" } else { "on" }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flow_control_is_tried_the_other_way() {
        let other = Changeable::other_pause;
        assert_eq!(
            other("rx on tx on, negotiated"),
            "rx off tx off, negotiated"
        );
        assert_eq!(other("rx on tx off"), "rx on tx on");
        assert_eq!(pause("rx off tx on, negotiated"), Some((false, true)));
        assert_eq!(pause("rx 256 tx 256"), None);
        let loopback = Ethtool::open("lo").expect("a socket");
        let pause = Changeable::Pause.read(&loopback);
        assert!(pause.is_err(), "{pause:?}");
    }

    #[test]
    fn what_a_driver_lacks_is_an_error_and_so_is_a_value_that_is_none() {
        let loopback = Ethtool::open("lo").expect("a socket");
        let rings = Changeable::Rings.read(&loopback);
        assert!(rings.is_err(), "{rings:?}");
        let Ok(gro) = Changeable::Gro.read(&loopback) else {
            eprintln!("SKIPPED: this kernel does not answer ethtool, as emulators do not");
            return;
        };
        assert!(["on", "off"].contains(&&*gro), "{gro}");
        let nonsense = Changeable::Gro.write(&loopback, "256");
        assert_eq!(
            nonsense.map_err(|error| error.kind()),
            Err(io::ErrorKind::Other)
        );
    }
}
