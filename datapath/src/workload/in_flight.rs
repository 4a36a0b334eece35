//! Outstanding requests of an open-loop client, with the moment when each was due.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

use super::round_trips::TIMEOUT_NS;

/// Outstanding requests of an open-loop client, shared by its two threads.
#[derive(Debug)]
pub struct InFlight {
    /// Slots. Request number n is in slot n modulo the number of slots.
    places: Box<[Request]>,
}

#[derive(Debug)]
struct Request {
    /// Number of the request, with [`InFlight::COUNTS`] set if it belongs to the window. [`InFlight::NOBODY`]: the
    /// slot is free.
    number: AtomicU64,
    due_ns: AtomicU64,
}

impl InFlight {
    const NOBODY: u64 = u64::MAX;
    const COUNTS: u64 = 1 << 63;
    /// Range of the number of slots: from 1,024 to 2^20, which take 16 MiB.
    pub(super) const PLACES: RangeInclusive<u64> = 1 << 10..=1 << 20;

    /// Creates slots for all requests that can get a response before the timeout. `gap_ns`: time between two requests.
    /// `at_once`: requests that are due at the same time. Above four million requests per second, the slots do not
    /// suffice, and requests time out earlier.
    pub fn every(gap_ns: f64, at_once: u64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates"
        )]
        let wanted = (2.0 * TIMEOUT_NS as f64 / gap_ns) as u64 + 2 * at_once;
        let count = wanted.clamp(*Self::PLACES.start(), *Self::PLACES.end());
        let empty = |_| Request {
            number: AtomicU64::new(Self::NOBODY),
            due_ns: AtomicU64::default(),
        };
        Self {
            places: (0..count).map(empty).collect(),
        }
    }

    fn place(&self, number: u64) -> &Request {
        #[expect(clippy::cast_possible_truncation, reason = "below a usize")]
        let place = (number % self.places.len() as u64) as usize;
        &self.places[place]
    }

    /// Records a request that is about to be sent. The request that had its slot is given up. The order of the stores
    /// ensures that no reader combines the number of one request with the time of the other.
    pub(super) fn enter(&self, number: u64, due_ns: u64, counts: bool) {
        let place = self.place(number);
        place.number.store(Self::NOBODY, Ordering::Relaxed);
        place.due_ns.store(due_ns, Ordering::Release);
        let counts = u64::from(counts) * Self::COUNTS;
        place.number.store(number | counts, Ordering::Release);
    }

    /// Removes a request. Returns when it was due, and whether it belongs to the window. `None`: it is not
    /// outstanding, or timed out.
    pub(super) fn take(&self, number: u64, now_ns: u64) -> Option<(u64, bool)> {
        let place = self.place(number);
        let found = place.number.load(Ordering::Acquire);
        if found == Self::NOBODY || found & !Self::COUNTS != number {
            return None;
        }
        let due_ns = place.due_ns.load(Ordering::Acquire);
        let (order, nobody) = (Ordering::Relaxed, Self::NOBODY);
        place
            .number
            .compare_exchange(found, nobody, order, order)
            .ok()?;
        let is_in_time = now_ns.saturating_sub(due_ns) < TIMEOUT_NS;
        is_in_time.then_some((due_ns, found & Self::COUNTS != 0))
    }
}
