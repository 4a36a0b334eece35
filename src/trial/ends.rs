//! The two ends of all flows at one site, all built before any thread starts: what cannot be built is an error, never a
//! thread that waits for ever.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

use anyhow::{Context, ensure};
use socket2::SockRef;

use super::spec::{Flow, Part};
use super::taps::Taps;
use crate::data::Case;
use crate::engines::Engines;

/// Sockets of one transport, from the first until threads take them.
pub(super) trait Ends {
    /// Makes the receiving ends. Returns where each can be reached.
    fn bind(&mut self) -> anyhow::Result<Vec<SocketAddr>>;

    /// Makes a sending end towards one of those. Returns what it is known by from now on.
    fn aim(&mut self, peer: SocketAddr) -> anyhow::Result<SocketAddr>;

    /// Those of UDP, whose datagrams may end elsewhere than they should.
    fn probes(&mut self) -> Option<&mut dyn Probes>;

    /// Ties each receiving end to its sending one.
    fn pair(&mut self, flows: &[Flow]) -> anyhow::Result<()>;

    /// What sees the ends from outside.
    fn taps(&self, engines: Engines) -> anyhow::Result<Taps>;

    /// What the kernel granted.
    fn buffers(&self) -> anyhow::Result<Buffers>;

    /// Hands over the receiving ends.
    fn take_receivers(&mut self) -> Vec<OwnedFd>;

    /// Hands over the sending end that is known by that.
    fn take_sender(&mut self, source: SocketAddr) -> anyhow::Result<OwnedFd>;
}

/// What finds out where datagrams end, before there are any threads.
pub(super) trait Probes {
    /// Has what the sender with this address sends get there whole or not at all.
    ///
    /// # Errors
    /// What the system refused.
    fn keep_whole(&self, source: SocketAddr) -> anyhow::Result<()>;

    /// Sends a datagram from the sender with this address, of so many bytes at least. `Some`: why the kernel refused it.
    ///
    /// # Errors
    /// When there is no such sender.
    fn probe(&self, source: SocketAddr, least_bytes: usize) -> anyhow::Result<Option<String>>;

    /// The receiver that a datagram from `source` has reached, after waiting for that for 100 ms at most: seen on this host,
    /// or told by the other one.
    ///
    /// # Errors
    /// When there is no such sender, or what the system refused.
    fn reached(&mut self, source: SocketAddr) -> anyhow::Result<Option<usize>>;

    /// Answers whoever asks a receiver here by the token, after waiting for that for a moment.
    ///
    /// # Errors
    /// What the system refused.
    fn answer(&mut self) -> anyhow::Result<()>;

    /// Whether something that was asked from there has come.
    fn was_asked_by(&self, source: SocketAddr) -> bool;
}

/// The receivers and the senders of a case, these in the order of `flows`; none of them where they are not here.
///
/// # Errors
/// When the flows are not those of the case, or of its senders.
pub(super) fn into_sides(
    mut ends: Box<dyn Ends>,
    case: &Case,
    part: Part,
    flows: &[Flow],
) -> anyhow::Result<(Vec<OwnedFd>, Vec<OwnedFd>)> {
    ensure!(
        flows.len() == case.flow_count(),
        "{} flows, not those of the case",
        flows.len()
    );
    let here = if part.sends() { flows } else { &[] };
    let senders = here.iter().map(|flow| ends.take_sender(flow.source));
    let senders = senders.collect::<anyhow::Result<_>>()?;
    Ok((ends.take_receivers(), senders))
}

/// The sizes of the buffers that the kernel granted, in bytes: the smallest of each kind.
#[derive(Clone, Copy)]
pub(super) struct Buffers {
    pub(super) rcvbuf_bytes: Option<u64>,
    pub(super) sndbuf_bytes: Option<u64>,
}

impl Buffers {
    /// Reads those of a receiver and of a sender; each of the two does both where something comes back.
    pub(super) fn of<S: AsFd>(
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
