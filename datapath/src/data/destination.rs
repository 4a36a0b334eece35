//! Destination of the messages: loopback, an address of this host, or a remote host.

use std::fmt;
use std::str::FromStr;

use super::axes::Ip;
use super::bounded::stored_as_text;
use super::host_address::HostAddress;

/// Destination address of the messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Destination {
    /// 127.0.0.1 or `::1`.
    #[default]
    Loopback,
    /// The first address of an interface of this host. Messages do not leave the host.
    Local,
    /// An address of a remote host.
    Of(HostAddress),
}

impl Destination {
    /// Returns the IP version of a given address. `None`: either version.
    pub fn ip(self) -> Option<Ip> {
        match self {
            Self::Loopback | Self::Local => None,
            Self::Of(address) if address.ip.is_ipv4() => Some(Ip::V4),
            Self::Of(_) => Some(Ip::V6),
        }
    }
}

impl FromStr for Destination {
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

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loopback => f.pad("loopback"),
            Self::Local => f.pad("local"),
            Self::Of(address) => address.fmt(f),
        }
    }
}

stored_as_text!(Destination);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_written_as_they_are_typed() {
        for text in ["loopback", "local", "192.0.2.7", "fe80::7%eth0"] {
            let address: Destination = text.parse().expect(text);
            assert_eq!(address.to_string(), text);
        }
        assert!("board".parse::<Destination>().is_err());
    }
}
