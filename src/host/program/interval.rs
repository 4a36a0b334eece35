//! Counts of a program's datagrams in a stretch of time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::Program;
use super::owners::Owner;
use super::threads::{self, Thread};
use crate::sys::files::Root;
use crate::sys::loss_counters::{LossCounters, LossReader};
use crate::sys::loss_places::Layer;
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
    /// The threads that ran, by their numbers.
    pub threads: BTreeMap<u32, ThreadTimes>,
    /// Packets whose receiving softirq ran on each CPU.
    pub packets_of_cpu: BTreeMap<usize, u64>,
}

/// Observations of a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketSeen {
    /// Address that it is bound to.
    pub local: SocketAddr,
    /// It takes no IPv4 (`IPV6_V6ONLY`).
    pub ipv6_only: bool,
    /// Its fullest queue, in bytes.
    pub queued_bytes: u32,
    /// Size of its buffer, in bytes. `None`: the kernel does not say.
    pub buffer_bytes: Option<u32>,
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
const NEARLY_FULL: f64 = 0.7;

impl SocketSeen {
    /// Returns how full its buffer was: 1.0 is full. `None`: its size is unknown.
    pub fn full(&self) -> Option<f64> {
        let buffer = self.buffer_bytes?.max(1);
        Some(f64::from(self.queued_bytes) / f64::from(buffer))
    }
}

