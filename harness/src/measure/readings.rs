//! What a site says of itself: plain data, that means the same to another process.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::{Counts, Pacing, RoundTrips, Side, Verified};
use crate::sys::clock::Switches;
use crate::sys::cpu_speed::CpuSpeed;
use crate::sys::idle::IdleTimes;
use crate::sys::kernel::Discarded;
use crate::sys::nic::PathCounters;
use crate::sys::run_queue::CpuTaken;
use crate::sys::sensors::SensorReadings;

/// What a site reads at one edge of a window.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reading {
    /// When, in nanoseconds since the trial was opened, by the site's own monotonic clock.
    pub at_ns: u64,
    /// Of its own threads and sockets.
    pub counts: Counts,
    /// The kernel's discards since the trial was opened, just before and just after the counts: to read them
    /// takes longer than a datagram. Where they rest, one reading outside the window is both.
    pub discards: [Discarded; 2],
    /// CPU time of the process, less that of the thread that reads it, in nanoseconds.
    pub cpu_ns: Option<u64>,
    /// CPU time of the thread that reads it, in nanoseconds.
    pub coordinator_cpu_ns: Option<u64>,
    /// One for each thread, senders first, workers last.
    pub lanes: Vec<LaneReading>,
}

/// What one thread did so far.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct LaneReading {
    /// Datagrams handed to the kernel, whether or not they were refused.
    pub sent_packets: u64,
    /// Those of them that the kernel refused.
    pub refused_packets: u64,
    /// Datagrams taken from the kernel.
    pub received_packets: u64,
    /// UDP payload in them.
    pub received_bytes: u64,
    /// Calls that found nothing to do.
    pub would_blocks: u64,
    /// Calls that failed otherwise than by a refusal.
    pub errors: u64,
    /// CPU time, in nanoseconds. `None` where the clock cannot be read, and where workers run the lane.
    pub cpu_ns: Option<u64>,
    /// Time waited for a CPU, in nanoseconds. `None` where the kernel does not count it, and where workers run
    /// the lane.
    pub waited_ns: Option<u64>,
    /// Context switches.
    pub switches: Option<Switches>,
    /// What interrupts and the hypervisor took of the CPU that it is pinned to.
    pub taken: Option<CpuTaken>,
}

/// What speaks for it that nothing will move any more.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Idle {
    /// Nothing waits in any queue, neither of a socket nor of a CPU.
    pub are_queues_empty: bool,
    /// Since the counts moved last, each thread has slept or had CPU time to move something.
    pub had_their_chance: bool,
    /// A server has received more requests than it has answered.
    pub owes_answers: bool,
}

/// What a site knows when a trial is over.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Finished {
    /// The last counts.
    pub counts: Counts,
    /// Datagrams that were left in the receive queues.
    pub unread: u64,
    /// The kernel's discards since the trial was opened.
    pub discards: Discarded,
    /// Datagrams that the queue of the interface had no room for, as each send was told.
    pub no_room: u64,
    /// Datagrams that were refused for a reason that no send was told.
    pub unsaid: u64,
    /// By how much the counters of the interface and of its network namespace grew since the threads started. `None`:
    /// both parts are on this host.
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
    /// One for each thread, as in [`Reading::lanes`].
    pub lanes: Vec<LaneEnd>,
}

/// What is known of a thread once it has ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LaneEnd {
    /// Its side of the workload.
    pub side: Side,
    /// The CPU that it was pinned to.
    pub cpu: Option<u32>,
    /// Whether workers ran it, whose CPU time then has its own in it.
    pub is_pooled: bool,
    /// How fast its CPU ran when it had just stopped.
    pub pace: Option<CpuSpeed>,
    /// What its engine has to say about how it went.
    pub remark: Option<String>,
    /// See [`LaneSample::refusal`](crate::data::LaneSample::refusal).
    pub refusal: Option<String>,
}
