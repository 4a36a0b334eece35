//! Where messages go.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::axes::Ip;
use super::bounded::stored_as_text;

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
    Of(IpAddr),
}

impl Address {
    /// The version of IP that it has. `None`: either.
    pub fn ip(self) -> Option<Ip> {
        match self {
            Self::Loopback | Self::Local => None,
            Self::Of(IpAddr::V4(_)) => Some(Ip::V4),
            Self::Of(IpAddr::V6(_)) => Some(Ip::V6),
        }
    }
}

/// What is said of addresses of fe80::/10 (RFC 4291), which mean nothing without a link.
pub const OF_ONE_LINK: &str = "udpbench does not measure between link-local addresses (fe80::/10): give both interfaces others, such \
                               as ip -6 address add fd00::1/64 dev eth0 here and fd00::2/64 there, and name the one there";

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "loopback" => Ok(Self::Loopback),
            "local" => Ok(Self::Local),
            _ if text.contains('%') => Err(OF_ONE_LINK.to_owned()),
            _ => text.parse().map(Self::Of).map_err(|_| {
                "use loopback or local, or with udpbench wire an IP address of the other host"
                    .to_owned()
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
        for text in ["loopback", "local", "192.0.2.7", "2001:db8::7"] {
            let address: Address = text.parse().expect(text);
            assert_eq!(address.to_string(), text);
        }
        assert!("board".parse::<Address>().is_err());
        let refused = "fe80::1%eth0".parse::<Address>();
        assert_eq!(refused, Err(OF_ONE_LINK.to_owned()));
    }
}
