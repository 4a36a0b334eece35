//! The other host of a sweep: what it is, and by which addresses each reaches the other.

use std::net::{IpAddr, UdpSocket};

use crate::cli::ParameterArgs;
use crate::data::{Address, Direction, OF_ONE_LINK};
use crate::engines::{self, Entry};
use crate::error::UsageError;
use crate::measure::facts::Facts;
use crate::plan::{LinkEnd, There, Wire, WireLink};
use crate::platform::board::{self, Detected};
use crate::platform::check::{self, Finding};
use crate::platform::host::Interface;
use crate::sys::addresses::{self, OfInterface};
use crate::sys::files::Root;

/// The other host.
#[derive(Debug)]
pub struct Peer {
    /// It, and the ways to it.
    pub wire: Wire,
    /// Its profile.
    pub detected: Detected,
    /// What would invalidate what is measured there.
    pub unfit: Vec<String>,
    /// Why its kernel does not tell why it drops packets, if it does not.
    pub no_drop_reasons: Option<String>,
    /// The words with which it is reached again, for a shell.
    pub words: String,
    steering_refusal: Option<String>,
    engine_refusals: Vec<(&'static Entry, String)>,
}

impl Peer {
    /// The host that was reached as `to`; `reached` is its address, where ssh has not told that.
    ///
    /// # Errors
    /// No address by which it is reached, and how to name one.
    pub fn new(
        to: &str,
        facts: Facts,
        reached: Option<IpAddr>,
        given: &ParameterArgs,
    ) -> Result<Self, UsageError> {
        let detected = board::choose("auto", &facts.host)?;
        let known = |name: &str| {
            engines::ALL
                .iter()
                .find(|entry| entry.name().as_str() == name)
        };
        let refusals = facts.engine_refusals.iter();
        let refusals = refusals.filter_map(|(name, reason)| Some((known(name)?, reason.clone())));
        let wire = Wire {
            to: to.to_owned(),
            links: links(to, &facts, reached, given)?,
            board: detected.board.name.clone(),
            host: facts.host.clone(),
        };
        Ok(Self {
            engine_refusals: refusals.collect(),
            steering_refusal: facts.steering_refusal,
            unfit: [facts.unfit, facts.drops_of_others].concat(),
            no_drop_reasons: facts.no_drop_reasons,
            words: wire.words(),
            detected,
            wire,
        })
    }

    /// The interfaces here, each once.
    pub fn interfaces_here(&self) -> Vec<Interface> {
        interfaces(self.wire.links.iter().map(|link| &link.here))
    }

    /// What is wrong with those there.
    pub fn findings_there(&self) -> Vec<Finding> {
        let there = interfaces(self.wire.links.iter().map(|link| &link.there));
        check::of_interfaces(&self.wire.host, &self.detected.board, there)
    }

    /// The same, as cases meet it.
    pub(super) fn there(&self) -> There<'_> {
        There {
            wire: &self.wire,
            board: &self.detected.board,
            steering_refusal: self.steering_refusal.as_deref(),
            engine_refusals: &self.engine_refusals,
        }
    }
}

fn interfaces<'a>(ends: impl Iterator<Item = &'a LinkEnd>) -> Vec<Interface> {
    let mut each: Vec<Interface> = Vec::new();
    for end in ends {
        if !each.iter().any(|known| known.name == end.interface.name) {
            each.push(end.interface.clone());
        }
    }
    each
}

/// What only sweeps across a wire know, and what they do not.
///
/// # Errors
/// The option and the fix.
pub(super) fn check(given: &ParameterArgs, is_across: bool) -> Result<(), UsageError> {
    let direction = given.direction.iter().flatten().next();
    if let Some(direction) = direction.filter(|_| !is_across) {
        let fix = "it is for two hosts: use udpbench wire USER@HOST, or leave it out";
        return Err(UsageError::flag("--direction", direction, fix));
    }
    let is_wrong = |address: &&Address| matches!(address, Address::Of(_)) != is_across;
    match given.address.iter().flatten().find(is_wrong) {
        Some(address) => {
            let fix = if is_across {
                "between hosts, name IP addresses that the other one has, or leave it out"
            } else {
                "another host takes udpbench wire USER@HOST; without, use loopback or local"
            };
            Err(UsageError::flag("--address", address, fix))
        }
        None => Ok(()),
    }
}

