//! Addresses of messages: loopback, an address of this host, or a remote host, with the interface if it is link-local.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use super::axes::Ip;
use super::bounded::stored_as_text;
use crate::sys::interface_addresses;

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

/// An IP address, with the interface of this host through which a link-local address (fe80::/10, RFC 4291) or a group
/// is reached: `fe80::1%eth0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostAddress {
    /// IP address.
    pub ip: IpAddr,
    /// Interface of a link-local address or a group. `None`: the address is neither, or the interface was not given.
    pub interface: Option<InterfaceName>,
}

/// Name of a network interface, such as `eth0`, padded with zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InterfaceName([u8; Self::MAX_BYTES]);

impl HostAddress {
    /// Returns an address of an interface. The interface is kept only if the address is link-local; an empty name means
    /// that it is unknown.
    pub fn at(ip: IpAddr, interface: &str) -> Self {
        let interface = interface.parse().ok().filter(|_| is_link_local(ip));
        Self { ip, interface }
    }

    /// Returns whether the address is link-local and lacks its interface.
    pub fn lacks_interface(self) -> bool {
        is_link_local(self.ip) && self.interface.is_none()
    }
}

/// Returns whether the address is IPv6 link-local (fe80::/10): ambiguous without an interface. Addresses in 169.254/16
/// do not count: IPv4 socket addresses name no interface.
pub fn is_link_local(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local())
}

impl FromStr for HostAddress {
    type Err = String;

    /// Parses `ADDRESS` or `ADDRESS%INTERFACE`. An interface is a name, or its number, which is looked up on this host.
    fn from_str(text: &str) -> Result<Self, String> {
        let (address, interface) = match text.split_once('%') {
            Some((address, interface)) => (address, Some(interface)),
            None => (text, None),
        };
        let ip = address.parse::<IpAddr>();
        let ip = ip.map_err(|_| format!("{address:?} is no IP address"))?;
        let Some(interface) = interface else {
            return Ok(Self {
                ip,
                interface: None,
            });
        };
        let has_interface = is_link_local(ip) || (ip.is_ipv6() && ip.is_multicast());
        if !has_interface {
            return Err(format!(
                "only addresses of one link (fe80::/10, ff00::/8) have an interface: use {ip}"
            ));
        }
        let name = match interface.parse() {
            Ok(index) => interface_addresses::name_of(index)
                .ok_or_else(|| format!("no interface of this host has the number {index}"))?,
            Err(_) => interface.to_owned(),
        };
        Ok(Self {
            ip,
            interface: Some(name.parse()?),
        })
    }
}

impl fmt::Display for HostAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.interface {
            Some(interface) => f.pad(&format!("{}%{}", self.ip, interface.as_str())),
            None => self.ip.fmt(f),
        }
    }
}

stored_as_text!(HostAddress);

impl InterfaceName {
    /// Maximum length in bytes (`IFNAMSIZ` of linux/if.h, without the terminating zero).
    const MAX_BYTES: usize = 15;

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        let text = std::str::from_utf8(&self.0).unwrap_or_default();
        text.trim_end_matches('\0')
    }
}

impl FromStr for InterfaceName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // The kernel's rules (`dev_valid_name`, net/core/dev.c).
        let is_forbidden = |it: char| it == '/' || it == ':' || it == '\0' || it.is_whitespace();
        let is_dots = text == "." || text == "..";
        let has_valid_length = (1..=Self::MAX_BYTES).contains(&text.len());
        if !has_valid_length || is_dots || text.contains(is_forbidden) {
            return Err(format!("{text:?} cannot be the name of an interface"));
        }
        let mut name = [0; Self::MAX_BYTES];
        name[..text.len()].copy_from_slice(text.as_bytes());
        Ok(Self(name))
    }
}

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

    #[test]
    fn link_local_addresses_have_an_interface_and_no_others_do() {
        let lo = interface_addresses::name_of(1).expect("loopback is there");
        for (text, expected) in [
            ("192.0.2.7", Ok("192.0.2.7".to_owned())),
            ("2001:db8::7", Ok("2001:db8::7".to_owned())),
            ("fe80::1", Ok("fe80::1".to_owned())),
            ("fe80::1%eth0", Ok("fe80::1%eth0".to_owned())),
            (
                "FE80:0::1%enx00e04c680001",
                Ok("fe80::1%enx00e04c680001".to_owned()),
            ),
            ("febf::1%eth0.10", Ok("febf::1%eth0.10".to_owned())),
            ("fe80::1%1", Ok(format!("fe80::1%{lo}"))),
            ("fe80::1%4294967295", Err("has the number 4294967295")),
            ("fe80::1%", Err("\"\" cannot be the name")),
            ("fe80::1%sixteen-bytes-xx", Err("cannot be the name")),
            ("fe80::1%a/b", Err("cannot be the name")),
            ("fe80::1%..", Err("cannot be the name")),
            ("192.0.2.7%eth0", Err("use 192.0.2.7")),
            ("::1%lo", Err("use ::1")),
            ("2001:db8::7%eth0", Err("use 2001:db8::7")),
            ("board%eth0", Err("\"board\" is no IP address")),
        ] {
            match (text.parse::<HostAddress>(), expected) {
                (Ok(address), Ok(expected)) => assert_eq!(address.to_string(), expected),
                (Err(refused), Err(expected)) => {
                    assert!(refused.contains(expected), "{text}: {refused}");
                }
                (parsed, expected) => panic!("{text}: {parsed:?}, not {expected:?}"),
            }
        }
    }
}
