//! A site: one process's half of a trial, behind verbs.
//!
//! The script in `measure` is written in these verbs alone, so that it is the same whether a half runs in
//! this process (`Local`) or in another one (`Remote`). What they take and return is plain data: neither
//! sockets nor instants, which mean nothing to another process.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::readings::{Finished, Idle, Reading};
use super::token::Token;
use crate::data::{Case, Counts, HostAddress};
use crate::duration::ns;
use crate::platform::placement::Placement;
use crate::sys::host_id::HostId;
#[cfg(feature = "calibration")]
use crate::workload::delay::Delay;

/// One process's half of a trial. The verbs are in the order in which a trial uses them.
///
/// Each of them takes a moment at most: waiting is up to the script, so that it can be interrupted.
///
/// # Errors
/// Of all verbs: what the system refused, a verb out of its order, and a site that is gone.
#[expect(clippy::missing_errors_doc, reason = "they are the same for all")]
pub trait Site {
    /// Where it runs.
    fn host(&self) -> HostId;

    /// Can be read once [`Site::look`] fails, where that is known at once.
    fn ended(&self) -> Option<BorrowedFd<'_>>;

    /// Begins a trial: reads the sensors and the kernel's counters for the first time. Ends any trial before.
    fn open(&mut self, brief: &SiteBrief) -> anyhow::Result<()>;

    /// Makes the receivers, and returns their addresses.
    fn bind(&mut self) -> anyhow::Result<Vec<SocketAddr>>;

    /// Makes a sender towards `peer`, and returns its address.
    fn aim(&mut self, peer: SocketAddr) -> anyhow::Result<SocketAddr>;

    /// Closes the sender with this address.
    fn close_sender(&mut self, source: SocketAddr) -> anyhow::Result<()>;

    /// Sends a datagram from the sender with this address. `Some`: why the kernel refused it.
    fn probe(&mut self, source: SocketAddr) -> anyhow::Result<Option<String>>;

    /// The receiver at which a datagram from `source` has arrived, after waiting for it for 100 ms at most.
    fn arrived(&mut self, source: SocketAddr) -> anyhow::Result<Option<usize>>;

    /// Whether the receiver that the sender with this address sends to has answered its probe, after waiting for that
    /// for 100 ms at most. Between two hosts, nothing else is sent before.
    fn is_proven(&mut self, source: SocketAddr) -> anyhow::Result<bool>;

    /// Has each receiver take these flows: by a program in the kernel where the case asks for one, else by
    /// connecting it to its only sender.
    fn pair(&mut self, flows: &[Flow]) -> anyhow::Result<()>;

    /// Starts the threads and waits until all of them are at the start barrier. Senders are those of `flows`,
    /// in that order.
    fn assemble(&mut self, flows: &[Flow]) -> anyhow::Result<()>;

    /// Where messages would have to find their way beside the datagrams: has it read everything at the edges of the window
    /// by its own clock, from [`Site::start`] on, and then stop its senders. [`Site::snapshot`] has what it read afterwards.
    fn keep_time(&mut self, edges: Edges) -> anyhow::Result<()>;

    /// Whether it does.
    fn keeps_time(&self) -> bool;

    /// Lets the threads go.
    fn start(&mut self) -> anyhow::Result<()>;

    /// Ends the wait of a thread that sends and receives in turn and in which nothing has moved since the last call.
    fn wake_stalled(&mut self) -> anyhow::Result<()>;

    /// Looks at the sensors, and at counters that begin anew when they are full. Fails if a thread has ended.
    fn look(&mut self) -> anyhow::Result<()>;

    /// Reads everything at one edge of the window.
    fn snapshot(&mut self, edge: Edge) -> anyhow::Result<Reading>;

    /// Stops the senders. Their counts are final then.
    fn stop(&mut self) -> anyhow::Result<()>;

    /// The counts so far.
    fn counts(&mut self) -> anyhow::Result<Counts>;

    /// Whether anything can still move after the senders have stopped.
    fn idle(&mut self) -> anyhow::Result<Idle>;

    /// Stops and joins all threads, empties the queues, and ends the trial.
    fn finish(&mut self) -> anyhow::Result<Finished>;

    /// Ends a trial that failed. Does nothing where there is none.
    fn abandon(&mut self);
}

/// The sites of one trial.
pub enum Sites<'a> {
    /// One for both halves.
    One(&'a mut dyn Site),
    /// One for each half.
    Two {
        /// That of the receivers.
        receivers: &'a mut dyn Site,
        /// That of the senders.
        senders: &'a mut dyn Site,
    },
}

