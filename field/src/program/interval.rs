//! Counts of a program's datagrams in a stretch of time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::sys::loss_counters::LossCounters;
use crate::sys::udp_sockets::UdpSocketState;

/// Counts of a program's datagrams in a stretch of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// Length of the stretch.
    pub length: Duration,
    /// The sockets, by their numbers.
    pub sockets: BTreeMap<u32, SocketSeen>,
    /// Datagrams that all programs of the network namespace read from UDP sockets: the kernel does not count them for
    /// each socket.
    pub read: u64,
    /// Datagrams that the program's sockets dropped, for whatever reason.
    pub socket_drops: u64,
    /// Growth of the counters of all loss places, for any program.
    pub lost: LossCounters,
    /// Datagrams that IP, a firewall or UDP dropped before sockets, without those that are for nobody here every day.
    pub protocol_drops: u64,
    /// Packets that found the backlog of a CPU full, in all network namespaces.
    pub backlog_drops: u64,
    /// Packets lost on the way in, by interface and counter, such as `eth0 rx_missed_errors`: the kernel's counters and
    /// the driver's, of which some contain others. Without those that did not move.
    pub interface_drops: BTreeMap<String, u64>,
    /// Processes that had the sockets open at the last look.
    pub holders: BTreeSet<u32>,
    /// The threads that ran, by their numbers.
    pub threads: BTreeMap<u32, ThreadTimes>,
    /// Packets whose receiving softirq ran on each CPU.
    pub packets_of_cpu: BTreeMap<usize, u64>,
}

/// Observations of a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketSeen {
    /// The socket at the last look, with its fullest queue.
    pub state: UdpSocketState,
    /// Its emptiest queue, in bytes.
    pub least_queued_bytes: u32,
    /// Datagrams that it dropped, for whatever reason.
    pub drops: u64,
    /// Times that it was looked at.
    pub looks: u64,
    /// Looks at which its buffer was nearly full.
    pub full_looks: u64,
    /// Processes that have it open.
    pub owners: BTreeSet<u32>,
}

/// Share of its buffer from which on a queue is nearly full. Since Linux 4.12 the kernel gives back what a reader took
/// in quarters of the buffer.
pub(super) const NEARLY_FULL: f64 = 0.7;

impl SocketSeen {
    /// Returns what one look saw of a socket.
    pub(super) fn new(state: UdpSocketState, drops: u64, owners: BTreeSet<u32>) -> Self {
        let mut seen = Self {
            least_queued_bytes: state.queued_bytes,
            state,
            drops,
            looks: 1,
            full_looks: 0,
            owners,
        };
        seen.full_looks = u64::from(seen.full().is_some_and(|full| full >= NEARLY_FULL));
        seen
    }

    /// Returns how full its buffer was: 1.0 is full. `None`: its size is unknown.
    pub fn full(&self) -> Option<f64> {
        let buffer = self.state.buffer_bytes?.max(1);
        Some(f64::from(self.state.queued_bytes) / f64::from(buffer))
    }
}

/// CPU time of a thread, since it began or in a stretch of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadTimes {
    /// Number of the thread.
    pub id: u32,
    /// Number of its process.
    pub pid: u32,
    /// Its process in words.
    pub process: String,
    /// Name in the kernel.
    pub name: String,
    /// Time on a CPU, in nanoseconds.
    pub ran_ns: u64,
    /// Time in which it waited for a CPU, in nanoseconds.
    pub waited_ns: u64,
    /// Times that it was put on a CPU.
    pub runs: u64,
    /// Time on each CPU, in nanoseconds: as precise as looks are frequent.
    pub ran_ns_on: BTreeMap<usize, u64>,
}

impl Interval {
    /// Adds a later stretch.
    pub fn add(&mut self, later: &Self) {
        self.length += later.length;
        for (inode, socket) in &later.sockets {
            self.add_socket(*inode, socket.clone());
        }
        self.read += later.read;
        self.socket_drops += later.socket_drops;
        self.lost.add(&later.lost);
        self.protocol_drops += later.protocol_drops;
        self.backlog_drops += later.backlog_drops;
        add_each(&mut self.interface_drops, &later.interface_drops);
        if !later.holders.is_empty() {
            self.holders.clone_from(&later.holders);
        }
        for thread in later.threads.values() {
            self.add_thread(thread.clone());
        }
        add_each(&mut self.packets_of_cpu, &later.packets_of_cpu);
    }

    /// Adds what was seen of a socket later.
    pub(super) fn add_socket(&mut self, inode: u32, later: SocketSeen) {
        let Some(sum) = self.sockets.get_mut(&inode) else {
            self.sockets.insert(inode, later);
            return;
        };
        sum.state = UdpSocketState {
            queued_bytes: sum.state.queued_bytes.max(later.state.queued_bytes),
            buffer_bytes: later.state.buffer_bytes.or(sum.state.buffer_bytes),
            ..later.state
        };
        sum.least_queued_bytes = sum.least_queued_bytes.min(later.least_queued_bytes);
        sum.drops += later.drops;
        sum.looks += later.looks;
        sum.full_looks += later.full_looks;
        sum.owners.extend(later.owners);
    }

