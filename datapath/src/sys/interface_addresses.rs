//! Addresses of this host's interfaces.

use std::net::IpAddr;

use nix::ifaddrs::{InterfaceAddress as NixAddress, getifaddrs};
use nix::net::if_::{InterfaceFlags, if_indextoname, if_nametoindex};
use nix::sys::socket::SockaddrIn6;
use serde::{Deserialize, Serialize};

/// An address, and the interface that has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterfaceAddress {
    /// Name of the interface.
    pub interface: String,
    /// Address of the interface.
    pub address: IpAddr,
}

/// Returns the addresses of all interfaces that are up, without loopback, in the order of the kernel. Link-local IPv6
/// addresses (fe80::/10, RFC 4291) are left out: without an interface they mean nothing.
pub fn of_interfaces() -> Vec<IpAddr> {
    let all = with_interfaces().into_iter();
    let all = all.map(|it| it.address);
    all.filter(|address| !matches!(address, IpAddr::V6(it) if it.is_unicast_link_local()))
        .collect()
}

/// Returns the addresses of all interfaces that are up, without loopback, each with its interface. Link-local IPv6
/// addresses are included.
pub fn with_interfaces() -> Vec<InterfaceAddress> {
    let is_up = |it: &NixAddress| {
        it.flags.contains(InterfaceFlags::IFF_UP)
            && !it.flags.contains(InterfaceFlags::IFF_LOOPBACK)
    };
    let all = getifaddrs().into_iter().flatten();
    let known = all.filter(is_up).filter_map(|it| {
        Some(InterfaceAddress {
            address: address_of(&it)?,
            interface: canonical(&it.interface_name)?,
        })
    });
    known.collect()
}

/// Returns the kernel's name of an interface that was named by an alternative name or a label. `None`: there is none.
///
/// The name in getifaddrs(3) may be the label of the address: `eth0:1` (ip-address(8)). The kernel takes its part
/// before the colon for the name (`dev_ioctl`).
pub fn canonical(name: &str) -> Option<String> {
    name_of(if_nametoindex(name).ok()?)
}

fn address_of(interface: &NixAddress) -> Option<IpAddr> {
    let address = interface.address.as_ref()?;
    let v4 = address.as_sockaddr_in().map(|it| IpAddr::from(it.ip()));
    let v6 = || address.as_sockaddr_in6().map(SockaddrIn6::ip);
    v4.or_else(|| v6().map(IpAddr::from))
}

/// Returns the name of the interface with this number, such as `eth0`. `None`: there is none.
pub fn name_of(index: u32) -> Option<String> {
    let name = if_indextoname(index).ok()?;
    let name = name.into_string().ok()?;
    (!name.is_empty()).then_some(name)
}

/// Returns the name of the interface that has this address, such as `eth0`. `None`: no interface has it.
pub fn interface_of(address: IpAddr) -> Option<String> {
    let mut all = getifaddrs().into_iter().flatten();
    let found = all.find(|interface| address_of(interface) == Some(address))?;
    canonical(&found.interface_name)
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    #[test]
    fn every_address_can_be_bound() {
        for address in of_interfaces() {
            assert!(!address.is_loopback(), "{address}");
            UdpSocket::bind((address, 0)).unwrap_or_else(|error| panic!("{address}: {error}"));
        }
    }

    #[test]
    fn an_address_is_found_at_its_interface() {
        let loopback = interface_of(std::net::Ipv4Addr::LOCALHOST.into());
        assert_eq!(loopback.as_deref(), Some("lo"));
        let documentation = "192.0.2.1".parse().expect("an address");
        assert_eq!(interface_of(documentation), None);
    }
}
