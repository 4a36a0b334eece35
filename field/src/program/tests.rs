//! What several tests of programs need.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use super::SocketSeen;
use crate::sys::udp_sockets::UdpSocketState;

/// Returns a socket on port 7 of all addresses, of which nothing else is known.
pub(super) fn unseen() -> SocketSeen {
    let state = UdpSocketState {
        inode: 1,
        local: SocketAddr::from(([0; 4], 7)),
        ipv6_only: false,
        is_connected: false,
        device: 0,
        queued_bytes: 0,
        buffer_bytes: None,
        drops: 0,
    };
    SocketSeen {
        looks: 10,
        ..SocketSeen::new(state, 0, BTreeSet::new())
    }
}
