//! Clients that send requests when they are due, whether or not answers have come: two threads over one socket, one
//! sends, one receives.
//!
//! A round trip counts from the moment when its request was due, so that whatever holds up the client or the server is
//! in all round trips that it delayed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::ask::TIMEOUT_NS;
use super::round_trips::RoundTripMeter;
use crate::data::Arrivals;
use crate::engine::payload::{Check, Fill, Origin};
use crate::engine::verify::{self, SequenceCheck, SequenceTracker};
use crate::sys::clock;

/// The requests of a client that are outstanding, between its two threads.
#[derive(Debug)]
pub struct Requests {
    /// That of request n is in place n modulo so many.
    places: Box<[Request]>,
}

#[derive(Debug)]
struct Request {
    /// [`Requests::NOBODY`]: it was answered, or given up.
    number: AtomicU64,
    due_ns: AtomicU64,
}

impl Requests {
    const NOBODY: u64 = u64::MAX;
    /// From 1,024 to a million, 16 MiB.
    const PLACES: std::ops::RangeInclusive<u64> = 1 << 10..=1 << 20;

    /// Places for all that may be answered in time, at so many nanoseconds between two of them; but for a rate above
    /// four millions, whose requests then have less time.
    pub fn every(gap_ns: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates"
        )]
        let wanted = (2.0 * TIMEOUT_NS as f64 / gap_ns) as u64;
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

    /// Enters a request that is about to be sent. Whichever had its place is given up, and nobody may take its time for
    /// that of this one.
    fn enter(&self, number: u64, due_ns: u64) {
        let place = self.place(number);
        place.number.store(Self::NOBODY, Ordering::Relaxed);
        place.due_ns.store(due_ns, Ordering::Release);
        place.number.store(number, Ordering::Release);
    }

    /// When a request was due, if it is outstanding and not overdue. It is not outstanding any more then.
    fn take(&self, number: u64, now_ns: u64) -> Option<u64> {
        let place = self.place(number);
        if place.number.load(Ordering::Acquire) != number {
            return None;
        }
        let due_ns = place.due_ns.load(Ordering::Acquire);
        let (order, nobody) = (Ordering::Relaxed, Self::NOBODY);
        place
            .number
            .compare_exchange(number, nobody, order, order)
            .ok()?;
        (now_ns.saturating_sub(due_ns) < TIMEOUT_NS).then_some(due_ns)
    }
}

/// What sends the requests of a client.
#[derive(Debug)]
pub struct Pacer {
    lane: u16,
    number: u64,
    /// When the next request is due, by the monotonic clock.
    due_ns: u64,
    /// The mean time between two of them.
    gap_ns: f64,
    /// What of a nanosecond has not been waited for yet.
    rest_ns: f64,
    /// Of arrivals at random.
    rng: Option<fastrand::Rng>,
    requests: Arc<Requests>,
    meter: Arc<RoundTripMeter>,
    verifies: bool,
}

impl Pacer {
    /// With so many nanoseconds between two requests, in the mean; at random, each run by itself.
    pub fn new(
        lane: u16,
        gap_ns: f64,
        arrivals: Arrivals,
        (requests, meter): (Arc<Requests>, Arc<RoundTripMeter>),
        verifies: bool,
    ) -> Self {
        Self {
            lane,
            number: 0,
            due_ns: 0,
            gap_ns,
            rest_ns: 0.0,
            rng: (arrivals == Arrivals::Poisson).then(fastrand::Rng::new),
            requests,
            meter,
            verifies,
        }
    }

    /// Begins. The first request is due somewhere within the first gap, so that clients do not ask all at once: the
    /// golden ratio spreads any number of them evenly (Knuth, *The Art of Computer Programming*, volume 3, 6.4).
    pub(super) fn begin(&mut self) {
        self.due_ns = clock::monotonic_ns();
        let part = (f64::from(self.lane) * 0.618_034).fract();
        self.wait(part * self.gap_ns);
    }

    /// Waits until the next request is due. `false`: it is time to look whether to stop.
    pub(super) fn is_due(&self) -> bool {
        const LOOK_NS: u64 = 50_000_000;
        let now = clock::monotonic_ns();
        let until = self.due_ns.min(now + LOOK_NS);
        clock::sleep_until(until) && until == self.due_ns
    }

    fn wait(&mut self, gap_ns: f64) {
        let wait_ns = gap_ns + self.rest_ns;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "its whole part"
        )]
        let whole_ns = wait_ns as u64;
        self.rest_ns = wait_ns - whole_ns as f64;
        self.due_ns += whole_ns;
    }

    fn next_gap_ns(&mut self) -> f64 {
        match &mut self.rng {
            None => self.gap_ns,
            // Exponentially distributed, by inversion; never the logarithm of 0.
            Some(rng) => -self.gap_ns * (1.0 - rng.f64()).ln(),
        }
    }
}

impl Fill for Pacer {
    #[inline]
    fn fill(&self, memory: &mut [u8]) {
        // An answer may be there before the call that sends has returned.
        self.requests.enter(self.number, self.due_ns);
        if self.verifies {
            verify::write(memory, self.lane, self.number);
        } else {
            verify::write_head(memory, self.lane, self.number);
        }
    }