/// CPU time of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadTimes {
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
            let sum = self.sockets.entry(*inode).or_insert_with(|| SocketSeen {
                drops: 0,
                looks: 0,
                full_looks: 0,
                ..socket.clone()
            });
            sum.queued_bytes = sum.queued_bytes.max(socket.queued_bytes);
            sum.buffer_bytes = socket.buffer_bytes.or(sum.buffer_bytes);
            sum.drops += socket.drops;
            sum.looks += socket.looks;
            sum.full_looks += socket.full_looks;
            sum.owners.extend(&socket.owners);
        }
        self.read += later.read;
        self.socket_drops += later.socket_drops;
        self.lost.add(&later.lost);
        self.protocol_drops += later.protocol_drops;
        self.backlog_drops += later.backlog_drops;
        add_each(&mut self.interface_drops, &later.interface_drops);
        for (id, times) in &later.threads {
            let thread = self.threads.entry(*id).or_default();
            thread.name.clone_from(&times.name);
            thread.process.clone_from(&times.process);
            thread.pid = times.pid;
            thread.ran_ns += times.ran_ns;
            thread.waited_ns += times.waited_ns;
            thread.runs += times.runs;
            add_each(&mut thread.ran_ns_on, &times.ran_ns_on);
        }
        add_each(&mut self.packets_of_cpu, &later.packets_of_cpu);
    }

    /// Returns the thread with the most CPU time, of the processes whose sockets dropped something, or else of all.
    /// `None`: no thread ran, or none may be seen.
    pub fn busiest(&self) -> Option<&ThreadTimes> {
        let dropping = self.sockets.values().filter(|socket| socket.drops > 0);
        let owners: BTreeSet<u32> = dropping.flat_map(|it| it.owners.iter().copied()).collect();
        let threads = self.threads.values();
        let judged = threads.filter(|it| owners.is_empty() || owners.contains(&it.pid));
        judged.max_by_key(|thread| thread.ran_ns)
    }

    /// Returns the busiest thread if it can have received what was read: that takes some time for each datagram.
    pub fn receiver(&self) -> Option<&ThreadTimes> {
        /// Less than any receive takes, with batches also.
        const NS_PER_DATAGRAM: u64 = 200;
        let busiest = self.busiest()?;
        let received = self.read > 0 && busiest.ran_ns >= NS_PER_DATAGRAM * self.read;
        received.then_some(busiest)
    }

    /// Returns the size of the buffer that overflowed, or else of the smallest one, in bytes. `None`: the kernel does
    /// not say.
    pub fn buffer_bytes(&self) -> Option<u32> {
        let sockets = self.sockets.values();
        let smallest = |it: &&SocketSeen| (it.drops, Reverse(it.buffer_bytes.unwrap_or(u32::MAX)));
        sockets.max_by_key(smallest)?.buffer_bytes
    }

    /// Returns how full the fullest buffer was: 1.0 is full. `None`: no size is known.
    pub fn full(&self) -> Option<f64> {
        let all = self.sockets.values().filter_map(SocketSeen::full);
        all.max_by(f64::total_cmp)
    }

    /// Returns whether the buffer that overflowed was nearly full most times that it was looked at.
    pub fn is_mostly_full(&self) -> bool {
        let dropping = self.sockets.values().max_by_key(|socket| socket.drops);
        dropping.is_some_and(|socket| 2 * socket.full_looks > socket.looks)
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
    /// Counts since the last [`Observer::finish`].
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
        observer.forget();
        observer
    }

    /// Begins anew: forgets drops and CPU time so far. Counters are read before the sockets here and after them by
    /// [`Observer::finish`], so that no drop is without the counter that says why.
    pub fn forget(&mut self) {
        self.finish();
        self.look();
        self.interval = Interval::default();
    }

    /// Looks at sockets and threads: tens of microseconds, and more with many threads. Returns false once the program
    /// has closed all its sockets.
    pub fn look(&mut self) -> bool {
        let sockets = self.program.sockets().unwrap_or_default();
        let are_known = sockets
            .iter()
            .all(|it| self.sockets.contains_key(&it.inode));
        if !are_known {
            self.program.find_owners(&sockets);
        }
        for socket in &sockets {
            // A socket that was opened meanwhile began with none.
            let before = self.sockets.get(&socket.inode).map_or(0, |it| it.drops);
            let drops = u64::from(socket.drops.wrapping_sub(before));
            self.interval
                .add_socket(socket, drops, &self.program.owners);
            self.sockets.insert(socket.inode, socket.clone());
        }
        let mut threads = BTreeMap::new();
        for owner in &self.program.owners {
            let process = self.program.name_of(owner);
            for (id, thread) in threads::of_process(&self.root, owner.pid) {
                let times = self.interval.add_thread(id, &thread, self.threads.get(&id));
                times.process.clone_from(&process);
                times.pid = owner.pid;
                threads.insert(id, thread);
            }
        }
        self.threads = threads;
        !sockets.is_empty()
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
    fn add_socket(&mut self, socket: &UdpSocketState, drops: u64, owners: &[Owner]) {
        let owners = owners
            .iter()
            .filter(|owner| owner.inodes.contains(&socket.inode));
        let seen = self
            .sockets
            .entry(socket.inode)
            .or_insert_with(|| SocketSeen {
                local: socket.local,
                ipv6_only: socket.ipv6_only,
                queued_bytes: 0,
                buffer_bytes: None,
                drops: 0,
                looks: 0,
                full_looks: 0,
                owners: BTreeSet::new(),
            });
        seen.queued_bytes = seen.queued_bytes.max(socket.queued_bytes);
        seen.buffer_bytes = socket.buffer_bytes;
        seen.drops += drops;
        seen.looks += 1;
        let full = socket.buffer_bytes.map(|it| NEARLY_FULL * f64::from(it));
        let is_full = full.is_some_and(|full| f64::from(socket.queued_bytes) >= full);
        seen.full_looks += u64::from(is_full);
        seen.owners.extend(owners.map(|owner| owner.pid));
        self.socket_drops += drops;
    }

    fn add_thread(&mut self, id: u32, now: &Thread, before: Option<&Thread>) -> &mut ThreadTimes {
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
        thread.runs += since(|it| it.runs);
        *thread.ran_ns_on.entry(now.cpu).or_default() += ran_ns;
        thread
    }

    fn count(&mut self, before: &LossCounters, now: &LossCounters) {
        self.lost = now.since(before);
        let counter = |name: &str| self.lost.counters.get(name).copied().unwrap_or(0);
        self.read = counter("UdpInDatagrams") + counter("Udp6InDatagrams");
        self.backlog_drops = counter("softnet dropped");
        let losses = self.lost.losses().into_iter();
        let by_protocols = losses.filter(|loss| {
            (Layer::Ip..Layer::Socket).contains(&loss.place.layer) && !loss.place.is_common
        });
        self.protocol_drops = by_protocols.map(|loss| loss.packets).sum();
        let pairs = before.softnet.iter().zip(&now.softnet);
        let packets = pairs.map(|(before, now)| now.processed.wrapping_sub(before.processed));
        self.packets_of_cpu = packets.map(u64::from).enumerate().collect();
        let no_losses = [" rx_otherhost_dropped", " rx_nohandler", " xdp_generic"];
        let is_for_others = |name: &str| no_losses.iter().any(|it| name.ends_with(it));
        let moved = self.lost.interfaces.iter();
        let moved = moved.filter(|(name, lost)| **lost > 0 && !is_for_others(name));
        self.interface_drops = moved.map(|(name, lost)| (name.clone(), *lost)).collect();
    }
}
