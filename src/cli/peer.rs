//! The remote host of an experiment: its facts, and the addresses over which the two hosts reach each other.

use std::net::{IpAddr, SocketAddr, SocketAddrV6, UdpSocket};
use std::time::Duration;

use crate::cli::ParameterArgs;
use crate::data::{Destination, HostAddress, InterfaceName, is_link_local};
use crate::engines::{self, Entry};
use crate::error::UsageError;
use crate::host::board::{self, ChosenBoard};
use crate::host::check::{self, Finding};
use crate::host::facts::Interface;
use crate::plan::{LinkEnd, Remote, Wire, WireLink};
use crate::sys::files::Root;
use crate::sys::interface_addresses::{self, InterfaceAddress};
use crate::sys::nic;
use crate::trial::remote_facts::RemoteFacts;

/// The remote host.
#[derive(Debug)]
pub struct Peer {
    /// The host and the links to it. Without links if whole trials run there.
    pub wire: Wire,
    /// Its board profile, and the reason for the choice.
    pub detected: ChosenBoard,
    /// What it says about itself.
    pub facts: RemoteFacts,
    /// Time of a request to it, with its answer. Zero: it was not measured.
    pub request_time: Duration,
    pub(super) engine_refusals: Vec<(&'static Entry, String)>,
}

impl Peer {
    /// Returns the host reached as `to`, for one end of each trial.
    ///
    /// # Errors
    /// Fails if no address of the host is known to be reachable, and says how to name one.
    pub fn across(to: &str, facts: RemoteFacts, given: &ParameterArgs) -> Result<Self, UsageError> {
        let links = links(to, &facts, given)?;
        Self::new(to, facts, links, "auto")
    }

    /// Returns the host reached as `to`, for whole trials without `links`. `board` is `auto` or the name of a profile.
    ///
    /// # Errors
    /// Fails if there is no such profile.
    pub fn new(
        to: &str,
        facts: RemoteFacts,
        links: Vec<WireLink>,
        board: &str,
    ) -> Result<Self, UsageError> {
        let detected = board::choose(board, &facts.host)?;
        let refusals = facts.engine_refusals.iter();
        let refusals =
            refusals.filter_map(|(name, reason)| Some((engines::find(name)?, reason.clone())));
        let wire = Wire {
            to: to.to_owned(),
            links,
            board: detected.board.name.clone(),
            host: facts.host.clone(),
        };
        Ok(Self {
            engine_refusals: refusals.collect(),
            request_time: Duration::ZERO,
            detected,
            wire,
            facts,
        })
    }

    /// Returns the local interfaces of the links, each once.
    pub fn local_interfaces(&self) -> Vec<Interface> {
        interfaces(self.wire.links.iter().map(|link| &link.local))
    }

    /// Checks the remote interfaces of the links.
    pub fn remote_findings(&self) -> Vec<Finding> {
        let remote = interfaces(self.wire.links.iter().map(|link| &link.remote));
        check::of_interfaces(&self.wire.host, &self.detected.board, remote)
    }

    /// Returns the remote host in the form that the plan needs. `None` if whole trials run there.
    pub(super) fn remote(&self) -> Option<Remote<'_>> {
        self.across_wire().map(|wire| Remote {
            wire,
            board: &self.detected.board,
            steering_refusal: self.facts.steering_refusal.as_deref(),
            engine_refusals: &self.engine_refusals,
        })
    }

    /// Returns whether whole trials run there, with both ends: `--on`.
    pub fn runs_all(&self) -> bool {
        self.wire.links.is_empty()
    }

    /// Returns the host and the links to it. `None` if whole trials run there.
    pub fn across_wire(&self) -> Option<&Wire> {
        (!self.runs_all()).then_some(&self.wire)
    }
}

/// Returns the interfaces, each once.
fn interfaces<'a>(ends: impl Iterator<Item = &'a LinkEnd>) -> Vec<Interface> {
    let mut each: Vec<Interface> = ends.map(|end| end.interface.clone()).collect();
    each.sort_by(|one, other| one.name.cmp(&other.name));
    each.dedup_by(|one, other| one.name == other.name);
    each
}

