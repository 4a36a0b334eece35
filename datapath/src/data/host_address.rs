//! Addresses of hosts, with the interface for link-local addresses.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::bounded::stored_as_text;
use crate::sys::addresses;

/// An IP address, with the interface of this host through which a link-local address (fe80::/10, RFC 4291) is reached:
/// `fe80::1%eth0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Cow<'_, str>", into = "String")]
pub struct HostAddress {
    /// IP address.
    pub ip: IpAddr,
    /// Interface of a link-local address. `None`: the address is not link-local, or the interface was not given.
    pub link: Option<InterfaceName>,
}

/// Name of a network interface, such as `eth0`, padded with zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InterfaceName([u8; Self::LONGEST]);

impl HostAddress {
    /// Returns an address of an interface. The interface is kept only if the address is link-local.
    pub fn at(ip: IpAddr, interface: &str) -> Self {
        let link = interface.parse().ok().filter(|_| is_of_one_link(ip));
        Self { ip, link }
    }

    /// Returns whether the address is link-local and lacks its interface.
    pub fn lacks_link(self) -> bool {
        is_of_one_link(self.ip) && self.link.is_none()
    }
}

/// Returns whether the address is link-local: ambiguous without an interface.
pub fn is_of_one_link(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local())
}

impl FromStr for HostAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (address, link) = match text.split_once('%') {
            Some((address, link)) => (address, Some(link)),
            None => (text, None),
        };
        let ip = address.parse::<IpAddr>();
        let ip = ip.map_err(|_| format!("{address:?} is no IP address"))?;
        let Some(link) = link else {
            return Ok(Self { ip, link: None });
        };
        if !is_of_one_link(ip) {
            return Err(format!(
                "only link-local addresses (fe80::/10) have an interface: use {ip}"
            ));
        }
        let named = match link.parse() {
            Ok(index) => addresses::name_of(index)
                .ok_or_else(|| format!("no interface of this host has the number {index}"))?,
            Err(_) => link.to_owned(),
        };
        Ok(Self {
            ip,
            link: Some(named.parse()?),
        })
    }
}

impl fmt::Display for HostAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.link {
            Some(link) => f.pad(&format!("{}%{}", self.ip, link.as_str())),
            None => self.ip.fmt(f),
        }
    }
}

stored_as_text!(HostAddress);

impl InterfaceName {
    /// Maximum length in bytes (`IFNAMSIZ` of linux/if.h, without the terminating zero).
    const LONGEST: usize = 15;

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        let text = std::str::from_utf8(&self.0).unwrap_or_default();
        text.trim_end_matches('\0')
    }
}

impl FromStr for InterfaceName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // The kernel's rules for names (`dev_valid_name`, net/core/dev.c).
        let is_odd = |it: char| it == '/' || it == ':' || it == '\0' || it.is_whitespace();
        if text.is_empty() || text.len() > Self::LONGEST || text.contains(is_odd) {
            return Err(format!("{text:?} cannot be the name of an interface"));
        }
        let mut name = [0; Self::LONGEST];
        name[..text.len()].copy_from_slice(text.as_bytes());
        Ok(Self(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_local_addresses_have_an_interface_and_no_others_do() {
        let lo = addresses::name_of(1).expect("loopback is there");
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
