//! What happened to a program's datagrams in a stretch of time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::Program;
use super::threads::{self, Thread};
use crate::sys::files::Root;
use crate::sys::loss_counters::{LossCounters, LossReader};
use crate::sys::loss_places::Layer;
use crate::sys::udp_sockets::UdpSocketState;

/// What happened to a program's datagrams in a stretch of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// Length of the stretch.
    pub length: Duration,
    /// Number of sockets at its end.
    pub sockets: usize,
    /// Datagrams that all programs of the network namespace read from UDP sockets: the kernel does not count them for
    /// each socket.
    pub read: u64,
    /// Datagrams that the program's sockets dropped, for whatever reason.
    pub socket_drops: u64,
    /// Growth of the counters of all loss places, for any program.
    pub lost: LossCounters,
    /// Datagrams that UDP, IP or a firewall dropped for another reason than a full buffer, without those that are for
    /// nobody here every day.
    pub protocol_drops: u64,
    /// Packets that found the backlog of a CPU full, in all network namespaces.
    pub backlog_drops: u64,
    /// Packets lost on the way in, by interface and counter, such as `eth0 rx_missed_errors`: the kernel's counters and
    /// the driver's, of which some contain others. Without those that did not move.
    pub interface_drops: BTreeMap<String, u64>,
    /// The fullest queue that was seen, in bytes.
    pub queued_bytes: u32,
    /// Size of the smallest buffer, in bytes. `None`: the kernel does not say.
    pub buffer_bytes: Option<u32>,
    /// The threads that ran, by their numbers.
    pub threads: BTreeMap<u32, ThreadTimes>,
    /// Packets whose receiving softirq ran on each CPU.
    pub packets_of_cpu: BTreeMap<usize, u64>,
}

/// CPU time of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadTimes {
    /// Name in the kernel.
    pub name: String,
    /// Time on a CPU, in nanoseconds.
    pub ran_ns: u64,
    /// Time in which it waited for a CPU, in nanoseconds.
    pub waited_ns: u64,
    /// Time on each CPU, in nanoseconds: as precise as looks are frequent.
    pub ran_ns_on: BTreeMap<usize, u64>,
}

impl Interval {
    /// Adds a later stretch.
    pub fn add(&mut self, later: &Self) {
        self.length += later.length;
        self.sockets = later.sockets;
        self.read += later.read;
        self.socket_drops += later.socket_drops;
        self.lost.add(&later.lost);
        self.protocol_drops += later.protocol_drops;
        self.backlog_drops += later.backlog_drops;
        add_each(&mut self.interface_drops, &later.interface_drops);
        self.queued_bytes = self.queued_bytes.max(later.queued_bytes);
        self.buffer_bytes = later.buffer_bytes.or(self.buffer_bytes);
        for (id, times) in &later.threads {
            let thread = self.threads.entry(*id).or_default();
            thread.name.clone_from(&times.name);
            thread.ran_ns += times.ran_ns;
            thread.waited_ns += times.waited_ns;
            add_each(&mut thread.ran_ns_on, &times.ran_ns_on);
        }
        add_each(&mut self.packets_of_cpu, &later.packets_of_cpu);
    }

