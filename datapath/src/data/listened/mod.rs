//! Counts of a listener about datagrams that it did not send. All of it is bounded in memory, and nothing allocates
//! after the start.

mod backlog;
mod clock;
mod silences;
mod sizes;
mod sources;

use std::net::SocketAddr;

use super::histogram::{BUCKETS, Histogram, bucket_of};
use super::sequence::SequenceCounts;
use super::sequence_field::Numbered;

pub use self::backlog::Backlog;
use self::clock::SteadyClock;
pub use self::silences::{Bursts, Gap, Silences};
pub use self::sizes::Sizes;
pub use self::sources::{Source, Sources};

/// Silences that a window and the run keep with their moments.
const KEPT_SILENCES: usize = 20;

/// A datagram that came.
#[derive(Clone, Copy, Debug)]
pub struct Heard<'a> {
    /// Address of the sender. `None`: the kernel did not tell.
    pub source: Option<SocketAddr>,
    /// Number of the interface that it came in on. 0: the kernel did not tell.
    pub interface: u32,
    /// Length of the payload in bytes.
    pub bytes: u32,
    /// First bytes of the payload: as many as the sequence number needs.
    pub payload: &'a [u8],
    /// Time of arrival since 1970, in nanoseconds: by the kernel, or of the reading.
    pub arrived_ns: u64,
    /// Datagrams that the socket dropped since the one before.
    pub dropped: u32,
}

/// Counts of a part of the run: a line of output.
#[derive(Clone, Debug, Default)]
pub struct ListenWindow {
    /// Time of its beginning since 1970, in nanoseconds.
    pub opened_ns: u64,
    /// Length in nanoseconds.
    pub length_ns: u64,
    /// Datagrams that were read.
    pub datagrams: u64,
    /// Bytes of their payload.
    pub bytes: u64,
    /// Different sources, of those that are known by name.
    pub sources: u32,
    /// Datagrams of other sources: there were too many.
    pub of_other_sources: u64,
    /// Gaps of at least `--gap`.
    pub silences: u64,
    /// The first 20 of these.
    pub first_silences: Vec<Gap>,
    /// The longest gap that ended in it.
    pub longest_gap: Option<Gap>,
    /// Counts of numbered datagrams of all sources whose numbers are believed.
    pub sequence: SequenceCounts,
    /// Sources of this window whose numbers are not believed.
    pub doubted_sources: u32,
    /// Datagrams without a number where one is expected.
    pub unnumbered: u64,
    /// Datagrams without a time stamp of the kernel.
    pub unstamped: u64,
    /// Datagrams that the socket dropped.
    pub socket_drops: u64,
    /// Largest memory of the receive queue that was seen, in bytes.
    pub queued_bytes: u32,
    /// CPU time of the listening thread, in nanoseconds.
    pub cpu_ns: u64,
    /// Times that somebody set the clock of this machine.
    pub clock_sets: u32,
    /// Change of the clock by these, in nanoseconds.
    pub clock_set_ns: i64,
    /// Gaps in each bucket of the histogram.
    gaps: Box<[u64]>,
}

impl ListenWindow {
    /// Creates a window without datagrams. Only this allocates.
    pub fn new() -> Self {
        Self {
            gaps: vec![0; BUCKETS].into(),
            first_silences: Vec::with_capacity(KEPT_SILENCES),
            ..Self::default()
        }
    }

    /// Returns the histogram of gaps between arrivals.
    pub fn gaps(&self) -> Histogram {
        Histogram::of_counts(self.gaps.iter().copied())
    }

    /// Clears all counts and keeps the memory.
    pub fn clear(&mut self) {
        let mut gaps = std::mem::take(&mut self.gaps);
        gaps.fill(0);
        let mut first_silences = std::mem::take(&mut self.first_silences);
        first_silences.clear();
        *self = Self {
            first_silences,
            gaps,
            ..Self::default()
        };
    }
}

/// Counts of the whole run that are not sums over its windows.
#[derive(Clone, Debug)]
pub struct Listened {
    /// Sequence number that datagrams are expected to have.
    pub numbered: Option<Numbered>,
    /// Sources by name.
    pub sources: Sources,
    /// Lengths of the payload.
    pub sizes: Sizes,
    /// Gaps of at least `--gap`, and the bursts between them.
    pub silences: Silences,
    /// Time of the last arrival since 1970, in nanoseconds.
    pub last_ns: Option<u64>,
    clock: SteadyClock,
    /// Number of the current window.
    window: u64,
}

impl Listened {
    /// Creates the counts of a run. `shortest_silence_ns`: `--gap`.
    pub fn new(numbered: Option<Numbered>, shortest_silence_ns: Option<u64>) -> Self {
        Self {
            numbered,
            sources: Sources::new(numbered),
            sizes: Sizes::new(),
            silences: Silences::new(shortest_silence_ns),
            last_ns: None,
            clock: SteadyClock::default(),
            window: 0,
        }
    }

    /// Begins a window.
    pub fn begin_window(&mut self) {
        self.window += 1;
    }

    /// Adds to the current window what its numbers tell.
    pub fn close_window(&mut self, window: &mut ListenWindow) {
        self.sources.close_window(self.window, window);
    }

    /// Enters the end of the run, before the last window is closed, and the drops of the socket after the last
    /// datagram.
    pub fn finish(&mut self, dropped_after: u64) {
        self.sources.finish(dropped_after);
    }

    /// Enters that somebody set the clock by which arrivals are stamped, by this many nanoseconds.
    pub fn set_clock(&mut self, by_ns: i64) {
        self.clock.set(by_ns);
    }

    /// Counts a datagram, here and in its window.
    pub fn enter(&mut self, heard: &Heard, window: &mut ListenWindow) {
        window.datagrams += 1;
        window.bytes += u64::from(heard.bytes);
        self.sizes.enter(heard.bytes);
        let (steady_ns, ns) = self.clock.arrived(heard.arrived_ns);
        if let Some((began_ns, ns)) = self.last_ns.replace(heard.arrived_ns).zip(ns) {
            let gap = Gap {
                began_ns,
                ns,
                dropped: heard.dropped,
            };
            window.gaps[bucket_of(gap.ns)] += 1;
            window.longest_gap = Gap::longer(window.longest_gap, gap);
            if self.silences.enter_gap(gap) {
                window.silences += 1;
                if window.first_silences.len() < KEPT_SILENCES {
                    window.first_silences.push(gap);
                }
            }
        }
        self.silences.enter_datagram(heard);
        let number = self.numbered.map(|numbered| numbered.read(heard.payload));
        window.unnumbered += u64::from(number == Some(None));
        let others = self.sources.others;
        let number = number.flatten();
        let is_first = self.sources.enter(heard, steady_ns, number, self.window);
        window.sources += u32::from(is_first);
        window.of_other_sources += self.sources.others - others;
    }
}

#[cfg(test)]
mod tests;
