//! Both ends of a check: endpoints for the engine, and the sockets of their peers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use super::bench::BYTES;
use crate::data::Connection;
use crate::engine::{Direction, Endpoint};

/// Time after which a datagram over loopback will not come any more.
pub(super) const SILENCE: Duration = Duration::from_secs(1);

pub(super) const V4: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
pub(super) const V6: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);

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
        loop {
            // What is left is there already.
            let _ = (self.socket).set_nonblocking(taken.len() as u64 >= count);
            let Ok((bytes, source)) = self.socket.recv_from(&mut room) else {
                let _ = self.socket.set_nonblocking(false);
                return taken;
            };
            taken.push((room[..bytes].to_vec(), source));
        }
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
    /// Binds `count` pairs of sockets to a loopback address. `None`: this machine has no such address.
    pub(super) fn new(connection: Connection, ip: IpAddr, count: usize) -> Option<Self> {
        let family = if ip.is_ipv6() { ", IPv6" } else { "" };
        let many = if count > 1 { ", many endpoints" } else { "" };
        let mut ends = Self {
            endpoints: Vec::new(),
            peers: Vec::new(),
            what: format!("{connection}{family}{many}"),
        };
        for endpoint in 0..count {
            let bind = || UdpSocket::bind((ip, 0)).ok();
            let (near, socket) = (bind()?, bind()?);
            let (ours, address) = (near.local_addr().ok()?, socket.local_addr().ok()?);
            if connection == Connection::Connected {
                near.connect(address).ok()?;
            }
            ends.endpoints.push(Endpoint::of(near, Some(address)));
            ends.peers.push(Peer {
                socket,
                address,
                ours,
                endpoint,
            });
        }
        Some(ends)
    }

    /// Binds `count` pairs of unconnected sockets.
    pub(super) fn unconnected(count: usize) -> Self {
        Self::new(Connection::Unconnected, V4, count).expect("there is a loopback")
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
