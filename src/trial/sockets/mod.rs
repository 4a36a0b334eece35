//! The sockets of one end, and the flows between the two ends.
//!
//! All sockets are made before any thread starts. Whatever cannot be built is an error here, and never a thread that
//! waits for ever.

pub(crate) mod bind;
pub(crate) mod connections;
pub mod flows;
pub(crate) mod udp_sockets;

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

use anyhow::{Context, ensure};
use socket2::SockRef;

use self::udp_sockets::UdpSockets;
use crate::data::Case;
use crate::engines::Engines;
use crate::trial::messages::spec::{EndRole, Flow};
use crate::trial::readings::queue_probes::QueueProbes;

/// The sockets of one transport, from the first one until threads take them.
pub(crate) trait EndSockets {
    /// Makes the receiving sockets. Returns the address of each.
    fn bind(&mut self) -> anyhow::Result<Vec<SocketAddr>>;

    /// Opens a sending socket towards a receiver. Returns the address that identifies it from now on.
    fn open_sender(&mut self, peer: SocketAddr) -> anyhow::Result<SocketAddr>;

    /// Returns the probes of UDP sockets, whose datagrams may end at an unexpected receiver. `None`: connections need
    /// none.
    fn probes(&mut self) -> Option<&mut UdpSockets>;

    /// Assigns each flow to its receiving socket, which then takes no other.
    fn assign_flows(&mut self, flows: &[Flow]) -> anyhow::Result<()>;

    /// Returns probes that read drops and unread datagrams of the receiving sockets from outside.
    fn queue_probes(&self, engines: Engines) -> anyhow::Result<QueueProbes>;

    /// Returns the buffer sizes that the kernel granted.
    fn buffers(&self) -> anyhow::Result<Buffers>;

    /// Hands over the receiving sockets.
    fn take_receivers(&mut self) -> Vec<OwnedFd>;

    /// Hands over the sending socket with this address.
    fn take_sender(&mut self, source: SocketAddr) -> anyhow::Result<OwnedFd>;
}

/// Takes the receiving sockets, and the sending sockets in the order of `flows`. A side that is not on this host is
/// empty.
///
/// # Errors
/// Fails if the flows are not those of the case, or not those of its senders.
pub(crate) fn into_sides(
    mut sockets: Box<dyn EndSockets>,
    case: &Case,
    part: EndRole,
    flows: &[Flow],
) -> anyhow::Result<(Vec<OwnedFd>, Vec<OwnedFd>)> {
    ensure!(
        flows.len() == case.flow_count(),
        "{} flows, not those of the case",
        flows.len()
    );
    let local = if part.sends() { flows } else { &[] };
    let senders = local.iter().map(|flow| sockets.take_sender(flow.source));
    let senders = senders.collect::<anyhow::Result<_>>()?;
    Ok((sockets.take_receivers(), senders))
}

/// Buffer sizes that the kernel granted, in bytes: the smallest of each kind.
#[derive(Clone, Copy)]
pub(crate) struct Buffers {
    pub(crate) rcvbuf_bytes: Option<u64>,
    pub(crate) sndbuf_bytes: Option<u64>,
}

impl Buffers {
    /// Reads the buffer sizes of a receiver and of a sender. Both sockets count on both sides if datagrams also come
    /// back.
    pub(crate) fn of<S: AsFd>(
        case: &Case,
        receiver: Option<&S>,
        sender: Option<&S>,
    ) -> anyhow::Result<Self> {
        let is_both = case.receives_at_both_ends();
        let receiving = receiver.into_iter().chain(sender.filter(|_| is_both));
        let sending = sender.into_iter().chain(receiver.filter(|_| is_both));
        let sizes = |sizes: io::Result<Vec<usize>>| {
            let sizes = sizes.context("cannot read the buffer sizes")?;
            anyhow::Ok(sizes.into_iter().min().map(|bytes| bytes as u64))
        };
        let rcvbuf = receiving.map(|socket| SockRef::from(socket).recv_buffer_size());
        let sndbuf = sending.map(|socket| SockRef::from(socket).send_buffer_size());
        Ok(Self {
            rcvbuf_bytes: sizes(rcvbuf.collect())?,
            sndbuf_bytes: sizes(sndbuf.collect())?,
        })
    }
}
