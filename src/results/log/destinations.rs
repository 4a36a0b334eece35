//! Addresses at which an experiment reached another host, for its resumption.

use std::net::IpAddr;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::data::{Destination, HostAddress};
use crate::plan::Wire;
use crate::sys::files::{self, Kind};

/// First line of a log, as far as it tells how another host was reached.
#[derive(Deserialize)]
#[serde(untagged)]
enum Reached {
    Wire {
        wire: Wire,
    },
    Soak {
        to: String,
        address: HostAddress,
        /// Interface of this host.
        interface: String,
    },
}

/// Returns the addresses at which the host `to` was reached, as `--address` names them. `None` if the file cannot be
/// read, or is no log of an experiment with this host.
pub fn addresses_of(log: &Path, to: &str) -> Option<Vec<Destination>> {
    let bytes = files::read_whole(log, Kind::File).ok()?;
    let line = bytes.split(|&byte| byte == b'\n').next()?;
    let first: Value = serde_json::from_slice(line).ok()?;
    let header = first.as_object()?.values().next()?;
    let named = |ip: IpAddr, interface: &str| Destination::Of(HostAddress::at(ip, interface));
    match Reached::deserialize(header).ok()? {
        Reached::Wire { wire } if wire.to == to => {
            let links = wire.links.iter();
            let links = links.map(|it| named(it.remote.address.ip, &it.local.interface.name));
            Some(links.collect())
        }
        Reached::Soak {
            to: reached,
            address,
            interface,
        } if reached == to => Some(vec![named(address.ip, &interface)]),
        _ => None,
    }
}
