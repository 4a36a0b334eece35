//! Taps on all receiving sockets of one end: dropped datagrams, and datagrams that were left in the queues.

use std::io;

use anyhow::Context;

use crate::engine::Tap;

/// One tap for each receiving socket.
pub(super) struct Taps(Vec<Box<dyn Tap>>);

impl Taps {
    /// Collects the taps.
    ///
    /// # Errors
    /// Fails if a tap could not be made.
    pub(super) fn new(
        taps: impl IntoIterator<Item = io::Result<Box<dyn Tap>>>,
    ) -> anyhow::Result<Self> {
        let taps = taps.into_iter().collect::<io::Result<_>>();
        Ok(Self(taps.context("cannot read the drops of a socket")?))
    }

    /// Returns the number of taps.
    pub(super) fn count(&self) -> u32 {
        self.0.len().try_into().unwrap_or(u32::MAX)
    }

    /// Returns the number of datagrams dropped at the receiving sockets so far.
    ///
    /// # Errors
    /// Fails if the kernel does not report the drops of a socket.
    pub(super) fn drops(&self) -> anyhow::Result<u64> {
        let drops = self.0.iter().map(|tap| tap.drops());
        drops
            .sum::<io::Result<u64>>()
            .context("cannot read the drops of a socket")
    }

    /// Returns whether no socket has a datagram to receive; `false` if the kernel does not say.
    pub(super) fn are_empty(&self) -> bool {
        self.0.iter().all(|tap| tap.is_empty())
    }

    /// Takes the datagrams that were not received, and returns their number. Called after the receivers have stopped.
    pub(super) fn take_unread(&self) -> u64 {
        self.0.iter().map(|tap| tap.take_unread()).sum()
    }
}
