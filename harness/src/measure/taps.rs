//! The taps of all receiving ends of a site: what was dropped there, and what was left.

use std::io;
use std::net::UdpSocket;

use anyhow::Context;

use crate::engine::Tap;
use crate::engines::Entry;

/// One for each socket that receives.
pub(super) struct Taps(Vec<Box<dyn Tap>>);

impl Taps {
    /// Of sockets, each with the engine that receives over it.
    pub(super) fn new<'a>(
        sockets: impl IntoIterator<Item = (&'static Entry, &'a UdpSocket)>,
    ) -> anyhow::Result<Self> {
        let taps = sockets
            .into_iter()
            .map(|(entry, socket)| (entry.tap)(socket));
        let taps = taps.collect::<io::Result<_>>();
        Ok(Self(taps.context("cannot read the drops of a socket")?))
    }

    /// Datagrams dropped at the receivers so far.
    ///
    /// # Errors
    /// When the kernel does not say.
    pub(super) fn drops(&self) -> anyhow::Result<u64> {
        let drops = self.0.iter().map(|tap| tap.drops());
        drops
            .sum::<io::Result<u64>>()
            .context("cannot read the drops of a socket")
    }

    /// Whether nothing waits to be received. Where the kernel does not say: `false`.
    pub(super) fn are_empty(&self) -> bool {
        self.0.iter().all(|tap| tap.is_empty())
    }

    /// Takes what waits to be received, and returns how many datagrams that were. For after the receivers have
    /// stopped.
    pub(super) fn take_unread(&self) -> u64 {
        self.0.iter().map(|tap| tap.take_unread()).sum()
    }
}
