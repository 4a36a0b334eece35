//! What one end of a trial knows when it is over: plain data, that means the same to another process.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::{Counts, LaneSample, Pacing, RoundTrips, Verified};
use crate::sys::host_id::HostId;
use crate::sys::idle::IdleTimes;
use crate::sys::kernel::Discarded;
use crate::sys::nic::PathCounters;
use crate::sys::sensors::SensorReadings;

/// All of a trial on one host, else its senders' end or its receivers'.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Half {
    /// Where it ran.
    pub host: HostId,
    /// When the window opened, by the clock of that host: see
    /// [`Sample::opened_unix_ms`](crate::data::Sample::opened_unix_ms).
    pub opened_unix_ms: u64,
    /// How long the window was open, in nanoseconds.
    pub window_ns: u64,
    /// What each thread did while it was open, senders first, workers last.
    pub lanes: Vec<LaneSample>,
    /// See [`Sample::other_cpu_ns`](crate::data::Sample::other_cpu_ns).
    pub other_cpu_ns: Option<u64>,
    /// See [`Sample::coordinator_cpu_ns`](crate::data::Sample::coordinator_cpu_ns).
    pub coordinator_cpu_ns: Option<u64>,
    /// Of its own threads and sockets: when the window opened, when it closed, and at the end.
    pub counts: [Counts; 3],
    /// The kernel's discards since the trial began, at the same times.
    pub discards: [Discarded; 3],
    /// Datagrams that were left in the receive queues.
    pub unread: u64,
    /// Datagrams that the queue of the interface had no room for, as each send was told.
    pub no_room: u64,
    /// Datagrams that were refused for a reason that no send was told.
    pub unsaid: u64,
    /// By how much the counters of the interface and of its network namespace grew since the threads started. `None`:
    /// all of the trial is on this host.
    pub path: Option<PathCounters>,
    /// Counters of lost packets at the interface that grew meanwhile, by name: the kernel's, and its driver's own.
    pub nic: BTreeMap<String, u64>,
    /// What the machine dropped meanwhile, by the kernel's reasons, where it was asked. Other traffic is among it.
    pub drop_reasons: BTreeMap<String, u64>,
    /// What the kernel granted as SO_RCVBUF, in bytes: the least of the sockets that receive. `None`: none does here.
    pub rcvbuf_bytes: Option<u64>,
    /// What SO_SNDBUF says, in bytes: the least of the sockets that send. `None`: none does here.
    pub sndbuf_bytes: Option<u64>,
    /// What the sensors said meanwhile.
    pub climate: SensorReadings,
    /// See [`Sample::idle_times`](crate::data::Sample::idle_times).
    pub idle_times: IdleTimes,
    /// Of all clients. `None`: there are none.
    pub round_trips: Option<RoundTrips>,
    /// Of all senders that flood at a rate. `None`: there are none.
    pub pacing: Option<Pacing>,
    /// See [`Sample::flow_packets`](crate::data::Sample::flow_packets).
    pub flow_packets: Vec<u64>,
    /// What was found in the datagrams, where they were looked at.
    pub verified: Option<Verified>,
}
