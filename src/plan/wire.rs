//! The other host of a sweep across a wire.

use serde::{Deserialize, Serialize};

use crate::data::{Address, Case, HostAddress, Ip};
use crate::host::facts::{Host, Interface};
use crate::term::shell;

/// The other host, and the ways to it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Wire {
    /// How it was reached, as it was typed.
    pub to: String,
    /// At most one for each version of IP, or those of `--address`.
    pub links: Vec<WireLink>,
    /// Its profile.
    pub board: String,
    /// The machine.
    pub host: Host,
}

/// The other host of rows across a wire, in texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are those of the columns")]
pub struct OtherHost {
    /// As it was typed.
    pub to: String,
    pub board: String,
    pub model: String,
    pub cpu_model: String,
    pub machine: String,
    pub kernel: String,
    pub governor: String,
}

/// Two interfaces that reach each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireLink {
    /// That of this host.
    pub here: LinkEnd,
    /// That of the other one.
    pub there: LinkEnd,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkEnd {
    /// What datagrams are sent from, and to. If it is one of a link, with the interface that has it.
    pub address: HostAddress,
    /// What it is, as it was before the start.
    pub interface: Interface,
    /// The longest payload that came through whole from here before the start, in bytes. `None`: it was not tried.
    pub longest_payload: Option<u32>,
}

/// The addresses of the halves of a trial on two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Between {
    /// That of the receivers.
    pub receivers: HostAddress,
    /// That of the senders.
    pub senders: HostAddress,
}

impl Wire {
    /// What rows say of it.
    pub fn told(&self) -> OtherHost {
        let known = |fact: &Option<String>| fact.clone().unwrap_or_default();
        OtherHost {
            to: self.to.clone(),
            board: self.board.clone(),
            model: known(&self.host.model),
            cpu_model: known(&self.host.cpu_model),
            machine: known(&self.host.machine),
            kernel: known(&self.host.kernel),
            governor: known(&self.host.governor),
        }
    }

    /// The words with which it is reached again.
    pub fn words(&self) -> String {
        format!("wire {}", shell::word(&self.to))
    }

    /// The way that a case takes.
    pub fn link(&self, case: &Case) -> Option<&WireLink> {
        let mut links = self.links.iter();
        links.find(|link| match case.address {
            Some(Address::Of(address)) => link.is_to(address),
            _ => link.ip() == case.ip,
        })
    }

    /// The addresses of its halves. `None`: there is no way.
    pub fn between(&self, case: &Case) -> Option<Between> {
        let link = self.link(case)?;
        let (here, there) = (link.here.address, link.there.address);
        Some(if case.sends_from_there() {
            Between {
                receivers: here,
                senders: there,
            }
        } else {
            Between {
                receivers: there,
                senders: here,
            }
        })
    }
}

impl LinkEnd {
    /// The longest payload that its interface sends without cutting it. `None`: it does not say.
    pub fn most_payload(&self) -> Option<u32> {
        let is_v4 = self.address.ip.is_ipv4();
        let headers = if is_v4 { 20 + 8 } else { 40 + 8 };
        self.interface.mtu?.checked_sub(headers)
    }
}

impl WireLink {
    /// Whether it leads to this address, seen from here.
    fn is_to(&self, address: HostAddress) -> bool {
        self.there.address.ip == address.ip && self.here.address.link == address.link
    }

    /// As far as the two interfaces know. `None`: they do not say.
    pub fn most_of_interfaces(&self) -> Option<u32> {
        let ends = [&self.here, &self.there].into_iter();
        ends.filter_map(LinkEnd::most_payload).min()
    }

    /// The version of IP that it has.
    pub fn ip(&self) -> Ip {
        if self.there.address.ip.is_ipv4() {
            Ip::V4
        } else {
            Ip::V6
        }
    }
}
