//! Open-loop clients: they send requests at a fixed rate without waiting for responses. Two threads share the sockets:
//! one sends, one receives.
//!
//! A round trip is timed from the moment when its request was due. A delay in the client or the server therefore
//! counts in every round trip that it affects.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::due::{DueTimes, whole};
use super::meters::{RoundTripMeter, TIMEOUT_NS, WakeupSampler};
use super::numbering::Numbering;
use crate::engine::payload::{Check, Fill, Origin};
use crate::sys::clock;

/// Sending half of an open-loop client.
#[derive(Debug)]
pub struct Pacer {
    numbering: Numbering,
    number: u64,
    /// True if the next request belongs to the window.
    counts: bool,
    schedule: DueTimes,
    in_flight: Arc<InFlight>,
    meter: Arc<RoundTripMeter>,
    endpoints: u64,
}

impl Pacer {
    /// Creates a sender of requests that are due by `schedule`. They are sent over each of the endpoints in turn.
    pub fn new(
        numbering: Numbering,
        endpoints: usize,
        schedule: DueTimes,
        (in_flight, meter): (Arc<InFlight>, Arc<RoundTripMeter>),
    ) -> Self {
        Self {
            numbering,
            number: 0,
            counts: false,
            schedule,
            in_flight,
            meter,
            endpoints: endpoints as u64,
        }
    }

    /// Returns the index of the next request's endpoint.
    #[inline]
    fn endpoint(&self) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "below a usize")]
        let endpoint = (self.number % self.endpoints) as usize;
        endpoint
    }

    /// Starts the schedule.
    pub(super) fn begin(&mut self) {
        self.schedule.begin(self.numbering.first_flow);
    }

    /// Waits until the next request is due, and returns the index of its endpoint. `None`: the caller must first check
    /// whether to stop.
    pub(super) fn wait_until_due(&mut self) -> Option<usize> {
        let is_due = self.schedule.wait_until_due();
        self.counts = self.meter.is_open();
        is_due.then(|| self.endpoint())
    }
}

impl Fill for Pacer {
    #[inline]
    fn fill(&self, memory: &mut [u8]) {
        // A response may arrive before the send call returns.
        self.in_flight
            .enter(self.number, self.schedule.due_ns, self.counts);
        self.numbering.write(memory, self.endpoint(), self.number);
    }

    #[inline]
    fn sent(&mut self, _packets: u64) {
        self.number += 1;
        if self.counts {
            self.meter.sent_requests(1);
        }
        self.schedule.went(1);
    }
}

/// Receiving half of an open-loop client.
#[derive(Debug)]
pub struct Collector {
    pub(super) numbering: Numbering,
    in_flight: Arc<InFlight>,
    pub(super) meter: Arc<RoundTripMeter>,
    /// Sampler of receive timestamps.
    pub sampler: Option<WakeupSampler>,
}

impl Collector {
    /// Creates a receiver of the responses to these requests.
    pub fn new(
        numbering: Numbering,
        (in_flight, meter): (Arc<InFlight>, Arc<RoundTripMeter>),
    ) -> Self {
        Self {
            numbering,
            in_flight,
            meter,
            sampler: None,
        }
    }
}

impl Check for Collector {
    const READS_PAYLOAD: bool = true;

    #[inline]
    fn check(&mut self, datagram: &[u8], origin: Origin) {
        let now = clock::monotonic_ns();
        let number = self.numbering.read(datagram, origin);
        let outstanding = number.and_then(|number| self.in_flight.take(number, now));
        let Some((due_ns, counts)) = outstanding else {
            self.meter.late(1);
            return;
        };
        if counts {
            self.meter.answered(now.saturating_sub(due_ns));
        }
        if let Some(sampler) = &mut self.sampler {
            sampler.look(counts.then_some(&self.meter), origin);
        }
    }
}

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
        let wanted = whole(2.0 * TIMEOUT_NS as f64 / gap_ns) + 2 * at_once;
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

#[cfg(test)]
mod tests;
