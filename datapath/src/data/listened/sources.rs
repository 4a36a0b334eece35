//! Senders by their addresses and interfaces.

use std::net::SocketAddr;

use super::{Gap, Heard, ListenWindow};
use crate::data::sequence::{Arrival, Doubt, SequenceCounts, SequenceTracker, Series};
use crate::data::sequence_field::Numbered;

/// A sender on an interface, or one of its RTP streams.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Address. `None`: the kernel did not tell. The port is 0 if it changes with each datagram.
    pub address: Option<SocketAddr>,
    /// Number of the interface that it came in on. 0: the kernel did not tell.
    pub interface: u32,
    /// Synchronization source of RTP, else 0.
    pub stream: u32,
    /// Datagrams that were read.
    pub datagrams: u64,
    /// Bytes of their payload.
    pub bytes: u64,
    /// Longest time between two of its datagrams.
    pub longest_gap: Option<Gap>,
    tracker: Option<SequenceTracker>,
    /// Datagrams with a number, and the last number.
    numbered: u64,
    last_number: u64,
    /// Drops of the socket before its last number.
    drops: u64,
    /// Time of its first arrival by a clock that nobody sets.
    first_ns: u64,
    /// Time of its last arrival: since 1970, and by a clock that nobody sets.
    last_ns: (u64, u64),
    /// Number of the last window in which it sent something.
    window: u64,
    /// Counts of its numbers in all windows that are over.
    counted: SequenceCounts,
}

/// The first senders by their addresses, and all others as one.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    numbered: Option<Numbered>,
    known: Vec<Source>,
    /// Place of the sender of the last datagram: the next one is mostly of the same.
    last: usize,
    /// Datagrams of all other senders. Their numbers and gaps are not looked at.
    pub others: u64,
    /// Drops of the socket since the first datagram.
    drops: u64,
}

/// Senders that are counted each by itself.
const KEPT_SOURCES: usize = 64;
/// Ports of one address, each with a single datagram, from which on it is a sender that changes its port: if their
/// numbers follow each other.
const PORTS: usize = 16;

impl Source {
    fn new(heard: &Heard, stream: u32, numbered: Option<Numbered>) -> Self {
        Self {
            address: heard.source,
            interface: heard.interface,
            stream,
            tracker: numbered.map(|numbered| SequenceTracker::new(numbered.bits())),
            ..Self::default()
        }
    }

    /// Returns its numbers. `None`: it sent none.
    ///
    /// # Errors
    /// The inner error is the reason for which its losses cannot be known.
    pub fn series(&self) -> Option<Result<Series, Doubt>> {
        let tracker = self.tracker.as_ref().filter(|_| self.numbered > 0)?;
        Some(tracker.series())
    }

    /// Returns the time of its last datagram since 1970 and the time from then to the end, in nanoseconds, if it has
    /// sent nothing for much longer than usual: ten of its gaps, its longest one and a second.
    pub fn silent_since(&self, ended_ns: u64) -> Option<(u64, u64)> {
        const SHORTEST_NS: u64 = 1_000_000_000;
        let (last_ns, steady_ns) = self.last_ns;
        let usual_ns = steady_ns.saturating_sub(self.first_ns) / (self.datagrams - 1).max(1);
        let longest_ns = self.longest_gap?.ns;
        let silent_ns = ended_ns.saturating_sub(last_ns);
        let limit_ns = SHORTEST_NS.max(10 * usual_ns).max(longest_ns);
        (silent_ns > limit_ns).then_some((last_ns, silent_ns))
    }

    /// Returns whether each of its datagrams comes from another port.
    pub fn changes_port(&self) -> bool {
        self.address.is_some_and(|address| address.port() == 0)
    }

    fn is_it(&self, heard: &Heard, stream: u32) -> bool {
        let is_same =
            self.address == heard.source || self.changes_port() && self.has_ip_of(heard.source);
        is_same && self.interface == heard.interface && self.stream == stream
    }

    /// Returns whether all its datagrams have the same number.
    fn has_one_number(&self) -> bool {
        let tracker = self.tracker.as_ref();
        let received = tracker.map_or(0, |it| it.counts().received);
        self.numbered == self.datagrams && received == 1
    }

    fn has_ip_of(&self, other: Option<SocketAddr>) -> bool {
        self.address.map(|it| it.ip()) == other.map(|it| it.ip())
    }

    /// Enters a datagram. `arrived_ns`: since 1970, and by a clock that nobody sets.
    fn enter(&mut self, arrived_ns: (u64, u64), number: Option<u64>, drops: u64) {
        if self.datagrams > 0 {
            let (began_ns, last_ns) = self.last_ns;
            let gap = Gap {
                began_ns,
                ns: arrived_ns.1.saturating_sub(last_ns),
                // Which sender they were of is not known.
                dropped: 0,
            };
            self.longest_gap = Gap::longer(self.longest_gap, gap);
        } else {
            self.first_ns = arrived_ns.1;
        }
        self.last_ns = arrived_ns;
        self.datagrams += 1;
        let Some((tracker, number)) = self.tracker.as_mut().zip(number) else {
            return;
        };
        let dropped = if self.numbered > 0 {
            drops - self.drops
        } else {
            0
        };
        tracker.enter(Arrival {
            number,
            arrived_ns: arrived_ns.1,
            dropped,
        });
        self.numbered += 1;
        self.last_number = number;
        self.drops = drops;
    }
}

