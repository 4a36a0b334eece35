//! Settings of a driver that can be changed and put back. Values are text, so that they are shown and stored in the
//! same form.

use std::io;

use serde::{Deserialize, Serialize};

use super::ethtool::{Ethtool, Query};

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
}

// Index of each number in its structure (linux/ethtool.h).
const GRO: usize = 1;
const RX_USECS: usize = 1;
const ADAPTS_RX: usize = 10;
const EEE_ENABLED: usize = 5;
const RX_RING: usize = 5;
const TX_RING: usize = 8;

impl Changeable {
    fn query(self) -> Query {
        match self {
            Self::Gro => Query::Gro,
            Self::Coalescing => Query::Coalescing,
            Self::Eee => Query::Eee,
            Self::Rings => Query::Rings,
        }
    }

    /// Reads the value of the setting.
    ///
    /// # Errors
    /// Returns the error of the driver: `EOPNOTSUPP` if it has no such setting.
    pub fn read(self, driver: &Ethtool) -> io::Result<String> {
        let words = driver.ask(self.query())?;
        Ok(match self {
            Self::Gro => switch(words[GRO]),
            Self::Eee => switch(words[EEE_ENABLED]),
            Self::Coalescing if words[ADAPTS_RX] != 0 => {
                format!("{} us, adaptive", words[RX_USECS])
            }
            Self::Coalescing => format!("{} us", words[RX_USECS]),
            Self::Rings => format!("rx {} tx {}", words[RX_RING], words[TX_RING]),
        })
    }

    /// Sets the value. The other fields of the same request stay unchanged.
    ///
    /// # Errors
    /// Returns the error of the driver, or an error if `value` is not a value of this setting.
    pub fn write(self, driver: &Ethtool, value: &str) -> io::Result<()> {
        let mut words = driver.ask(self.query())?;
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
            (Self::Rings, [rx, tx], _) => (words[RX_RING], words[TX_RING]) = (*rx, *tx),
            _ => return Err(io::Error::other(format!("{value:?} is no value of it"))),
        }
        driver.tell(self.query(), words)
    }
}

fn switch(number: u32) -> String {
    if number == 0 { "off" } else { "on" }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

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
