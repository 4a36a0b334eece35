//! Settings of a driver that can be changed and put back. Values are text, so that they are shown and stored in the
//! same form.

use std::io;

use serde::{Deserialize, Serialize};

use super::ethtool::{Ethtool, Query};
use super::wireless;

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
    /// Power save of Wi-Fi (`iw set power_save`): `on`, `off`.
    PowerSave,
}

/// Form of a number in a text.
#[derive(Clone, Copy, Debug)]
enum Form {
    Number,
    /// `off` if it is 0, else `on`.
    Switch,
    /// This text, unless it is 0.
    Remark(&'static str),
}

/// Parts of a text, in their order: the text before the number, its index in the structure, and its form.
type Parts = &'static [(&'static str, usize, Form)];

impl Changeable {
    /// Returns the request with the setting in a structure of fixed size (linux/ethtool.h), and the parts of its text.
    /// `None`: it is no setting of ethtool.
    fn parts(self) -> Option<(Query, Parts)> {
        use Form::{Number, Remark, Switch};
        Some(match self {
            Self::Gro => (Query::Gro, &[("", 1, Switch)]),
            Self::Coalescing => (
                Query::Coalescing,
                &[("", 1, Number), (" us", 10, Remark(", adaptive"))],
            ),
            Self::Eee => (Query::Eee, &[("", 5, Switch)]),
            Self::Rings => (Query::Rings, &[("rx ", 5, Number), (" tx ", 8, Number)]),
            Self::Pause => (
                Query::Pause,
                &[
                    ("rx ", 2, Switch),
                    (" tx ", 3, Switch),
                    ("", 1, Remark(", negotiated")),
                ],
            ),
            Self::PowerSave => return None,
        })
    }

    /// Reads the value of the setting.
    ///
    /// # Errors
    /// Returns the error of the driver: `EOPNOTSUPP` if it has no such setting.
    pub fn read(self, driver: &Ethtool) -> io::Result<String> {
        let Some((query, parts)) = self.parts() else {
            let is_on = wireless::power_save(driver.interface())?;
            return Ok(Form::Switch.text(is_on.into()));
        };
        let words = driver.ask(query)?;
        let texts = parts
            .iter()
            .map(|(before, at, form)| (*before).to_owned() + &form.text(words[*at]));
        Ok(texts.collect())
    }

    /// Sets the value. The other fields of the same request stay unchanged.
    ///
    /// # Errors
    /// Returns the error of the driver, or an error if `value` is not a value of this setting.
    pub fn write(self, driver: &Ethtool, value: &str) -> io::Result<()> {
        let no_value = || io::Error::other(format!("{value:?} is no value of it"));
        let Some((query, parts)) = self.parts() else {
            let (is_on, _) = Form::Switch.parse(value).ok_or_else(no_value)?;
            return wireless::set_power_save(driver.interface(), is_on == 1);
        };
        let mut words = driver.ask(query)?;
        let mut rest = value;
        for (before, at, form) in parts {
            let text = rest.strip_prefix(before);
            (words[*at], rest) = text.and_then(|it| form.parse(it)).ok_or_else(no_value)?;
        }
        if !rest.is_empty() {
            return Err(no_value());
        }
        driver.tell(query, words)
    }

    /// Returns the other value of flow control: off in both directions if it is on in both, else on.
    pub fn other_pause(before: &str) -> String {
        let (_, negotiated) = before.split_at(before.find(',').unwrap_or(before.len()));
        let is_on = before.starts_with("rx on tx on");
        let other = Form::Switch.text(u32::from(!is_on));
        format!("rx {other} tx {other}{negotiated}")
    }
}

impl Form {
    fn text(self, number: u32) -> String {
        match self {
            Self::Number => number.to_string(),
            Self::Switch => if number == 0 { "off" } else { "on" }.to_owned(),
            Self::Remark(remark) => if number == 0 { "" } else { remark }.to_owned(),
        }
    }

    /// Parses the number at the beginning of a text, and returns the text behind it.
    fn parse(self, text: &str) -> Option<(u32, &str)> {
        let is_digit = |letter: char| letter.is_ascii_digit();
        match self {
            Self::Number => {
                let rest = text.trim_start_matches(is_digit);
                Some((text.strip_suffix(rest)?.parse().ok()?, rest))
            }
            Self::Switch => {
                let off = text.strip_prefix("off").map(|rest| (0, rest));
                off.or_else(|| Some((1, text.strip_prefix("on")?)))
            }
            Self::Remark(remark) => Some(match text.strip_prefix(remark) {
                Some(rest) => (1, rest),
                None => (0, text),
            }),
        }
    }
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
        assert_eq!(Form::Switch.parse("off tx on"), Some((0, " tx on")));
        assert_eq!(Form::Switch.parse("256 tx 256"), None);
        assert_eq!(Form::Number.parse("256 tx 512"), Some((256, " tx 512")));
        assert_eq!(Form::Remark(", adaptive").parse(""), Some((0, "")));
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
