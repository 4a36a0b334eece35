//! Gaps between arrivals, and the bursts between long ones.

use std::cmp::Reverse;

use serde::Serialize;

use super::{Heard, KEPT_SILENCES};

/// Time without an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// Time of the arrival before it, since 1970 in nanoseconds.
    pub began_ns: u64,
    /// Length in nanoseconds.
    pub ns: u64,
    /// Datagrams that the socket dropped meanwhile: with some, the sender was not silent.
    pub dropped: u32,
}

impl Gap {
    /// Returns the longer one; of equal ones, the earlier.
    pub fn longer(one: Option<Self>, other: Self) -> Option<Self> {
        Some(one.filter(|one| one.ns >= other.ns).unwrap_or(other))
    }
}

/// Gaps of at least some length.
#[derive(Clone, Debug, Default)]
pub struct Silences {
    shortest_ns: Option<u64>,
    /// Number of them.
    pub count: u64,
    /// The longest ones, in no order.
    longest: Vec<Gap>,
    bursts: Bursts,
    /// Datagrams and bytes since the last silence.
    burst: (u64, u64),
}

/// Bursts: the datagrams between two silences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bursts {
    /// Number of bursts. The first and the last one may be cut off.
    pub count: u64,
    /// Datagrams of the smallest one.
    pub fewest_datagrams: u64,
    /// Datagrams of the largest one.
    pub most_datagrams: u64,
    /// Bytes of payload of the one with the most bytes.
    pub most_bytes: u64,
}

impl Silences {
    pub(super) fn new(shortest_ns: Option<u64>) -> Self {
        Self {
            shortest_ns,
            longest: Vec::with_capacity(KEPT_SILENCES),
            ..Self::default()
        }
    }

    /// Enters the gap before a datagram. Returns whether it is a silence.
    pub(super) fn enter_gap(&mut self, gap: Gap) -> bool {
        let is_silence = self.shortest_ns.is_some_and(|shortest| gap.ns >= shortest);
        if is_silence {
            self.count += 1;
            self.keep(gap);
            self.bursts.enter(std::mem::take(&mut self.burst));
        }
        is_silence
    }

    pub(super) fn enter_datagram(&mut self, heard: &Heard) {
        self.burst.0 += 1;
        self.burst.1 += u64::from(heard.bytes);
    }

    fn keep(&mut self, gap: Gap) {
        if self.longest.len() < KEPT_SILENCES {
            self.longest.push(gap);
            return;
        }
        let shortest = self.longest.iter_mut().min_by_key(|kept| kept.ns);
        if let Some(shortest) = shortest.filter(|shortest| shortest.ns < gap.ns) {
            *shortest = gap;
        }
    }

    /// Returns the longest silences in the order of time: so many, and at most 20.
    pub fn longest(&self, most: usize) -> Vec<Gap> {
        let mut longest = self.longest.clone();
        longest.sort_by_key(|gap| Reverse(gap.ns));
        longest.truncate(most);
        longest.sort_by_key(|gap| gap.began_ns);
        longest
    }

    /// Returns the bursts, with the one that is not over yet. `None`: no length of a silence was given.
    pub fn bursts(&self) -> Option<Bursts> {
        self.shortest_ns?;
        let mut bursts = self.bursts;
        bursts.enter(self.burst);
        Some(bursts)
    }
}

impl Bursts {
    fn enter(&mut self, (datagrams, bytes): (u64, u64)) {
        if datagrams == 0 {
            return;
        }
        self.fewest_datagrams = match self.count {
            0 => datagrams,
            _ => self.fewest_datagrams.min(datagrams),
        };
        self.count += 1;
        self.most_datagrams = self.most_datagrams.max(datagrams);
        self.most_bytes = self.most_bytes.max(bytes);
    }
}
