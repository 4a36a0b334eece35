//! Probes of all receiving sockets of one end: dropped datagrams, and datagrams that were left in the queues.

use std::collections::BTreeSet;
use std::io;

use anyhow::Context;

use crate::data::{BusyPoll, BusyPolled, PolledBy};
use crate::engine::{BusyPolling, QueueProbe};
use crate::engines::Entry;
use crate::sys::busy_poll::SocketState;

/// One probe for each receiving socket.
pub(crate) struct QueueProbes {
    probes: Vec<Box<dyn QueueProbe>>,
    /// Pollers of the engines of these sockets, beside the sockets, if the case asks for busy polling.
    busy_polling: BTreeSet<PolledBy>,
}

impl QueueProbes {
    /// Collects the probes of sockets, and what busy-polls for their engines.
    ///
    /// # Errors
    /// Fails if a probe could not be created, for example because the kernel does not report the drops of a socket.
    pub(crate) fn new(
        probes: impl IntoIterator<Item = io::Result<Box<dyn QueueProbe>>>,
        engines: impl Iterator<Item = &'static Entry>,
    ) -> anyhow::Result<Self> {
        let probes = probes.into_iter().collect::<io::Result<_>>();
        let polls = engines.filter_map(|entry| match entry.about.busy_polling {
            BusyPolling::Socket | BusyPolling::OutOfReach(_) => None,
            BusyPolling::Epoll => Some(PolledBy::Epoll),
            BusyPolling::Uring => Some(PolledBy::Uring),
        });
        Ok(Self {
            probes: probes.context("cannot probe the queue of a socket")?,
            busy_polling: polls.collect(),
        })
    }

    /// Returns the number of probes.
    pub(crate) fn count(&self) -> u32 {
        self.probes.len().try_into().unwrap_or(u32::MAX)
    }

    /// Returns the number of datagrams dropped at the receiving sockets so far. Must be called at least once in 2^32
    /// drops of a socket, since the kernel's counters have 32 bits.
    ///
    /// # Errors
    /// Fails if the kernel does not report the drops of a socket.
    pub(crate) fn drops(&self) -> anyhow::Result<u64> {
        let drops = self.probes.iter().map(|probe| probe.drops());
        drops
            .sum::<io::Result<u64>>()
            .context("cannot read the drops of a socket")
    }

    /// Returns whether no socket has a datagram to receive; `false` if the kernel does not say.
    pub(crate) fn are_empty(&self) -> bool {
        self.probes.iter().all(|probe| probe.is_empty())
    }

    /// Returns what busy-polls. Engines have read back what they set; the sockets are read now.
    pub(crate) fn busy_polled(&self, asked: BusyPoll) -> BusyPolled {
        let states = self.probes.iter().filter_map(|probe| probe.busy_poll());
        let states: Vec<SocketState> = states.collect();
        let is_kept = !states.is_empty() && states.iter().all(|state| state.us == asked.us);
        let by = self.busy_polling.iter().copied().chain([PolledBy::Socket]);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        BusyPolled {
            // An epoll instance or a ring polls for the sockets in it that do.
            by: by.filter(|_| is_kept).collect(),
            sockets: count(states.len()),
            napi_sockets: count(states.iter().filter(|state| state.has_napi).count()),
        }
    }

    /// Discards the datagrams left in the queues, and returns their number. Called after the receivers have stopped.
    pub(crate) fn discard_unread(&self) -> u64 {
        self.probes.iter().map(|probe| probe.discard_unread()).sum()
    }
}
