//! Senders by their addresses.

use std::net::SocketAddr;

use super::{Gap, Heard};
use crate::data::sequence::{Arrival, SequenceCounts, SequenceTracker};
use crate::data::sequence_field::Numbered;

/// A sender, or one of its RTP streams.
#[derive(Clone, Debug)]
pub struct Source {
    /// Address. `None`: the kernel did not tell.
    pub address: Option<SocketAddr>,
    /// Synchronization source of RTP, else 0.
    pub stream: u32,
    /// Datagrams that were read.
    pub datagrams: u64,
    /// Bytes of their payload.
    pub bytes: u64,
    /// Longest time between two of its datagrams.
    pub longest_gap: Option<Gap>,
    /// Counts of its numbers.
    pub sequence: SequenceCounts,
    tracker: Option<SequenceTracker>,
    last_ns: u64,
    /// Number of the last window in which it sent something.
    window: u64,
}

/// The first senders by their addresses, and all others as one.
#[derive(Clone, Debug)]
pub struct Sources {
    numbered: Option<Numbered>,
    known: Vec<Source>,
    /// Place of the sender of the last datagram: the next one is mostly of the same.
    last: usize,
    others: u64,
}

/// What was found at the entry of a datagram.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entered {
    pub(super) is_first_of_window: bool,
    pub(super) arrival: Option<Arrival>,
}

/// Senders that are counted each by itself.
const KEPT: usize = 64;

impl Sources {
    pub(super) fn new(numbered: Option<Numbered>) -> Self {
        Self {
            numbered,
            known: Vec::with_capacity(KEPT),
            last: 0,
            others: 0,
        }
    }

    pub(super) fn enter(
        &mut self,
        heard: &Heard,
        number: Option<(u32, u64)>,
        window: u64,
    ) -> Entered {
        let stream = number.map_or(0, |(stream, _)| stream);
        let Some(at) = self.find(heard.source, stream) else {
            self.others += 1;
            return Entered::default();
        };
        self.last = at;
        let source = &mut self.known[at];
        if source.datagrams > 0 {
            let gap = Gap {
                began_ns: source.last_ns,
                ns: heard.arrived_ns.saturating_sub(source.last_ns),
                // Which sender they were of is not known.
                dropped: 0,
            };
            source.longest_gap = Gap::longer(source.longest_gap, gap);
        }
        source.last_ns = heard.arrived_ns;
        source.datagrams += 1;
        source.bytes += u64::from(heard.bytes);
        let before = std::mem::replace(&mut source.window, window);
        let arrival = source
            .tracker
            .as_mut()
            .zip(number)
            .map(|(tracker, (_, number))| tracker.enter(number));
        if let Some(arrival) = arrival {
            source.sequence += arrival;
        }
        Entered {
            is_first_of_window: before != window,
            arrival,
        }
    }

    /// Returns the place of a sender, which is new if need be. `None`: there are too many.
    fn find(&mut self, address: Option<SocketAddr>, stream: u32) -> Option<usize> {
        let is_it = |source: &Source| source.address == address && source.stream == stream;
        if self.known.get(self.last).is_some_and(is_it) {
            return Some(self.last);
        }
        if let Some(at) = self.known.iter().position(is_it) {
            return Some(at);
        }
        if self.known.len() == KEPT {
            return None;
        }
        self.known.push(Source {
            address,
            stream,
            datagrams: 0,
            bytes: 0,
            longest_gap: None,
            sequence: SequenceCounts::default(),
            tracker: self
                .numbered
                .map(|numbered| SequenceTracker::new(numbered.bits())),
            last_ns: 0,
            window: 0,
        });
        Some(self.known.len() - 1)
    }

    /// Returns the senders in the order of their first datagrams: the first 64.
    pub fn known(&self) -> &[Source] {
        &self.known
    }

    /// Returns the number of datagrams of all other senders. Their numbers and gaps are not looked at.
    pub fn others(&self) -> u64 {
        self.others
    }
}
