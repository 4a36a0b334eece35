//! Where messages go.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::axes::Ip;
use super::bounded::stored_as_text;
use super::host_address::HostAddress;

/// Which address the messages go to.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(try_from = "Cow<'_, str>", into = "String")]
pub enum Address {
    /// 127.0.0.1 or `::1`.
    #[default]
    Loopback,
    /// The first that an interface of this host has. They do not leave it.
    Local,
    /// This one, of another host.
    Of(HostAddress),
}

impl Address {
    /// The version of IP that it has. `None`: either.
    pub fn ip(self) -> Option<Ip> {
        match self {
            Self::Loopback | Self::Local => None,
            Self::Of(address) if address.ip.is_ipv4() => Some(Ip::V4),
            Self::Of(_) => Some(Ip::V6),
        }
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "loopback" => Ok(Self::Loopback),
            "local" => Ok(Self::Local),
            _ => text.parse().map(Self::Of).map_err(|problem| {
                format!(
                    "{problem}: use loopback or local, or with udpbench wire an IP address of the other host"
                )
            }),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loopback => f.pad("loopback"),
            Self::Local => f.pad("local"),
            Self::Of(address) => address.fmt(f),
        }
    }
}

stored_as_text!(Address);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_written_as_they_are_typed() {
        for text in ["loopback", "local", "192.0.2.7", "fe80::7%eth0"] {
            let address: Address = text.parse().expect(text);
            assert_eq!(address.to_string(), text);
        }
        assert!("board".parse::<Address>().is_err());
    }
}
