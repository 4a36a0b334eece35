//! The raw counters of one window: integers only. What is derived from them is computed where it is
//! shown, never stored.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::data::{Books, Pacing, Path, RoundTrips, Verified, WindowBooks};
use crate::sys::cpu_speed::CpuSpeed;
use crate::sys::idle::IdleTimes;
use crate::sys::run_queue::CpuTaken;
use crate::sys::sensors::SensorReadings;

/// One window of one case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// [`Case::key`](crate::data::Case::key).
    pub case: String,
    /// Which round of its block, from 1.
    pub round: u32,
    /// Which window of its round, from 1, in the shuffled order.
    pub position: u32,
    /// When the window opened, in milliseconds since 1970-01-01 UTC.
    pub opened_unix_ms: u64,
    /// How long it was open, in nanoseconds.
    pub window_ns: u64,
    /// What each lane did while it was open; senders first, workers last.
    pub lanes: Vec<LaneSample>,
    /// CPU time of this process's threads that are neither lanes nor the coordinator while it was open, in
    /// nanoseconds: a library's helpers, the kernel's workers for io_uring. `None` where a clock cannot be
    /// read.
    pub other_cpu_ns: Option<u64>,
    /// CPU time of the coordinators, which open and close the window, between the two, in nanoseconds. `None`
    /// as above.
    pub coordinator_cpu_ns: Option<u64>,
    /// Where every datagram of the run ended.
    pub books: Books,
    /// The same between two hosts, for each direction. Absent on one host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<Path>,
    /// What the kernel granted as SO_RCVBUF, in bytes (twice what was asked for, socket(7)).
    pub rcvbuf_bytes: u64,
    /// What SO_SNDBUF says, in bytes.
    pub sndbuf_bytes: u64,
    /// What the sensors said meanwhile.
    pub climate: SensorReadings,
    /// What the CPUs of its lanes did meanwhile while they had nothing to do. Empty where nothing counts it, or no lane
    /// is pinned.
    pub idle_times: IdleTimes,
    /// The round trips that ended while it was open. `None`: nobody asked.
    pub round_trips: Option<RoundTrips>,
    /// How the senders kept to their rate while it was open. Absent: they send as fast as they can, or requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing: Option<Pacing>,
    /// What came over each flow while it was open: datagrams, or answers. Absent where each thread has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow_packets: Vec<u64>,
    /// What was found in the datagrams, in the one window that looks at them: it comes before the first
    /// round, and its speed says nothing.
    pub verified: Option<Verified>,
}

impl Sample {
    /// Whether its books close and its receivers emptied their queues.
    pub fn is_sound(&self) -> bool {
        self.fault().is_none()
    }

    /// Where its datagrams ended: those of the window, or between two hosts those of the whole run.
    pub fn account(&self) -> WindowBooks {
        if self.paths.is_empty() {
            return self.books.of_window();
        }
        let mut all = WindowBooks::default();
        for path in &self.paths {
            all += path.books();
        }
        all
    }

    /// How many more datagrams were in flight when the window closed than when it opened. Between two hosts, what was
    /// lost cannot be told from that.
    pub fn queue_growth(&self) -> i64 {
        if self.paths.is_empty() {
            self.books.queue_growth()
        } else {
            0
        }
    }

    /// Says which link went down or came up meanwhile, if one did. Its datagrams were then lost for another reason than
    /// the engines, and the window is worth another try.
    pub fn link_fault(&self) -> Option<String> {
        let mut ends: Vec<&str> = self
            .paths
            .iter()
            .flat_map(Path::links_that_changed)
            .collect();
        ends.sort_unstable();
        ends.dedup();
        // Of both directions, the sender of one is the receiver of the other.
        match (&self.paths[..], &ends[..]) {
            (_, []) => None,
            ([_], [end]) => Some(format!(
                "the link of the {end}'s interface went down or came up"
            )),
            _ => Some("the link went down or came up".to_owned()),
        }
    }

    /// What is wrong with its packet counts, if anything.
    pub fn fault(&self) -> Option<String> {
        let unaccounted = self.account().unaccounted;
        match (self.books.unread, unaccounted) {
            (0, 0) => None,
            (0, _) => Some(format!(
                "packet counts do not add up: {unaccounted} datagrams unaccounted for"
            )),
            (1, _) => Some("1 datagram was left unread".to_owned()),
            (unread, _) => Some(format!("{unread} datagrams were left unread")),
        }
    }
}

