//! Readings at one edge of a window: everything that is read when it opens, and again when it closes.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::data::{Counts, ThreadSample};
use crate::sys::clock::{self, Switches};
use crate::sys::kernel_drops::Discards;
use crate::sys::run_queue::{self, CpuTaken};
use crate::trial::sockets::QueueProbes;
use crate::trial::threads::BenchThreads;
use crate::trial::threads::bench_thread::BenchThread;

/// Readings at one edge of a window.
pub(crate) struct Snapshot {
    pub(crate) at: Instant,
    /// Counts of the threads and sockets of this process.
    pub(crate) counts: Counts,
    /// The kernel's discards just before and just after the counts: reading them takes longer than a datagram. If they
    /// do not move, one reading outside of the window serves as both.
    pub(crate) discards: [Discards; 2],
    /// True if the discards had moved between the start of the run and the opening of the window.
    pub(crate) discards_move: bool,
    /// Time that these readings took.
    took: Duration,
    /// CPU time of the process without the coordinator thread, and that of the coordinator thread, in nanoseconds.
    pub(crate) cpu_ns: Option<(u64, u64)>,
    /// Counts of each thread so far, senders first, workers last.
    pub(crate) threads: Vec<ThreadSample>,
    /// Datagrams received over each flow so far: see [`BenchThreads::flow_packets`].
    pub(crate) flow_packets: Vec<u64>,
}

/// Sources of a snapshot.
pub(crate) struct SnapshotReader<'a> {
    pub(crate) threads: &'a BenchThreads,
    pub(crate) probes: &'a QueueProbes,
}

impl SnapshotReader<'_> {
    /// Opens the window. Slow readings come first, so that they lie outside of it. `start` are the kernel's discards
    /// before the run.
    pub(crate) fn opening(&self, start: &Discards) -> anyhow::Result<Snapshot> {
        let slow = slow(self.threads);
        let discards = Discards::read();
        let snapshot = self.counters(discards != *start)?;
        Ok(snapshot.completed(discards, slow))
    }

    /// Closes the window. Slow readings come last, so that they lie outside of it.
    pub(crate) fn closing(&self, discards_move: bool) -> anyhow::Result<Snapshot> {
        let snapshot = self.counters(discards_move)?;
        Ok(snapshot.completed(Discards::read(), slow(self.threads)))
    }

    /// Reads everything at about the same time, and repeats that if the coordinator thread was held up in between.
    fn counters(&self, discards_move: bool) -> anyhow::Result<Snapshot> {
        const TRIES: usize = 4;
        // Reading the drops of a socket takes a fraction of a microsecond, at both edges alike.
        let held_up = Duration::from_millis(1) + Duration::from_micros(1) * self.probes.count();
        let mut snapshot = self.read(discards_move)?;
        for _ in 1..TRIES {
            if snapshot.took < held_up {
                break;
            }
            snapshot = self.read(discards_move)?;
        }
        Ok(snapshot)
    }

    fn read(&self, discards_move: bool) -> anyhow::Result<Snapshot> {
        let threads = self.threads;
        // On a slow CPU, that reading would keep the window open for milliseconds, and look like a coordinator thread
        // that was held up.
        let discards = || discards_move.then(Discards::read).unwrap_or_default();
        let discards_before = discards();
        let at = Instant::now();
        // A datagram is sent before it is dropped or received. Reading in the opposite order keeps the number of
        // datagrams in flight from looking negative.
        let received = threads.all.iter().map(BenchThread::received_so_far);
        let mut readings: Vec<ThreadSample> = received.collect();
        let flow_packets = threads.flow_packets();
        let dropped_socket = self.probes.drops()?;
        for (reading, thread) in readings.iter_mut().zip(&threads.all) {
            thread.meter.refresh();
            // A refused datagram is counted as refused before it is counted as sent.
            reading.refused_packets = thread.meter.refusals.packets();
            reading.sent_packets = thread.meter.sent.read();
            reading.would_blocks = thread.meter.would_blocks.load(Ordering::Relaxed);
            reading.errors = thread.meter.errors.load(Ordering::Relaxed);
            reading.cpu_ns = thread.cpu_ns();
            reading.waited_ns = thread.waited_ns();
        }
        let cpu_ns = clock::process_cpu_ns().zip(clock::own_cpu_ns());
        let cpu_ns = cpu_ns.map(|(all, own)| (all.saturating_sub(own), own));
        Ok(Snapshot {
            at,
            counts: Counts {
                sent: readings.iter().map(|thread| thread.sent_packets).sum(),
                refused: readings.iter().map(|thread| thread.refused_packets).sum(),
                received: readings.iter().map(|thread| thread.received_packets).sum(),
                dropped_socket,
            },
            discards: [discards_before, discards()],
            discards_move,
            took: at.elapsed(),
            cpu_ns,
            threads: readings,
            flow_packets,
        })
    }
}

impl Snapshot {
    /// Adds what was read outside of the window. `discards` are used if they do not move.
    fn completed(mut self, discards: Discards, slow: Vec<SlowReadings>) -> Self {
        if !self.discards_move {
            self.discards = [discards.clone(), discards];
        }
        for (reading, (switches, taken)) in self.threads.iter_mut().zip(slow) {
            reading.voluntary_switches = switches.map(|switches| switches.voluntary);
            reading.involuntary_switches = switches.map(|switches| switches.involuntary);
            reading.taken = taken;
        }
        self
    }
}

/// Readings of a thread that are slow.
type SlowReadings = (Option<Switches>, Option<CpuTaken>);

fn slow(threads: &BenchThreads) -> Vec<SlowReadings> {
    let cpus = run_queue::cpus_taken();
    let taken_of = |thread: &BenchThread| {
        let pinned = thread.pinned_cpu()?;
        let (_, taken) = cpus.iter().find(|(cpu, _)| *cpu == pinned)?;
        Some(*taken)
    };
    let threads = threads.all.iter();
    let slow = threads.map(|thread| (thread.switches(), taken_of(thread)));
    slow.collect()
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;
    use crate::engines;
    use crate::host::placement::Placement;
    use crate::results::row::tests::case;
    use crate::trial::messages::spec::EndRole;

    #[test]
    fn discards_that_rest_are_not_read_while_the_window_is_open() {
        let case = case();
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback works");
        let probe = (engines::reference().queue_probe)(&socket);
        let probes =
            QueueProbes::new([probe], std::iter::empty()).expect("the kernel says its drops");
        let placement = Placement::unpinned(case.threads);
        let engines = engines::of(&case).expect("std is in every build");
        let threads = BenchThreads::assemble(&case, engines, EndRole::Both, Vec::new(), &placement);
        let threads = threads.expect("there are none");
        let reader = SnapshotReader {
            threads: &threads,
            probes: &probes,
        };
        let discards = |discards_move| {
            let snapshot = reader.counters(discards_move);
            snapshot.expect("the kernel says its drops").discards
        };
        assert_eq!(discards(false), [Discards::default(), Discards::default()]);
        assert!(discards(true).iter().all(|it| *it != Discards::default()));
    }
}
