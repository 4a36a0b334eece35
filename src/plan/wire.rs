//! The remote host of a sweep across a wire, and the links to it.

use serde::{Deserialize, Serialize};

use crate::data::{Case, Destination, HostAddress, Ip};
use crate::host::facts::{Host, Interface, InterfaceKind};

/// The remote host, and the links to it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Wire {
    /// Name of the host as the user typed it: `[USER@]HOST`.
    pub to: String,
    /// Links to it: at most one for each version of IP, or those of `--address`.
    pub links: Vec<WireLink>,
    /// Name of its profile.
    pub board: String,
    /// The remote machine.
    pub host: Host,
}

/// A pair of interfaces, one on each host, that reach each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireLink {
    /// Interface of the local host.
    pub local: LinkEnd,
    /// Interface of the remote host.
    pub remote: LinkEnd,
}

/// One end of a link: an interface and its address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkEnd {
    /// Address that datagrams are sent from and to; a link-local address includes its interface.
    pub address: HostAddress,
    /// The interface, as it was before the start.
    pub interface: Interface,
    /// Longest payload, in bytes, that arrived in one piece from this end before the start. `None`: not tried.
    pub longest_payload: Option<u32>,
}

/// Addresses of the two ends of a trial on two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndAddresses {
    /// Address of the receivers.
    pub receivers: HostAddress,
    /// Address of the senders.
    pub senders: HostAddress,
}

impl Wire {
    /// Returns the link that a case uses.
    pub fn link(&self, case: &Case) -> Option<&WireLink> {
        let mut links = self.links.iter();
        links.find(|link| match case.address {
            // From the local interface that the address names.
            Some(Destination::Of(HostAddress { ip, interface })) => {
                (link.remote.address.ip, link.local.address.interface) == (ip, interface)
            }
            _ => link.ip() == case.ip,
        })
    }

    /// Returns whether both ends of a case are network namespaces of one machine.
    pub fn is_one_machine(&self, case: &Case) -> bool {
        let link = self.link(case);
        link.is_some_and(|link| link.local.interface.kind == InterfaceKind::Veth)
    }
}

impl LinkEnd {
    /// Returns the longest payload, in bytes, that the interface sends without fragmentation. `None`: its MTU is
    /// unknown.
    pub fn most_payload(&self) -> Option<u32> {
        let ip_header = if self.address.ip.is_ipv4() { 20 } else { 40 };
        self.interface.mtu?.checked_sub(ip_header + 8)
    }
}

impl WireLink {
    /// Returns the addresses of a case's two ends.
    pub fn between(&self, case: &Case) -> EndAddresses {
        let (local, remote) = (self.local.address, self.remote.address);
        let (receivers, senders) = if case.remote_sends() {
            (local, remote)
        } else {
            (remote, local)
        };
        EndAddresses { receivers, senders }
    }

    /// Returns the longest payload, in bytes, that both interfaces send without fragmentation. `None`: no MTU is known.
    pub fn longest_payload_by_mtu(&self) -> Option<u32> {
        let ends = [&self.local, &self.remote].into_iter();
        ends.filter_map(LinkEnd::most_payload).min()
    }

    /// Returns the IP version of the link.
    pub fn ip(&self) -> Ip {
        if self.remote.address.ip.is_ipv4() {
            Ip::V4
        } else {
            Ip::V6
        }
    }
}
