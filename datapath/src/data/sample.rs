//! The raw counters of a window, and of each of its threads. They are integers as read; values derived from them are
//! computed where they are shown, and never stored.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::data::{Accounting, BusyPolled, DirectionCounts, Histogram, Verified, WindowAccounting};
use crate::sys::cpu_speed::CpuSpeed;
use crate::sys::idle_states::IdleTimes;
use crate::sys::run_queue::CpuTaken;
use crate::sys::sensors::SensorReadings;

/// Raw counters of one window of one case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Key of the case: [`Case::key`](crate::data::Case::key).
    pub case: String,
    /// Round of the case's block, from 1. A block is a group of cases whose rounds run together:
    /// [`BlockKey`](crate::data::BlockKey).
    pub round: u32,
    /// Position in the round, from 1. Each round runs the cases of its block in another random order.
    pub position: u32,
    /// Time when the window opened, in milliseconds since 1970-01-01 UTC.
    pub opened_unix_ms: u64,
    /// Length of the window, in nanoseconds.
    pub window_ns: u64,
    /// Counters of each bench thread in the window; senders first, workers last.
    pub threads: Vec<ThreadSample>,
    /// CPU time in the window, in nanoseconds, of this process's threads that are neither bench threads nor the
    /// coordinator thread: helper threads of a library, the kernel's workers for io_uring. `None` if a clock cannot be
    /// read.
    pub other_cpu_ns: Option<u64>,
    /// CPU time in the window of the coordinator thread, which opens and closes it, in nanoseconds. Between two hosts,
    /// the sum of both coordinator threads. `None` if a clock cannot be read.
    pub coordinator_cpu_ns: Option<u64>,
    /// Mean power of the machine in the window, in microwatts; between two hosts, that of the local one. `None`: it is
    /// not metered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_uw: Option<u64>,
    /// Accounting of the datagrams of the run.
    pub accounting: Accounting,
    /// Counts of each direction between two hosts. Empty on one host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<DirectionCounts>,
    /// SO_RCVBUF granted by the kernel, in bytes (twice the requested value, socket(7)).
    pub rcvbuf_bytes: u64,
    /// SO_SNDBUF as the kernel reports it, in bytes.
    pub sndbuf_bytes: u64,
    /// Readings of the sensors, from before the start of the run until its end.
    pub climate: SensorReadings,
    /// Idle times of the bench threads' CPUs during the window. Empty if the kernel does not count them, or no thread
    /// is pinned.
    pub idle_times: IdleTimes,
    /// Round trips of the window. `None`: the workload has no requests.
    pub round_trips: Option<RoundTrips>,
    /// Accuracy of the pacing in the window. `None`: senders send at full speed, or send requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing: Option<Pacing>,
    /// Pollers found. `None`: nothing was to poll.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_polled: Option<BusyPolled>,
    /// Datagrams, or responses, received over each flow in the window, in the order of the flows. Empty if each thread
    /// has one flow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow_packets: Vec<u64>,
    /// Result of verifying the datagrams. Only one window before the first round verifies them; its speed is
    /// meaningless.
    pub verified: Option<Verified>,
}

impl Sample {
    /// Returns whether the accounting balances and the receivers emptied their queues.
    pub fn is_sound(&self) -> bool {
        self.fault().is_none()
    }

    /// Returns the accounting of the window, or of the whole run between two hosts.
    pub fn account(&self) -> WindowAccounting {
        if self.paths.is_empty() {
            return self.accounting.of_window();
        }
        let mut all = WindowAccounting::default();
        for path in &self.paths {
            all += path.accounting();
        }
        all
    }

    /// Returns the datagrams in flight at the end of the window minus those at its start. 0 between two hosts, where
    /// the counts in flight include losses.
    pub fn queue_growth(&self) -> i64 {
        if self.paths.is_empty() {
            self.accounting.queue_growth()
        } else {
            0
        }
    }

    /// Describes a link that went down or came up during the run. The window is then worth another try, since engines
    /// do not cause losses of this kind. `None`: no link changed.
    pub fn link_fault(&self) -> Option<String> {
        let mut ends: Vec<&str> = self
            .paths
            .iter()
            .flat_map(DirectionCounts::links_that_changed)
            .collect();
        ends.sort_unstable();
        ends.dedup();
        // With two directions, the sender of one is the receiver of the other.
        match (&self.paths[..], &ends[..]) {
            (_, []) => None,
            ([_], [end]) => Some(format!(
                "the link of the {end}'s interface went down or came up"
            )),
            _ => Some("the link went down or came up".to_owned()),
        }
    }

    /// Returns an inconsistency of the packet counts. `None`: they are consistent.
    pub fn fault(&self) -> Option<String> {
        match (self.accounting.unread, self.account().unaccounted) {
            (0, 0) => None,
            (0, unaccounted) => Some(format!(
                "packet counts do not add up: {unaccounted} datagram{} unaccounted for",
                if unaccounted == 1 { "" } else { "s" }
            )),
            (1, _) => Some("1 datagram was left unread".to_owned()),
            (unread, _) => Some(format!("{unread} datagrams were left unread")),
        }
    }
}

