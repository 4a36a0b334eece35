//! Names of sources.

use std::net::{IpAddr, SocketAddr};

use crate::data::listened::Source;
use crate::sys::interface_addresses;

/// Returns the name of a source among others: its address, its interface if the address comes in on several, and its RTP
/// stream if there are some.
pub(super) fn name(source: &Source, all: &[Source]) -> String {
    let is_on_others = all
        .iter()
        .any(|it| it.address == source.address && it.interface != source.interface);
    let on = if is_on_others {
        format!(" on {}", interface(source))
    } else {
        String::new()
    };
    let stream = match source.stream {
        0 => String::new(),
        stream => format!(" stream {stream:08x}"),
    };
    format!("{}{on}{stream}", address(source.address))
}

/// Returns the name of the interface of a source, or its number if it is gone.
pub(super) fn interface(source: &Source) -> String {
    interface_addresses::name_of(source.interface)
        .unwrap_or_else(|| format!("interface {}", source.interface))
}

/// Formats an address. One of IPv4 looks the same at a socket of both IP versions. Port 0 is that of a source that
/// changes it.
pub(super) fn address(source: Option<SocketAddr>) -> String {
    let Some(address) = source else {
        return "unknown".to_owned();
    };
    let ip = match address {
        SocketAddr::V6(v6) => match v6.ip().to_canonical() {
            IpAddr::V4(v4) => Some(v4),
            IpAddr::V6(_) => None,
        },
        SocketAddr::V4(v4) => Some(*v4.ip()),
    };
    match (ip, address.port()) {
        (Some(ip), 0) => format!("{ip}, any port"),
        (None, 0) => format!("{}, any port", address.ip()),
        (Some(ip), port) => format!("{ip}:{port}"),
        (None, _) => address.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_ipv4_is_shown_as_one() {
        let shown = |text: &str| address(text.parse().ok());
        assert_eq!(shown("[::ffff:10.0.0.7]:2368"), "10.0.0.7:2368");
        assert_eq!(shown("[::ffff:10.0.0.7]:0"), "10.0.0.7, any port");
        assert_eq!(shown("[fe80::1%3]:7"), "[fe80::1%3]:7");
        assert_eq!(address(None), "unknown");
    }
}