/// What one lane did during the window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneSample {
    /// Its side of the workload.
    pub side: Side,
    /// The CPU that it is pinned to. `None`: it runs where the scheduler puts it.
    pub cpu: Option<u32>,
    /// Datagrams that it handed to the kernel, whether or not they were refused.
    pub sent_packets: u64,
    /// Those of them that the kernel refused.
    pub refused_packets: u64,
    /// Why the last of those was refused that were not for want of room in a queue: the name of its `errno`. Absent: there
    /// is none, or it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// Datagrams taken from the kernel.
    pub received_packets: u64,
    /// UDP payload in them.
    pub received_bytes: u64,
    /// Calls that found nothing to do.
    pub would_blocks: u64,
    /// Calls that failed otherwise than by a refusal.
    pub errors: u64,
    /// CPU time of its thread. `None` where the clock cannot be read, and where workers run the lane.
    pub cpu_ns: Option<u64>,
    /// Time that its thread was ready to run while something else ran on its CPU, in nanoseconds: other lanes,
    /// too. `None` where the kernel does not count it, and where workers run the lane.
    pub waited_ns: Option<u64>,
    /// What interrupts and the hypervisor took of the CPU that it is pinned to. `None` as above, and where it is
    /// not pinned.
    pub taken: Option<CpuTaken>,
    /// Times its thread waited.
    pub voluntary_switches: Option<u64>,
    /// Times its thread was preempted: involuntary context switches.
    pub involuntary_switches: Option<u64>,
    /// How fast its CPU ran when it had just stopped. `None`: the thread was moved meanwhile.
    pub pace: Option<CpuSpeed>,
    /// What its engine has to say about how it went.
    pub remark: Option<String>,
}

impl LaneSample {
    /// One that did nothing, and of which nothing else is known.
    pub fn idle(side: Side) -> Self {
        Self {
            side,
            cpu: None,
            sent_packets: 0,
            refused_packets: 0,
            refusal: None,
            received_packets: 0,
            received_bytes: 0,
            would_blocks: 0,
            errors: 0,
            cpu_ns: None,
            waited_ns: None,
            taken: None,
            voluntary_switches: None,
            involuntary_switches: None,
            pace: None,
            remark: None,
        }
    }

    /// What it did since `before`, where both are what it had done so far.
    pub fn since(self, before: &Self) -> Self {
        let grown = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        Self {
            sent_packets: self.sent_packets.saturating_sub(before.sent_packets),
            refused_packets: self.refused_packets.saturating_sub(before.refused_packets),
            received_packets: (self.received_packets).saturating_sub(before.received_packets),
            received_bytes: self.received_bytes.saturating_sub(before.received_bytes),
            would_blocks: self.would_blocks.saturating_sub(before.would_blocks),
            errors: self.errors.saturating_sub(before.errors),
            cpu_ns: grown(self.cpu_ns, before.cpu_ns),
            waited_ns: grown(self.waited_ns, before.waited_ns),
            taken: (self.taken.zip(before.taken)).map(|(now, then)| now.since(then)),
            voluntary_switches: grown(self.voluntary_switches, before.voluntary_switches),
            involuntary_switches: grown(self.involuntary_switches, before.involuntary_switches),
            ..self
        }
    }

    /// Datagrams and payload bytes that it received and that are the result: see [`Side::concludes`].
    pub fn result(&self) -> (u64, u64) {
        if self.side.concludes() {
            (self.received_packets, self.received_bytes)
        } else {
            (0, 0)
        }
    }
}

/// A lane's side of the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// It sends.
    Sender,
    /// It receives.
    Receiver,
    /// It does both in turn.
    Alone,
    /// It sends requests and receives the answers.
    Client,
    /// It receives requests and sends the answers.
    Server,
    /// It runs lanes of either side, which then have no CPU time of their own.
    Worker,
}

impl Side {
    /// Whether it receives.
    pub fn receives(self) -> bool {
        !matches!(self, Self::Sender | Self::Worker)
    }

    /// Whether it sends.
    pub fn sends(self) -> bool {
        !matches!(self, Self::Receiver | Self::Worker)
    }

    /// Whether it sends of its own accord: what others send is over soon after it has stopped.
    pub fn initiates(self) -> bool {
        matches!(self, Self::Sender | Self::Alone | Self::Client)
    }

    /// Whether what it receives is the result: with requests, their answers.
    pub fn concludes(self) -> bool {
        matches!(self, Self::Receiver | Self::Alone | Self::Client)
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
            Self::Alone => "lone thread",
            Self::Client => "client",
            Self::Server => "server",
            Self::Worker => "worker",
        })
    }
}