    /// Returns the thread with the most CPU time. `None`: no thread ran, or none may be seen.
    pub fn busiest(&self) -> Option<&ThreadTimes> {
        self.threads.values().max_by_key(|thread| thread.ran_ns)
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

/// Looks at a program again and again.
#[derive(Debug)]
pub struct Observer {
    program: Program,
    root: Root,
    begun: Instant,
    sockets: BTreeMap<u32, UdpSocketState>,
    threads: BTreeMap<u32, Thread>,
    reader: LossReader,
    counters: LossCounters,
    /// What has happened since the last [`Observer::finish`].
    interval: Interval,
}

impl Observer {
    /// Begins to look.
    pub fn new(program: Program) -> Self {
        let root = Root::new("/");
        let mut reader = LossReader::open(&program.namespace);
        let mut observer = Self {
            program,
            root,
            begun: Instant::now(),
            sockets: BTreeMap::new(),
            threads: BTreeMap::new(),
            counters: reader.read(),
            reader,
            interval: Interval::default(),
        };
        observer.look();
        // Drops and CPU time before the first look are not of this watch.
        observer.interval = Interval::default();
        observer
    }

    /// Looks at sockets and threads: tens of microseconds, and more with many threads. Returns false once the program
    /// has closed all its sockets.
    pub fn look(&mut self) -> bool {
        let sockets = self.program.sockets().unwrap_or_default();
        let interval = &mut self.interval;
        interval.sockets = sockets.len();
        interval.buffer_bytes = sockets.iter().filter_map(|it| it.buffer_bytes).min();
        for socket in sockets {
            interval.queued_bytes = interval.queued_bytes.max(socket.queued_bytes);
            // A socket that was opened meanwhile began with none.
            let before = self.sockets.get(&socket.inode).map_or(0, |it| it.drops);
            interval.socket_drops += u64::from(socket.drops.wrapping_sub(before));
            self.sockets.insert(socket.inode, socket);
        }
        if let Some(pid) = self.program.pid {
            let threads = threads::of_process(&self.root, pid);
            for (id, thread) in &threads {
                self.interval.add_thread(*id, thread, self.threads.get(id));
            }
            self.threads = threads;
        }
        self.interval.sockets > 0
    }

    /// Ends the stretch of time that the looks belong to, and begins the next one.
    pub fn finish(&mut self) -> Interval {
        let mut interval = std::mem::take(&mut self.interval);
        let now = self.reader.read();
        interval.count(&self.counters, &now);
        self.counters = now;
        interval.length = self.begun.elapsed();
        self.begun = Instant::now();
        interval
    }

    /// Returns why the kernel's drop reasons cannot be counted. `None`: they are.
    pub fn no_reasons(&self) -> Option<&str> {
        self.reader.no_reasons()
    }

    /// Returns the program.
    pub fn program(&self) -> &Program {
        &self.program
    }
}

impl Interval {
    fn add_thread(&mut self, id: u32, now: &Thread, before: Option<&Thread>) {
        let since = |count: fn(&Thread) -> u64| {
            // A thread that was begun meanwhile began with none.
            let before = before.map_or(0, count);
            count(now).saturating_sub(before)
        };
        let ran_ns = since(|it| it.ran_ns);
        let thread = self.threads.entry(id).or_default();
        thread.name.clone_from(&now.name);
        thread.ran_ns += ran_ns;
        thread.waited_ns += since(|it| it.waited_ns);
        *thread.ran_ns_on.entry(now.cpu).or_default() += ran_ns;
    }

    fn count(&mut self, before: &LossCounters, now: &LossCounters) {
        self.lost = now.since(before);
        let counter = |name: &str| self.lost.counters.get(name).copied().unwrap_or(0);
        self.read = counter("UdpInDatagrams") + counter("Udp6InDatagrams");
        self.backlog_drops = counter("softnet dropped");
        let losses = self.lost.losses().into_iter();
        let by_protocols = losses.filter(|loss| {
            let is_full = loss.place.counters == ["UdpRcvbufErrors"];
            let of_protocols = Layer::Ip <= loss.place.layer && loss.place.layer <= Layer::Socket;
            of_protocols && !is_full && !loss.place.is_common
        });
        self.protocol_drops = by_protocols.map(|loss| loss.packets).sum();
        let pairs = before.softnet.iter().zip(&now.softnet);
        let packets = pairs.map(|(before, now)| now.processed.wrapping_sub(before.processed));
        self.packets_of_cpu = packets.map(u64::from).enumerate().collect();
        let is_for_others =
            |name: &str| name.ends_with(" rx_otherhost_dropped") || name.ends_with(" rx_nohandler");
        let moved = self.lost.interfaces.iter();
        let moved = moved.filter(|(name, lost)| **lost > 0 && !is_for_others(name));
        self.interface_drops = moved.map(|(name, lost)| (name.clone(), *lost)).collect();
    }
}
