//! The requests of a client of two threads that have no answer yet, each with the moment when it was due.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

use super::round_trips::TIMEOUT_NS;

/// The requests of a client that have no answer yet, between its two threads.
#[derive(Debug)]
pub struct InFlight {
    /// That of request n is in place n modulo so many.
    places: Box<[Request]>,
}

#[derive(Debug)]
struct Request {
    /// With [`InFlight::COUNTS`] if it is of the window. [`InFlight::NOBODY`]: it was answered, or given up.
    number: AtomicU64,
    due_ns: AtomicU64,
}

impl InFlight {
    const NOBODY: u64 = u64::MAX;
    const COUNTS: u64 = 1 << 63;
    /// From 1,024 to a million, 16 MiB.
    pub(super) const PLACES: RangeInclusive<u64> = 1 << 10..=1 << 20;

    /// Places for all that may be answered in time, at so many nanoseconds between two of them, and so many at once; but for
    /// a rate above four millions, whose requests then have less time.
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

    /// Enters a request that is about to be sent, and whether it counts. Whichever had its place is given up, and nobody
    /// may take its time for that of this one.
    pub(super) fn enter(&self, number: u64, due_ns: u64, counts: bool) {
        let place = self.place(number);
        place.number.store(Self::NOBODY, Ordering::Relaxed);
        place.due_ns.store(due_ns, Ordering::Release);
        let counts = u64::from(counts) * Self::COUNTS;
        place.number.store(number | counts, Ordering::Release);
    }

    /// When a request was due, and whether it counts, if it is in flight and not overdue. It is not in flight any more then.
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