impl Sites<'_> {
    pub(super) fn receivers(&mut self) -> &mut dyn Site {
        match self {
            Self::One(site) => *site,
            Self::Two { receivers, .. } => *receivers,
        }
    }

    pub(super) fn senders(&mut self) -> &mut dyn Site {
        match self {
            Self::One(site) => *site,
            Self::Two { senders, .. } => *senders,
        }
    }

    /// Lets the threads go. Since when those run whose site does not keep time: the receivers' edges come first, wherever
    /// they are.
    pub(super) fn start(&mut self) -> anyhow::Result<Instant> {
        let mut started = Instant::now();
        for (_, site) in self.parts() {
            site.start()?;
            if !site.keeps_time() {
                started = Instant::now();
            }
        }
        Ok(started)
    }

    /// Reads everything at an edge. `None`: of a site that keeps time.
    pub(super) fn read(&mut self, edge: Edge) -> anyhow::Result<Vec<Option<Reading>>> {
        self.each(|site| {
            (!site.keeps_time())
                .then(|| site.snapshot(edge))
                .transpose()
        })
    }

    /// What had been read, and what those sites have read that keep time.
    pub(super) fn read_on(
        &mut self,
        edge: Edge,
        read: Vec<Option<Reading>>,
    ) -> anyhow::Result<Vec<Reading>> {
        let parts = self.parts().zip(read);
        let readings = parts.map(|((_, site), read)| read.map_or_else(|| site.snapshot(edge), Ok));
        readings.collect()
    }

    /// Has each site end what it does. Senders first: what they send may hold up messages to the receivers.
    pub(super) fn abandon(&mut self) {
        match self {
            Self::One(site) => site.abandon(),
            Self::Two { receivers, senders } => {
                senders.abandon();
                receivers.abandon();
            }
        }
    }

    /// Stops the senders.
    pub(super) fn stop(&mut self) -> anyhow::Result<()> {
        match self {
            Self::One(site) => site.stop(),
            Self::Two { receivers, senders } => {
                senders.stop()?;
                receivers.stop()
            }
        }
    }

    /// Each with its part, the receivers' first: a datagram is sent before it is dropped or received, so
    /// reading in the opposite order keeps what is in flight from looking negative.
    pub(super) fn parts(&mut self) -> impl Iterator<Item = (Part, &mut dyn Site)> {
        let parts: [Option<(Part, &mut dyn Site)>; 2] = match self {
            Self::One(site) => [Some((Part::Both, *site)), None],
            Self::Two { receivers, senders } => [
                Some((Part::Receivers, *receivers)),
                Some((Part::Senders, *senders)),
            ],
        };
        parts.into_iter().flatten()
    }

    /// What can be read once one of them has ended.
    pub(super) fn ended(&self) -> Vec<BorrowedFd<'_>> {
        let sites: [Option<&dyn Site>; 2] = match self {
            Self::One(site) => [Some(*site), None],
            Self::Two { receivers, senders } => [Some(*receivers), Some(*senders)],
        };
        let sites = sites.into_iter().flatten();
        sites.filter_map(Site::ended).collect()
    }

    /// Has each site do the same, in the order of [`Sites::parts`], up to the first that fails.
    pub(super) fn each<T>(
        &mut self,
        mut verb: impl FnMut(&mut dyn Site) -> anyhow::Result<T>,
    ) -> anyhow::Result<Vec<T>> {
        self.parts().map(|(_, site)| verb(site)).collect()
    }
}

/// Which threads of a case a site runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// All of them.
    Both,
    /// Those that receive.
    Receivers,
    /// Those that send.
    Senders,
}

impl Part {
    /// Whether it has senders.
    pub fn sends(self) -> bool {
        self != Self::Receivers
    }

    /// Whether it has receivers.
    pub fn receives(self) -> bool {
        self != Self::Senders
    }
}

/// What a site needs to know of a trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SiteBrief {
    /// What is measured.
    pub case: Case,
    /// Which threads of it the site runs.
    pub part: Part,
    /// The CPUs of all threads, also of those that run elsewhere.
    pub placement: Placement,
    /// Whether each datagram is told apart from the others and looked at: see
    /// [`Sample::verified`](crate::data::Sample::verified).
    pub verifies: bool,
    /// Whether the kernel is asked why it drops packets, which takes its time for each.
    pub drop_reasons: bool,
    /// Where the other part is, if it is on another host.
    pub across: Option<Across>,
    /// What slows engines down, to see whether that is found.
    #[cfg(feature = "calibration")]
    pub delay: Option<Delay>,
}

impl SiteBrief {
    /// For `part` of a case whose threads are not pinned and whose datagrams are not looked at.
    pub fn of(case: Case, part: Part) -> Self {
        Self {
            case,
            part,
            placement: Placement::unpinned(case.threads),
            verifies: false,
            drop_reasons: false,
            across: None,
            #[cfg(feature = "calibration")]
            delay: None,
        }
    }
}

/// The other host of a trial, as one of its two sites needs to know it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Across {
    /// The address that the sockets here are bound to. If it is one of a link, with the interface that has it.
    pub own: HostAddress,
    /// The only address that is sent to.
    pub other: IpAddr,
    /// What is sent first.
    pub token: Token,
    /// How long that is, in bytes, where it is tried what gets there whole.
    pub probe_bytes: Option<usize>,
}

/// A sender's datagrams, and where they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// The sender's address.
    pub source: SocketAddr,
    /// The address that it sends to.
    pub peer: SocketAddr,
    /// The receiving socket that gets them, from 0.
    pub receiver: usize,
}

/// When a window opens after the threads have started, and how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edges {
    /// Before it opens.
    #[serde(rename = "warmup_ns", with = "ns")]
    pub warmup: Duration,
    /// How long it is.
    #[serde(rename = "window_ns", with = "ns")]
    pub window: Duration,
}

/// Which end of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edge {
    /// What is slow to read is read first.
    Opening,
    /// What is slow to read is read last.
    Closing,
}