/// Both ways, where nothing was typed.
pub fn complete(given: &mut ParameterArgs) {
    given
        .direction
        .get_or_insert_with(|| vec![Direction::Up, Direction::Down]);
}

/// The ways to the host: one for each address that was named, or those of the interface that was reached.
fn links(
    to: &str,
    facts: &Facts,
    reached: Option<IpAddr>,
    given: &ParameterArgs,
) -> Result<Vec<WireLink>, UsageError> {
    let has = || {
        let all = facts.addresses.iter();
        let all = all.map(|it| format!("{} on {}", it.address, it.interface));
        all.collect::<Vec<_>>().join(", ")
    };
    let interface_of = |address| facts.addresses.iter().find(|it| it.address == address);
    if let Some(named) = &given.address {
        let link = |address: &Address| {
            let Address::Of(ip) = *address else {
                return Err(UsageError::flag("--address", address, "name an IP address"));
            };
            if matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local()) {
                return Err(UsageError::flag("--address", address, OF_ONE_LINK));
            }
            let there = interface_of(ip).ok_or_else(|| {
                let problem = format!("{to} has no such address; it has {}", has());
                UsageError::flag("--address", address, problem)
            })?;
            link(there, facts).map_err(|problem| UsageError::flag("--address", address, problem))
        };
        return named.iter().map(link).collect();
    }
    let reached = reached.or(facts.ssh.map(|(own, _)| own));
    let reached = reached.and_then(|own| interface_of(own.to_canonical()));
    let Some(reached) = reached else {
        let problem = format!(
            "which of its addresses this host reaches is not known: name one by --address; it has {}",
            has()
        );
        return Err(UsageError::flag("wire", to, problem));
    };
    let first = link(reached, facts);
    let mut links = vec![first.map_err(|problem| UsageError::flag("wire", to, problem))?];
    // The other version of IP, where that interface has an address of it.
    let is_other = |it: &&OfInterface| {
        it.interface == reached.interface && it.address.is_ipv4() != reached.address.is_ipv4()
    };
    let other = facts.addresses.iter().find(is_other);
    links.extend(other.and_then(|it| link(it, facts).ok()));
    Ok(links)
}

/// The way from here to there.
fn link(there: &OfInterface, facts: &Facts) -> Result<WireLink, String> {
    let address = there.address;
    let own = source_towards(address).map_err(|error| format!("cannot be reached: {error}"))?;
    let here = addresses::with_interfaces();
    let here = here.into_iter().find(|it| it.address == own);
    let here = here.ok_or("is reached over loopback: it is an address of this host")?;
    if own == address {
        return Err("is this host itself: use udpbench without wire".to_owned());
    }
    let known = |name: &str| facts.interfaces.iter().find(|it| it.name == name);
    let interface = Interface::read(&Root::default(), &here.interface);
    Ok(WireLink {
        here: LinkEnd {
            address: own,
            interface: interface.unwrap_or_default(),
            longest_payload: None,
        },
        there: LinkEnd {
            address,
            interface: known(&there.interface).cloned().unwrap_or_default(),
            longest_payload: None,
        },
    })
}

/// The address that the kernel would send from. Sends nothing.
fn source_towards(address: IpAddr) -> std::io::Result<IpAddr> {
    const ANY_PORT: u16 = 9;
    let any: IpAddr = match address {
        IpAddr::V4(_) => std::net::Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect((address, ANY_PORT))?;
    Ok(socket.local_addr()?.ip())
}