impl Sources {
    pub(super) fn new(numbered: Option<Numbered>) -> Self {
        Self {
            numbered,
            known: Vec::with_capacity(KEPT_SOURCES),
            ..Self::default()
        }
    }

    /// Enters a datagram, with its arrival by a clock that nobody sets, its stream and its number. Returns whether it
    /// is the first one of its sender in a window.
    pub(super) fn enter(
        &mut self,
        heard: &Heard,
        steady_ns: u64,
        number: Option<(u32, u64)>,
        window: u64,
    ) -> bool {
        self.drops += u64::from(heard.dropped);
        let stream = number.map_or(0, |(stream, _)| stream);
        let Some(at) = self.find(heard, stream) else {
            self.others += 1;
            return false;
        };
        self.last = at;
        let source = &mut self.known[at];
        source.bytes += u64::from(heard.bytes);
        let number = number.map(|(_, number)| number);
        source.enter((heard.arrived_ns, steady_ns), number, self.drops);
        std::mem::replace(&mut source.window, window) != window
    }

    /// Returns the place of a sender, which is new if need be. `None`: there are too many.
    fn find(&mut self, heard: &Heard, stream: u32) -> Option<usize> {
        let is_it = |source: &Source| source.is_it(heard, stream);
        if self.known.get(self.last).is_some_and(is_it) {
            return Some(self.last);
        }
        if let Some(at) = self.known.iter().position(is_it) {
            return Some(at);
        }
        if let Some(at) = self.merge_ports(heard, stream) {
            return Some(at);
        }
        if self.known.len() == KEPT_SOURCES {
            return None;
        }
        self.known.push(Source::new(heard, stream, self.numbered));
        Some(self.known.len() - 1)
    }

    /// Makes one sender of many ports of one address whose numbers follow each other, and returns its place.
    fn merge_ports(&mut self, heard: &Heard, stream: u32) -> Option<usize> {
        let is_port = |it: &Source| {
            let is_single = it.has_one_number() && it.stream == stream;
            is_single && it.interface == heard.interface && it.has_ip_of(heard.source)
        };
        let numbers = self
            .known
            .iter()
            .filter(|it| is_port(it))
            .map(|it| it.last_number);
        let pairs = numbers.clone().zip(numbers.clone().skip(1));
        let following = pairs
            .filter(|(one, next)| one.wrapping_add(1) == *next)
            .count();
        if numbers.count() < PORTS || 2 * following < PORTS {
            return None;
        }
        let at = self.known.iter().position(is_port)?;
        let (before, after) = self.known.split_at_mut(at + 1);
        let first = &mut before[at];
        for port in after.iter().filter(|it| is_port(it)) {
            first.bytes += port.bytes;
            for _ in 0..port.datagrams {
                first.enter(port.last_ns, Some(port.last_number), port.drops);
            }
        }
        let mut place = 0;
        self.known.retain(|it| {
            place += 1;
            place <= at + 1 || !is_port(it)
        });
        self.known[at].address.as_mut()?.set_port(0);
        Some(at)
    }

    /// Adds to a window what the numbers of all sources tell.
    pub(super) fn close_window(&mut self, number: u64, window: &mut ListenWindow) {
        for source in &mut self.known {
            let Some(tracker) = &source.tracker else {
                continue;
            };
            let counts = tracker.counts();
            let new = counts - std::mem::replace(&mut source.counted, counts);
            match source.series() {
                Some(Ok(_)) => window.sequence += new,
                Some(Err(_)) if source.window == number => window.doubted_sources += 1,
                _ => {}
            }
        }
    }

    pub(super) fn finish(&mut self, dropped_after: u64) {
        for source in &mut self.known {
            if let Some(tracker) = &mut source.tracker {
                tracker.finish(self.drops - source.drops + dropped_after);
            }
        }
    }

    /// Returns the senders in the order of their first datagrams: the first 64.
    pub fn known(&self) -> &[Source] {
        &self.known
    }

    /// Returns whether each drop of the socket between the first and the last datagram has a missing number of the same
    /// time, and can have no other. Then those are the dropped ones; else some of them may have been lost on the way.
    pub fn drops_are_matched(&self) -> bool {
        let (mut missing, mut matched, mut late) = (0, 0, 0);
        for source in &self.known {
            let Some(Ok(series)) = source.series() else {
                return self.drops == 0;
            };
            if source.numbered < source.datagrams || series.counts.duplicates > 0 {
                return self.drops == 0;
            }
            missing += series.counts.missing;
            matched += series.matched_drops;
            late += series.counts.late;
        }
        // Of two sources, or of late datagrams, one may have been dropped and another one lost at the same time.
        let is_one = self.known.len() == 1 && late == 0 || u64::try_from(missing) == Ok(matched);
        self.drops == 0 || is_one && self.others == 0 && matched == self.drops
    }
}
