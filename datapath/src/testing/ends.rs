//! Both ends of a check: endpoints for the engine, and the sockets of their peers.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use super::bench::BYTES;
use crate::engine::{Addressing, Direction, Endpoint};

/// Time after which a datagram over loopback will not come any more.
pub(super) const SILENCE: Duration = Duration::from_secs(1);

/// Family of the addresses.
#[derive(Clone, Copy)]
pub(super) enum Family {
    V4,
    V6,
}

impl Family {
    /// Binds a socket to loopback. `None`: this machine has no such loopback.
    pub(super) fn bind(self) -> Option<UdpSocket> {
        match self {
            Self::V4 => UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).ok(),
            Self::V6 => UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).ok(),
        }
    }
}

/// Peer of an endpoint.
pub(super) struct Peer {
    /// Its socket, unconnected.
    pub(super) socket: UdpSocket,
    /// Its address.
    pub(super) address: SocketAddr,
    /// Address of the endpoint.
    pub(super) ours: SocketAddr,
    /// Index of the endpoint.
    pub(super) endpoint: usize,
}

impl Peer {
    /// Receives `count` datagrams, or fewer if no more come, and then all that are left. Returns each with its source.
    pub(super) fn take(&self, count: u64) -> Vec<(Vec<u8>, SocketAddr)> {
        let mut taken = Vec::new();
        let mut room = [0; 2 * BYTES];
        let _ = self.socket.set_read_timeout(Some(SILENCE));
        while (taken.len() as u64) < count {
            let Ok((bytes, source)) = self.socket.recv_from(&mut room) else {
                return taken;
            };
            taken.push((room[..bytes].to_vec(), source));
        }
        let _ = self.socket.set_nonblocking(true);
        while let Ok((bytes, source)) = self.socket.recv_from(&mut room) {
            taken.push((room[..bytes].to_vec(), source));
        }
        let _ = self.socket.set_nonblocking(false);
        taken
    }

    /// Sends a datagram to the endpoint.
    pub(super) fn send(&self, datagram: &[u8]) {
        let sent = self.socket.send_to(datagram, self.ours);
        sent.expect("loopback takes a datagram");
    }
}

/// Endpoints of a check and their peers.
pub(super) struct Ends {
    pub(super) endpoints: Vec<Endpoint>,
    pub(super) peers: Vec<Peer>,
    what: String,
}

impl Ends {
    /// Binds `count` pairs of sockets. `None`: this machine has no loopback of the family.
    pub(super) fn new<A: Addressing>(family: Family, count: usize) -> Option<Self> {
        let connection = if A::CONNECTED {
            "connected"
        } else {
            "unconnected"
        };
        let ip = if let Family::V6 = family {
            ", IPv6"
        } else {
            ""
        };
        let many = if count > 1 { ", many endpoints" } else { "" };
        let mut ends = Self {
            endpoints: Vec::new(),
            peers: Vec::new(),
            what: format!("{connection}{ip}{many}"),
        };
        for endpoint in 0..count {
            let (near, far) = (family.bind()?, family.bind()?);
            let (ours, address) = (near.local_addr().ok()?, far.local_addr().ok()?);
            if A::CONNECTED {
                near.connect(address).ok()?;
            }
            ends.endpoints.push(Endpoint::of(near, Some(address)));
            ends.peers.push(Peer {
                socket: far,
                address,
                ours,
                endpoint,
            });
        }
        Some(ends)
    }

    /// Describes the circumstances of a check.
    pub(super) fn when(&self, direction: Direction) -> String {
        let direction = match direction {
            Direction::Sends => "sends",
            Direction::Receives => "receives",
            Direction::Both => "sends and receives",
        };
        format!("{}, {direction}", self.what)
    }
}