/// Counters of one bench thread in the window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadSample {
    /// Side of the workload that the thread runs.
    pub side: Side,
    /// CPU that the thread is pinned to. `None`: the scheduler chooses.
    pub cpu: Option<u32>,
    /// Datagrams that the thread handed to the kernel, including refused ones.
    pub sent_packets: u64,
    /// Sent datagrams that the kernel refused.
    pub refused_packets: u64,
    /// Name of the `errno` of the last refusal that was not caused by a full queue. `None`: there is none, or it is not
    /// known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// Datagrams received from the kernel.
    pub received_packets: u64,
    /// UDP payload of the received datagrams, in bytes.
    pub received_bytes: u64,
    /// Calls that returned `EAGAIN`: nothing to receive, or no room to send.
    pub would_blocks: u64,
    /// Calls that failed, apart from refusals.
    pub errors: u64,
    /// CPU time of the thread, in nanoseconds. `None` if the clock cannot be read, or if workers run the bench thread.
    pub cpu_ns: Option<u64>,
    /// Preempted time: the thread was runnable while another one, which may be a bench thread, ran on its CPU, in
    /// nanoseconds. `None` if the kernel does not count it, or if workers run the bench thread.
    pub waited_ns: Option<u64>,
    /// Time that interrupts and the hypervisor used on the thread's CPU. `None` if the thread is not pinned, if the
    /// kernel does not count it, or if workers run the bench thread.
    pub taken: Option<CpuTaken>,
    /// Voluntary context switches: the thread waited.
    pub voluntary_switches: Option<u64>,
    /// Involuntary context switches: the thread was preempted.
    pub involuntary_switches: Option<u64>,
    /// Speed of the thread's CPU right after the thread stopped. `None`: the thread was moved to another CPU
    /// meanwhile.
    pub pace: Option<CpuSpeed>,
    /// Remark of the engine about the run.
    pub remark: Option<String>,
}

impl ThreadSample {
    /// Returns a sample whose counts are zero and whose readings are missing.
    pub fn zero(side: Side) -> Self {
        Self {
            side,
            ..Self::default()
        }
    }

    /// Returns the growth of the counters since `before`. Both samples count from the start of the thread.
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

    /// Returns the received datagrams and payload bytes that count as the result: see [`Side::counts_as_result`].
    pub fn result(&self) -> (u64, u64) {
        if self.side.counts_as_result() {
            (self.received_packets, self.received_bytes)
        } else {
            (0, 0)
        }
    }
}

/// Accuracy of the senders of a paced flood in one window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pacing {
    /// Datagrams sent when the next one was already due, because their thread was behind.
    pub late: u64,
    /// Gaps between datagrams of the first flow of a sender, in nanoseconds, by the kernel's transmit timestamps. A
    /// sample of some batches. Empty if the kernel makes no timestamps.
    pub transmit_gaps: Histogram,
    /// Gaps between the ends of consecutive send calls, in nanoseconds. Every call is counted.
    pub call_end_gaps: Histogram,
}

impl Pacing {
    /// Adds the counts of another sender or window.
    pub fn add(&mut self, other: &Self) {
        self.late += other.late;
        self.transmit_gaps.add(&other.transmit_gaps);
        self.call_end_gaps.add(&other.call_end_gaps);
    }
}

/// The round trips of the requests that clients sent in a window, or that were due in it, whenever they ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundTrips {
    /// Times from before a request was sent until its response was received, in nanoseconds.
    pub times: Histogram,
    /// Sum of these times, in nanoseconds.
    pub sum_ns: u64,
    /// Requests without a response before the timeout.
    pub unanswered: u64,
    /// Datagrams of the whole run that no request waited for: responses after the timeout, and datagrams that are no
    /// response.
    pub late: u64,
    /// Times from when the kernel received a response until the client did, in nanoseconds. A sample of some
    /// responses. Empty if the kernel does not report it.
    pub wakeups: Histogram,
}

impl RoundTrips {
    /// Returns the mean time, in nanoseconds. `None`: no response was received.
    pub fn mean_ns(&self) -> Option<f64> {
        let count = self.times.count();
        (count > 0).then(|| self.sum_ns as f64 / count as f64)
    }

    /// Adds the round trips of another client or window.
    pub fn add(&mut self, other: &Self) {
        self.times.add(&other.times);
        self.sum_ns += other.sum_ns;
        self.unanswered += other.unanswered;
        self.late += other.late;
        self.wakeups.add(&other.wakeups);
    }
}

/// Side of the workload that a bench thread runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Sends.
    #[default]
    Sender,
    /// Receives.
    Receiver,
    /// Sends and receives in turn.
    Alone,
    /// Sends requests and receives the responses.
    Client,
    /// Receives requests and sends the responses.
    Server,
    /// Runs bench threads of either side. Their CPU time is counted here.
    Worker,
}

impl Side {
    /// Returns whether this side receives.
    pub fn receives(self) -> bool {
        !matches!(self, Self::Sender | Self::Worker)
    }

    /// Returns whether this side sends.
    pub fn sends(self) -> bool {
        !matches!(self, Self::Receiver | Self::Worker)
    }

    /// Returns whether this side starts the traffic. Other sides stop sending soon after it has stopped.
    pub fn initiates(self) -> bool {
        matches!(self, Self::Sender | Self::Alone | Self::Client)
    }

    /// Returns whether the datagrams that this side receives are the result. With requests, these are the responses.
    pub fn counts_as_result(self) -> bool {
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