    #[inline]
    fn sent(&mut self, _packets: u64) {
        self.number += 1;
        self.meter.sent();
        let gap_ns = self.next_gap_ns();
        self.wait(gap_ns);
    }
}

/// What receives the answers of a client.
#[derive(Debug)]
pub struct Collector {
    lane: u16,
    requests: Arc<Requests>,
    meter: Arc<RoundTripMeter>,
    tracker: Option<Arc<SequenceTracker>>,
}

impl Collector {
    /// Of these requests. With a `tracker`, whole answers are looked at.
    pub fn new(
        lane: u16,
        (requests, meter): (Arc<Requests>, Arc<RoundTripMeter>),
        tracker: Option<Arc<SequenceTracker>>,
    ) -> Self {
        Self {
            lane,
            requests,
            meter,
            tracker,
        }
    }

    /// Where its round trips are counted.
    pub fn meter(&self) -> Arc<RoundTripMeter> {
        Arc::clone(&self.meter)
    }
}

impl Check for Collector {
    const LOOKS: bool = true;

    #[inline]
    fn check(&mut self, datagram: &[u8], origin: Origin) {
        let now = clock::monotonic_ns();
        if let Some(tracker) = &self.tracker {
            SequenceCheck(Arc::clone(tracker)).check(datagram, origin);
        }
        let ours = verify::read_head(datagram).filter(|(lane, _)| *lane == self.lane);
        let asked = ours.and_then(|(_, number)| Some((number, self.requests.take(number, now)?)));
        match asked {
            Some((number, due_ns)) => self.meter.answered(number, now.saturating_sub(due_ns)),
            None => self.meter.late(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::verify::HEAD_BYTES;

    /// In a window that never ends.
    fn client(gap_ns: f64, arrivals: Arrivals) -> (Pacer, Collector) {
        let shared = (
            Arc::new(Requests::every(gap_ns)),
            Arc::<RoundTripMeter>::default(),
        );
        shared.1.open_window();
        let pacer = Pacer::new(3, gap_ns, arrivals, shared.clone(), false);
        (pacer, Collector::new(3, shared, None))
    }

    fn sends(pacer: &mut Pacer) -> [u8; HEAD_BYTES] {
        let mut memory = [0; HEAD_BYTES];
        pacer.fill(&mut memory);
        pacer.sent(1);
        memory
    }

    #[test]
    fn requests_are_due_at_their_rate() {
        let (mut even, _) = client(333.4, Arrivals::Even);
        let (mut poisson, _) = client(333.4, Arrivals::Poisson);
        for pacer in [&mut even, &mut poisson] {
            for _ in 0..100_000 {
                sends(pacer);
            }
        }
        assert!(
            (even.due_ns as f64 - 33_340_000.0).abs() <= 1.0,
            "{}",
            even.due_ns
        );
        let off = poisson.due_ns as f64 / 33_340_000.0 - 1.0;
        assert!(off.abs() < 0.02, "six standard deviations: {off}");
    }

    #[test]
    fn at_random_no_two_runs_are_alike() {
        let due = |()| {
            let (mut pacer, _) = client(1e6, Arrivals::Poisson);
            sends(&mut pacer);
            pacer.due_ns
        };
        let [one, other] = [(); 2].map(due);
        assert_ne!(one, other);
    }

    #[test]
    fn a_round_trip_counts_from_when_its_request_was_due() {
        let (mut pacer, mut collector) = client(1000.0, Arrivals::Even);
        pacer.due_ns = clock::monotonic_ns() - 5_000_000;
        let request = sends(&mut pacer);
        collector.check(&request, Origin::PEER);
        collector.check(&request, Origin::PEER);
        let found = collector.meter.round_trips();
        assert_eq!(
            (found.times.count(), found.unanswered, found.late),
            (1, 0, 1)
        );
        assert!(found.sum_ns >= 5_000_000, "{}", found.sum_ns);
    }

    #[test]
    fn an_answer_that_comes_too_late_is_none() {
        let (mut pacer, mut collector) = client(1000.0, Arrivals::Even);
        pacer.due_ns = clock::monotonic_ns() - TIMEOUT_NS;
        let request = sends(&mut pacer);
        collector.check(&request, Origin::PEER);
        let found = collector.meter.round_trips();
        assert_eq!(
            (found.times.count(), found.unanswered, found.late),
            (0, 1, 1)
        );
    }

    #[test]
    fn where_there_are_too_many_the_oldest_are_given_up() {
        let (mut pacer, mut collector) = client(1e12, Arrivals::Even);
        let far_off = clock::monotonic_ns() + 3_600_000_000_000;
        let mut requests = Vec::new();
        for _ in 0..Requests::PLACES.start() + 10 {
            pacer.due_ns = far_off;
            requests.push(sends(&mut pacer));
        }
        for request in &requests {
            collector.check(request, Origin::PEER);
        }
        let found = collector.meter.round_trips();
        assert_eq!((found.unanswered, found.late), (10, 10));
    }
}