    /// Adds what was seen of a thread later.
    pub(super) fn add_thread(&mut self, later: ThreadTimes) {
        let Some(sum) = self.threads.get_mut(&later.id) else {
            self.threads.insert(later.id, later);
            return;
        };
        (sum.pid, sum.process, sum.name) = (later.pid, later.process, later.name);
        sum.ran_ns += later.ran_ns;
        sum.waited_ns += later.waited_ns;
        sum.runs += later.runs;
        add_each(&mut sum.ran_ns_on, &later.ran_ns_on);
    }

    /// Returns the threads of the processes whose sockets dropped something, or else of all: those that still had the
    /// sockets open at the last look, if there are any.
    pub fn judged(&self) -> Vec<&ThreadTimes> {
        let dropping = self.sockets.values().filter(|socket| socket.drops > 0);
        let owners: BTreeSet<u32> = dropping.flat_map(|it| it.owners.iter().copied()).collect();
        let threads = self.threads.values();
        let mut judged: Vec<&ThreadTimes> = threads
            .filter(|it| owners.is_empty() || owners.contains(&it.pid))
            .collect();
        if judged.iter().any(|it| self.holders.contains(&it.pid)) {
            judged.retain(|it| self.holders.contains(&it.pid));
        }
        judged
    }

    /// Returns the thread of [`Self::judged`] with the most CPU time. `None`: no thread ran, or none may be seen.
    pub fn busiest(&self) -> Option<&ThreadTimes> {
        let judged = self.judged().into_iter();
        judged.max_by_key(|thread| thread.ran_ns)
    }

    /// Returns whether a thread can have received what was read: that takes some time for each datagram.
    pub fn may_have_read(&self, thread: &ThreadTimes) -> bool {
        /// Less than any receive takes, with batches also.
        const NS_PER_DATAGRAM: u64 = 200;
        self.read > 0 && thread.ran_ns >= NS_PER_DATAGRAM * self.read
    }

    /// Returns the size of the buffer that overflowed, or else of the smallest one, in bytes. `None`: the kernel does
    /// not say.
    pub fn buffer_bytes(&self) -> Option<u32> {
        let sockets = self.sockets.values();
        let smallest =
            |it: &&SocketSeen| (it.drops, Reverse(it.state.buffer_bytes.unwrap_or(u32::MAX)));
        sockets.max_by_key(smallest)?.state.buffer_bytes
    }

    /// Returns how full the fullest buffer was: 1.0 is full. `None`: no size is known.
    pub fn full(&self) -> Option<f64> {
        let all = self.sockets.values().filter_map(SocketSeen::full);
        all.max_by(f64::total_cmp)
    }

    /// Returns the CPU whose softirq received most packets, and its share of all. `None`: none came.
    pub fn softirq_cpu(&self) -> Option<(usize, f64)> {
        greatest(&self.packets_of_cpu)
    }

    /// Returns the CPUs that the program kept busy: 1.0 is all of one CPU.
    pub fn cpus_used(&self) -> f64 {
        let ran: u64 = self.threads.values().map(|thread| thread.ran_ns).sum();
        self.share(ran)
    }

    /// Returns a time of this stretch as a share of it.
    pub fn share(&self, ns: u64) -> f64 {
        ns as f64 / self.length.as_nanos().max(1) as f64
    }
}

impl ThreadTimes {
    /// Returns the times since an earlier look. Without one, the thread began with none.
    pub(super) fn since(mut self, before: Option<&Self>) -> Self {
        let before = |count: fn(&Self) -> u64| before.map_or(0, count);
        self.ran_ns = self.ran_ns.saturating_sub(before(|it| it.ran_ns));
        self.waited_ns = self.waited_ns.saturating_sub(before(|it| it.waited_ns));
        self.runs = self.runs.saturating_sub(before(|it| it.runs));
        // All of it counts for the CPU of the last look.
        self.ran_ns_on.values_mut().for_each(|ns| *ns = self.ran_ns);
        self
    }

    /// Returns the CPU that the thread ran on most, and the share of its time there.
    pub fn main_cpu(&self) -> Option<(usize, f64)> {
        greatest(&self.ran_ns_on)
    }
}

/// Returns the key with the greatest count, and its share of all. `None`: nothing was counted.
fn greatest(counts: &BTreeMap<usize, u64>) -> Option<(usize, f64)> {
    let (&key, &most) = counts.iter().max_by_key(|(_, count)| **count)?;
    let all: u64 = counts.values().sum();
    (most > 0).then(|| (key, most as f64 / all as f64))
}

fn add_each<K: Ord + Clone>(sums: &mut BTreeMap<K, u64>, counts: &BTreeMap<K, u64>) {
    for (key, count) in counts {
        *sums.entry(key.clone()).or_default() += count;
    }
}
