//! The sockets of one end, and the flows between the two ends.
//!
//! All sockets are made before any thread starts. Whatever cannot be built is an error here, and never a thread that
//! waits for ever.

pub(crate) mod bind;
pub(crate) mod connections;
pub mod flows;
pub(crate) mod udp_sockets;

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

use anyhow::Context;
use socket2::SockRef;

use self::udp_sockets::UdpSockets;
use crate::data::{BusyPoll, BusyPolled, Case, PolledBy};
use crate::engine::{BusyPolling, QueueProbe};
use crate::engines::{Engines, Entry};
use crate::sys::busy_poll::SocketState;
use crate::trial::messages::spec::Flow;

/// The sockets of one transport, from the first one until threads take them.
pub(crate) trait EndSockets {
    /// Makes the receiving sockets. Returns the address of each.
    fn bind(&mut self) -> anyhow::Result<Vec<SocketAddr>>;

    /// Opens a sending socket towards a receiver. Returns the address that identifies it from now on.
    fn open_sender(&mut self, peer: SocketAddr) -> anyhow::Result<SocketAddr>;

    /// Returns the probes of UDP sockets, whose datagrams may end at an unexpected receiver. Connections have none.
    fn probes(&mut self) -> anyhow::Result<&mut UdpSockets>;

    /// Assigns each flow to its receiving socket, which then takes no other.
    fn assign_flows(&mut self, flows: &[Flow]) -> anyhow::Result<()>;

    /// Returns probes that read drops and unread datagrams of the receiving sockets from outside.
    fn queue_probes(&self, engines: Engines) -> anyhow::Result<QueueProbes>;

    /// Returns the buffer sizes that the kernel granted.
    fn buffers(&self) -> anyhow::Result<GrantedBuffers>;

    /// Hands over the receiving sockets.
    fn take_receivers(&mut self) -> Vec<OwnedFd>;

    /// Hands over the sending socket with this address.
    fn take_sender(&mut self, source: SocketAddr) -> anyhow::Result<OwnedFd>;
}

/// Buffer sizes that the kernel granted, in bytes: the smallest of each kind. 0: there is no such socket.
#[derive(Clone, Copy)]
pub(crate) struct GrantedBuffers {
    pub(crate) rcvbuf_bytes: u64,
    pub(crate) sndbuf_bytes: u64,
}

impl GrantedBuffers {
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
            anyhow::Ok(sizes.into_iter().min().unwrap_or(0) as u64)
        };
        let rcvbuf = receiving.map(|socket| SockRef::from(socket).recv_buffer_size());
        let sndbuf = sending.map(|socket| SockRef::from(socket).send_buffer_size());
        Ok(Self {
            rcvbuf_bytes: sizes(rcvbuf.collect())?,
            sndbuf_bytes: sizes(sndbuf.collect())?,
        })
    }
}

/// Probes of all receiving sockets of one end, which read dropped datagrams, and those left in the queues.
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
