//! Looks at a program again and again, and adds up what happened between.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::Program;
use super::interval::{Interval, SocketSeen, ThreadTimes};
use super::owners;
use crate::sys::loss_counters::{LossCounters, LossReader};
use crate::sys::loss_places::Layer;
use crate::sys::nic::is_inward;

/// Time between two searches for the processes that have the sockets open: they take milliseconds.
const BETWEEN_SEARCHES: Duration = Duration::from_secs(1);
/// Attempts to look at sockets and counters at the same moment. On a busy machine, they drop something between.
const TRIES: u32 = 10;

/// Looks at a program again and again.
#[derive(Debug)]
pub struct Observer {
    program: Program,
    begun: Instant,
    /// Drops of each socket so far.
    drops: BTreeMap<u32, u32>,
    /// Times of each thread so far.
    threads: BTreeMap<u32, ThreadTimes>,
    /// When this process began, in the unit of [`owners::begun`].
    began: Option<u64>,
    /// Time of the last search for processes that have the sockets open.
    searched: Instant,
    reader: LossReader,
    counters: LossCounters,
    /// Counts since the last [`Observer::finish`].
    interval: Interval,
}

impl Observer {
    /// Begins to look.
    pub fn new(program: Program) -> Self {
        let mut reader = LossReader::open(&program.namespace);
        let mut observer = Self {
            program,
            begun: Instant::now(),
            drops: BTreeMap::new(),
            threads: BTreeMap::new(),
            began: owners::begun(std::process::id()),
            searched: Instant::now(),
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
        for _ in 0..TRIES {
            self.finish();
            self.look();
            self.interval = Interval::default();
            // What came between both looks would be of nobody.
            if self.reader.read().of_sockets() == self.counters.of_sockets() {
                break;
            }
        }
    }

    /// Looks at sockets and threads: tens of microseconds, and more with many threads. Once a second, the processes
    /// that have the sockets are searched, as sockets are inherited and handed over. Returns false once the program has
    /// closed all its sockets.
    pub fn look(&mut self) -> bool {
        let sockets = self.program.sockets().unwrap_or_default();
        let are_known = sockets.iter().all(|it| self.drops.contains_key(&it.inode));
        let is_due = self.searched.elapsed() >= BETWEEN_SEARCHES && !self.program.is_this();
        if !are_known || is_due {
            self.program.find_owners(&sockets);
            self.searched = Instant::now();
        }
        for socket in &sockets {
            // A socket that was opened meanwhile began with none.
            let before = self.drops.insert(socket.inode, socket.drops).unwrap_or(0);
            let drops = u64::from(socket.drops.wrapping_sub(before));
            self.interval.socket_drops += drops;
            let owners = self.program.owners.iter();
            let owners = owners.filter(|it| it.inodes.contains(&socket.inode));
            let owners = owners.map(|owner| owner.pid).collect();
            let seen = SocketSeen::new(socket.clone(), drops, owners);
            self.interval.add_socket(socket.inode, seen);
        }
        let mut threads = BTreeMap::new();
        for owner in &self.program.owners {
            // What an older process did before it had the socket does not count.
            let is_known = self.threads.values().any(|it| it.pid == owner.pid);
            let is_new = !is_known && owners::begun(owner.pid) < self.began;
            for mut thread in owners::threads(owner.pid) {
                thread.process = self.program.name_of(owner);
                let before = self.threads.get(&thread.id);
                let before = if is_new { Some(&thread) } else { before };
                self.interval.add_thread(thread.clone().since(before));
                threads.insert(thread.id, thread);
            }
        }
        self.threads = threads;
        let owners = self.program.owners.iter();
        self.interval.holders = owners.map(|owner| owner.pid).collect();
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
        let no_losses = [" rx_otherhost_dropped", " rx_nohandler"];
        let is_for_others = |name: &str| no_losses.iter().any(|it| name.ends_with(it));
        let is_own = |name: &str| name.split_once(' ').is_some_and(|(_, it)| is_inward(it));
        let moved = self.lost.interfaces.iter();
        let moved = moved.filter(|(name, lost)| **lost > 0 && is_own(name));
        let moved = moved.filter(|(name, _)| !is_for_others(name));
        self.interface_drops = moved.map(|(name, lost)| (name.clone(), *lost)).collect();
    }
}
