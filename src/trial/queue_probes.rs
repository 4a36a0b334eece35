//! Probes of all receiving sockets of one end: dropped datagrams, and datagrams that were left in the queues.

use std::io;

use anyhow::Context;

use crate::engine::QueueProbe;

/// One probe for each receiving socket.
pub(super) struct QueueProbes(Vec<Box<dyn QueueProbe>>);

impl QueueProbes {
    /// Collects the probes.
    ///
    /// # Errors
    /// Fails if a probe could not be created, for example because the kernel does not report the drops of a socket.
    pub(super) fn new(
        probes: impl IntoIterator<Item = io::Result<Box<dyn QueueProbe>>>,
    ) -> anyhow::Result<Self> {
        let probes = probes.into_iter().collect::<io::Result<_>>();
        Ok(Self(probes.context("cannot probe the queue of a socket")?))
    }

    /// Returns the number of probes.
    pub(super) fn count(&self) -> u32 {
        self.0.len().try_into().unwrap_or(u32::MAX)
    }

    /// Returns the number of datagrams dropped at the receiving sockets so far. Must be called at least once in 2^32
    /// drops of a socket, since the kernel's counters have 32 bits.
    ///
    /// # Errors
    /// Fails if the kernel does not report the drops of a socket.
    pub(super) fn drops(&self) -> anyhow::Result<u64> {
        let drops = self.0.iter().map(|probe| probe.drops());
        drops
            .sum::<io::Result<u64>>()
            .context("cannot read the drops of a socket")
    }

    /// Returns whether no socket has a datagram to receive; `false` if the kernel does not say.
    pub(super) fn are_empty(&self) -> bool {
        self.0.iter().all(|probe| probe.is_empty())
    }

    /// Discards the datagrams left in the queues, and returns their number. Called after the receivers have stopped.
    pub(super) fn discard_unread(&self) -> u64 {
        self.0.iter().map(|probe| probe.discard_unread()).sum()
    }
}