/// Returns the links to the host: one for each named address, else those of the interface that ssh connected to.
fn links(
    to: &str,
    facts: &RemoteFacts,
    given: &ParameterArgs,
) -> Result<Vec<WireLink>, UsageError> {
    if let Some(named) = &given.address {
        let link = |address: &Destination| {
            let refused = |problem| UsageError::flag("--address", address, problem);
            match *address {
                Destination::Of(named) => link_to(named, to, facts).map_err(refused),
                _ => Err(refused("name an IP address".to_owned())),
            }
        };
        return named.iter().map(link).collect();
    }
    let refused = |problem| UsageError::flag("wire", to, problem);
    let Some(reached) = reached_by_ssh(facts) else {
        let problem = format!(
            "which of its addresses this host reaches is not known: name one by --address; it has {}",
            addresses_there(facts)
        );
        return Err(refused(problem));
    };
    let first = link_to(reached, to, facts).map_err(refused)?;
    // The address of the other IP version on this interface, if there is one.
    let is_other = |it: &&InterfaceAddress| {
        it.interface == first.remote.interface.name
            && it.address.is_ipv4() != reached.ip.is_ipv4()
            && !is_link_local(it.address)
    };
    let other = facts.addresses.iter().find(is_other);
    let other = other.map(|it| HostAddress::at(it.address, &it.interface));
    let other = other.and_then(|it| link_to(it, to, facts).ok());
    // With a link-local first address, the other address may be routed over another local interface. It is left out
    // then.
    let is_beside = |it: &WireLink| {
        first.local.address.interface.is_none()
            || it.local.interface.name == first.local.interface.name
    };
    let other = other.filter(is_beside);
    Ok([first].into_iter().chain(other).collect())
}

/// Returns the remote address that ssh connected to, with the local interface if the address is link-local. Returns
/// `None` without ssh, or if the agent inherited this process's own ssh variables, as under `ip netns exec`.
fn reached_by_ssh(facts: &RemoteFacts) -> Option<HostAddress> {
    let (remote, local) = facts.ssh?;
    facts.addresses.iter().find(|it| it.address == remote)?;
    let interface = interface_addresses::interface_of(local).unwrap_or_default();
    Some(HostAddress::at(remote.to_canonical(), &interface))
}

/// Lists the addresses of the remote host, for messages.
fn addresses_there(facts: &RemoteFacts) -> String {
    let all = facts.addresses.iter();
    let all = all.map(|it| format!("{} on {}", it.address, it.interface));
    all.collect::<Vec<_>>().join(", ")
}

/// Returns the link to an address of the remote host.
fn link_to(address: HostAddress, to: &str, facts: &RemoteFacts) -> Result<WireLink, String> {
    if address.lacks_interface() {
        return Err(which_interface(address.ip));
    }
    let is_missing = |name: &InterfaceName| nic::index(name.as_str()).is_err();
    if let Some(missing) = address.interface.filter(is_missing) {
        let (name, fix) = (missing.as_str(), which_interface(address.ip));
        return Err(format!("this host has no interface {name}: {fix}"));
    }
    let mut known = facts.addresses.iter();
    let remote = known.find(|it| it.address == address.ip).ok_or_else(|| {
        format!(
            "{to} has no such address; it has {}",
            addresses_there(facts)
        )
    })?;
    let own = source_towards(address).map_err(|error| format!("cannot be reached: {error}"))?;
    if own == address.ip {
        return Err("is this host itself: use udpbench without wire".to_owned());
    }
    let is_own = |it: &InterfaceAddress| {
        let is_named = |name: InterfaceName| it.interface == name.as_str();
        it.address == own && address.interface.is_none_or(is_named)
    };
    let local = interface_addresses::with_interfaces()
        .into_iter()
        .find(is_own);
    let local = local.ok_or("is reached over loopback: it is an address of this host")?;
    let known = |name: &str| facts.interfaces.iter().find(|it| it.name == name);
    let interface = Interface::read(&Root::default(), &local.interface);
    Ok(WireLink {
        local: LinkEnd {
            address: HostAddress::at(own, &local.interface),
            interface: interface.unwrap_or_default(),
            longest_payload: None,
        },
        remote: LinkEnd {
            address: HostAddress::at(remote.address, &remote.interface),
            interface: known(&remote.interface).cloned().unwrap_or_default(),
            longest_payload: None,
        },
    })
}

/// Returns the advice to name the interface of a link-local address.
fn which_interface(address: IpAddr) -> String {
    let all = interface_addresses::with_interfaces().into_iter();
    let local = all.filter(|it| is_link_local(it.address));
    let names: Vec<String> = local.map(|it| it.interface).collect();
    format!(
        "a link-local address needs the interface of this host through which it is reached, such as --address \
         {address}%eth0; those with a link-local address: {}",
        names.join(", ")
    )
}

/// Returns the source address that the kernel chooses for a destination. Sends nothing.
fn source_towards(address: HostAddress) -> std::io::Result<IpAddr> {
    const ANY_PORT: u16 = 9;
    let any: IpAddr = match address.ip {
        IpAddr::V4(_) => std::net::Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
    };
    let to: SocketAddr = match (address.ip, address.interface) {
        (IpAddr::V6(ip), Some(interface)) => {
            SocketAddrV6::new(ip, ANY_PORT, 0, nic::index(interface.as_str())?).into()
        }
        (ip, _) => (ip, ANY_PORT).into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(to)?;
    Ok(socket.local_addr()?.ip())
}
