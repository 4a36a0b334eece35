//! The result of one end of a trial: plain data that means the same to another process.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::{BusyPolled, Counts, Pacing, RoundTrips, ThreadSample, Verified};
use crate::sys::host_id::HostId;
use crate::sys::idle_states::IdleTimes;
use crate::sys::kernel_drops::Discarded;
use crate::sys::nic::{PathCounters, Wireless};
use crate::sys::sensors::SensorReadings;

/// Result of the senders' or the receivers' end of a trial, or of both ends if they are on one host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EndResult {
    /// Host that this end ran on.
    pub host: HostId,
    /// Time at which the window opened, by the clock of that host: see
    /// [`Sample::opened_unix_ms`](crate::data::Sample::opened_unix_ms).
    pub opened_unix_ms: u64,
    /// Length of the window, in nanoseconds.
    pub window_ns: u64,
    /// Counts of each thread in the window, senders first, workers last.
    pub threads: Vec<ThreadSample>,
    /// See [`Sample::other_cpu_ns`](crate::data::Sample::other_cpu_ns).
    pub other_cpu_ns: Option<u64>,
    /// See [`Sample::coordinator_cpu_ns`](crate::data::Sample::coordinator_cpu_ns).
    pub coordinator_cpu_ns: Option<u64>,
    /// Mean power of that host in the window, in microwatts. `None`: it is not metered.
    pub power_uw: Option<u64>,
    /// Counts of its own threads and sockets: when the window opened, when it closed, and at the end.
    pub counts: [Counts; 3],
    /// The kernel's discards since the trial began: when the window opened, when it closed, and at the end.
    pub discards: [Discarded; 3],
    /// Datagrams that were left in the receive queues.
    pub unread: u64,
    /// Datagrams that found no room in the queue of the interface, as each send was told.
    pub no_room: u64,
    /// Datagrams that were refused for a reason that no send was told.
    pub refused_without_error: u64,
    /// Growth of the counters of the interface and of its network namespace since the threads started. `None`: all of
    /// the trial is on this host.
    pub path: Option<PathCounters>,
    /// Counters of lost packets at the interface that grew since the threads started, by name: the kernel's, and the
    /// driver's own.
    pub nic: BTreeMap<String, u64>,
    /// State of the interface's radio at the end. `None`: it has none, or all of the trial is on this host.
    pub radio: Option<Wireless>,
    /// Packets that the machine dropped during the trial, by the kernel's reasons, if it was asked for them. Other
    /// traffic is included.
    pub drop_reasons: BTreeMap<String, u64>,
    /// Packets that this host lost on the way in during the trial, by place. Other traffic is included.
    pub places: BTreeMap<String, u64>,
    /// Size that the kernel granted as SO_RCVBUF, in bytes: the smallest of the receiving sockets. `None`: this end has
    /// none.
    pub rcvbuf_bytes: Option<u64>,
    /// Size that SO_SNDBUF returns, in bytes: the smallest of the sending sockets. `None`: this end has none.
    pub sndbuf_bytes: Option<u64>,
    /// Sensor readings during the trial.
    pub climate: SensorReadings,
    /// See [`Sample::idle_times`](crate::data::Sample::idle_times).
    pub idle_times: IdleTimes,
    /// Round trips of all clients. `None`: this end has no clients.
    pub round_trips: Option<RoundTrips>,
    /// Pacing of all senders that flood at a rate. `None`: this end has none.
    pub pacing: Option<Pacing>,
    /// Pollers found at this end. `None`: nothing was to poll.
    pub busy_polled: Option<BusyPolled>,
    /// See [`Sample::flow_packets`](crate::data::Sample::flow_packets).
    pub flow_packets: Vec<u64>,
    /// Result of looking at the datagrams, if they were verified.
    pub verified: Option<Verified>,
}

/// Adds all of these results. `None`: there are none.
pub(crate) fn added<T>(each: impl Iterator<Item = T>, add: impl Fn(&mut T, &T)) -> Option<T> {
    each.reduce(|mut all, one| {
        add(&mut all, &one);
        all
    })
}
