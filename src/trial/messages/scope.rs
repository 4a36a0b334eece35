//! Interface numbers in link-local socket addresses (fe80::/10). Each host numbers its own interfaces, so a number
//! means nothing to the other host.

use std::net::SocketAddr;

use anyhow::Context;

use crate::data::HostAddress;
use crate::sys::nic;
use crate::trial::messages::spec::Flow;

/// Interface number in socket addresses on this host. 0: none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope(u32);

impl Scope {
    /// Returns the interface number for a trial whose local sockets have this address. `None`: both ends are on this
    /// host.
    ///
    /// # Errors
    /// Fails if the interface is gone.
    pub(crate) fn of(own: Option<HostAddress>) -> anyhow::Result<Self> {
        let Some(interface) = own.and_then(|own| own.interface) else {
            return Ok(Self(0));
        };
        let name = interface.as_str();
        let number = nic::index(name);
        number
            .map(Self)
            .with_context(|| format!("there is no interface {name} any more"))
    }

    /// Converts an address in a message to an address for local sockets.
    pub(crate) fn local(self, address: SocketAddr) -> SocketAddr {
        with_number(address, self.0)
    }

    /// Converts both addresses of flows in a message to addresses for local sockets.
    pub(crate) fn flows_here(self, flows: &[Flow]) -> Vec<Flow> {
        let local = |flow: &Flow| Flow {
            source: self.local(flow.source),
            peer: self.local(flow.peer),
            ..*flow
        };
        flows.iter().map(local).collect()
    }
}

/// Converts an address of a local socket to an address for messages.
pub(crate) fn told(address: SocketAddr) -> SocketAddr {
    with_number(address, 0)
}

/// Converts both addresses of flows to addresses for messages.
pub(crate) fn flows_told(flows: &[Flow]) -> Vec<Flow> {
    Scope(0).flows_here(flows)
}

fn with_number(mut address: SocketAddr, number: u32) -> SocketAddr {
    if let SocketAddr::V6(address) = &mut address {
        address.set_scope_id(number);
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_no_numbers_of_interfaces() {
        let own = HostAddress::at("fe80::1".parse().expect("an address"), "lo");
        let scope = Scope::of(Some(own)).expect("loopback is there");
        let address: SocketAddr = "[fe80::2]:7".parse().expect("an address");
        let local = scope.local(address);
        assert_eq!(local.to_string(), "[fe80::2%1]:7");
        assert_eq!(told(local), address);
        let flow = Flow {
            source: address,
            peer: address,
            receiver: 1,
        };
        let flows = scope.flows_here(&[flow]);
        assert_eq!((flows[0].source, flows[0].peer), (local, local));
        let global = Scope::of(None).expect("it has none");
        assert_eq!(global.local(address), address);
        let gone = HostAddress::at(own.ip, "gone0");
        assert!(Scope::of(Some(gone)).is_err());
    }
}
