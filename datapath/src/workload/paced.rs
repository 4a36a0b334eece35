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

/// The requests of a client that are under way, between its two threads.
#[derive(Debug)]
pub struct UnderWay {
    /// That of request n is in place n modulo so many.
    requests: Box<[Request]>,
    /// The number of the next request.
    next: AtomicU64,
    /// Requests whose places were needed for others while they were under way.
    ousted: AtomicU64,
}

#[derive(Debug)]
struct Request {
    /// [`UnderWay::NOBODY`]: it was answered, or given up.
    number: AtomicU64,
    due_ns: AtomicU64,
}

impl Default for UnderWay {
    fn default() -> Self {
        let empty = |_| Request {
            number: AtomicU64::new(Self::NOBODY),
            due_ns: AtomicU64::default(),
        };
        Self {
            requests: (0..Self::PLACES).map(empty).collect(),
            next: AtomicU64::default(),
            ousted: AtomicU64::default(),
        }
    }
}

impl UnderWay {
    /// Whatever is asked before so many requests ago is given up: at 100,000 per second, after 160 ms.
    const PLACES: u64 = 1 << 14;
    const NOBODY: u64 = u64::MAX;

    fn place(&self, number: u64) -> &Request {
        &self.requests[(number % Self::PLACES) as usize]
    }

    /// Enters a request that is about to be sent.
    fn enter(&self, number: u64, due_ns: u64) {
        let place = self.place(number);
        place.due_ns.store(due_ns, Ordering::Relaxed);
        let before = place.number.swap(number, Ordering::AcqRel);
        if before != Self::NOBODY && before != number {
            self.ousted.fetch_add(1, Ordering::Relaxed);
        }
        self.next.store(number + 1, Ordering::Release);
    }

    /// When a request was due, if it is under way. It is not any more then.
    fn take(&self, number: u64) -> Option<u64> {
        let place = self.place(number);
        if place.number.load(Ordering::Acquire) != number {
            return None;
        }
        let due_ns = place.due_ns.load(Ordering::Relaxed);
        let taken = place.number.compare_exchange(
            number,
            Self::NOBODY,
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        taken.ok().map(|_| due_ns)
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
    dice: Option<fastrand::Rng>,
    under_way: Arc<UnderWay>,
    verifies: bool,
}

impl Pacer {
    /// With so many nanoseconds between two requests, in the mean.
    pub fn new(
        lane: u16,
        gap_ns: f64,
        arrivals: Arrivals,
        under_way: Arc<UnderWay>,
        verifies: bool,
    ) -> Self {
        let dice = match arrivals {
            Arrivals::Even => None,
            Arrivals::Poisson => Some(fastrand::Rng::with_seed(u64::from(lane) + 1)),
        };
        Self {
            lane,
            number: 0,
            due_ns: 0,
            gap_ns,
            rest_ns: 0.0,
            dice,
            under_way,
            verifies,
        }
    }

    /// Begins, in the thread that sends. The first request is due somewhere within the first gap, so that clients do
    /// not ask all at once.
    pub(super) fn begin(&mut self) {
        clock::be_punctual();
        self.due_ns = clock::monotonic_ns();
        let golden = (f64::from(self.lane) * 0.618_034).fract();
        self.wait(golden * self.gap_ns);
    }

    /// Waits until the next request is due. `false`: a signal came before.
    pub(super) fn is_due(&self) -> bool {
        clock::sleep_until(self.due_ns)
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
        match &mut self.dice {
            None => self.gap_ns,
            // Exponentially distributed, by inversion; never the logarithm of 0.
            Some(dice) => -self.gap_ns * (1.0 - dice.f64()).ln(),
        }
    }
}

impl Fill for Pacer {
    #[inline]
    fn fill(&self, memory: &mut [u8]) {
        // An answer may be there before the call that sends has returned.
        self.under_way.enter(self.number, self.due_ns);
        if self.verifies {
            verify::write(memory, self.lane, self.number);
        } else {
            verify::write_head(memory, self.lane, self.number);
        }
    }

    #[inline]
    fn sent(&mut self, _packets: u64) {
        self.number += 1;
        let gap_ns = self.next_gap_ns();
        self.wait(gap_ns);
    }
}

/// What receives the answers of a client.
#[derive(Debug)]
pub struct Collector {
    lane: u16,
    under_way: Arc<UnderWay>,
    /// The oldest request that may be under way.
    oldest: u64,
    /// See [`UnderWay::ousted`]: those that are counted.
    ousted: u64,
    meter: Arc<RoundTripMeter>,
    tracker: Option<Arc<SequenceTracker>>,
}

impl Collector {
    /// Of the requests `under_way`. With a `tracker`, whole answers are looked at.
    pub fn new(
        lane: u16,
        under_way: Arc<UnderWay>,
        meter: Arc<RoundTripMeter>,
        tracker: Option<Arc<SequenceTracker>>,
    ) -> Self {
        Self {
            lane,
            under_way,
            oldest: 0,
            ousted: 0,
            meter,
            tracker,
        }
    }

    /// Where its round trips are counted.
    pub fn meter(&self) -> Arc<RoundTripMeter> {
        Arc::clone(&self.meter)
    }

    /// Gives up what has waited for too long, or whose place was needed.
    #[cold]
    pub(super) fn give_up(&mut self) {
        let ousted = self.under_way.ousted.load(Ordering::Relaxed);
        (self.ousted..ousted).for_each(|_| self.meter.timed_out());
        self.ousted = ousted;
        let now = clock::monotonic_ns();
        let next = self.under_way.next.load(Ordering::Acquire);
        while self.oldest < next {
            let place = self.under_way.place(self.oldest);
            if place.number.load(Ordering::Acquire) == self.oldest {
                if now.saturating_sub(place.due_ns.load(Ordering::Relaxed)) < TIMEOUT_NS {
                    return;
                }
                if self.under_way.take(self.oldest).is_some() {
                    self.meter.timed_out();
                }
            }
            self.oldest += 1;
        }
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
        match ours.and_then(|(_, number)| self.under_way.take(number)) {
            Some(due_ns) => self.meter.record(now.saturating_sub(due_ns)),
            None => self.meter.late(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::verify::HEAD_BYTES;

    fn client(gap_ns: f64, arrivals: Arrivals) -> (Pacer, Collector) {
        let under_way = Arc::<UnderWay>::default();
        let pacer = Pacer::new(3, gap_ns, arrivals, Arc::clone(&under_way), false);
        (pacer, Collector::new(3, under_way, Arc::default(), None))
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
        assert!((even.due_ns as f64 - 33_340_000.0).abs() <= 1.0, "{even:?}");
        let off = poisson.due_ns as f64 / 33_340_000.0 - 1.0;
        assert!(off.abs() < 0.02, "six standard deviations: {off}");
    }

    #[test]
    fn a_round_trip_counts_from_when_its_request_was_due() {
        let (mut pacer, mut collector) = client(1000.0, Arrivals::Even);
        pacer.due_ns = clock::monotonic_ns() - 5_000_000;
        let request = sends(&mut pacer);
        collector.check(&request, Origin::PEER);
        collector.check(&request, Origin::PEER);
        let found = collector.meter.read();
        assert_eq!((found.times.count(), found.late), (1, 1));
        assert!(found.sum_ns >= 5_000_000, "{}", found.sum_ns);
    }

    #[test]
    fn what_is_not_answered_is_given_up_once() {
        let (mut pacer, mut collector) = client(0.0, Arrivals::Even);
        let old = clock::monotonic_ns() - TIMEOUT_NS;
        pacer.due_ns = old;
        let [first, second] = [(); 2].map(|()| sends(&mut pacer));
        pacer.due_ns = clock::monotonic_ns();
        let third = sends(&mut pacer);
        collector.check(&second, Origin::PEER);
        collector.give_up();
        collector.give_up();
        collector.check(&first, Origin::PEER);
        collector.check(&third, Origin::PEER);
        let found = collector.meter.read();
        assert_eq!(
            (found.times.count(), found.timed_out, found.late),
            (2, 1, 1)
        );
    }

    #[test]
    fn where_there_are_too_many_the_oldest_are_given_up() {
        let (mut pacer, mut collector) = client(0.0, Arrivals::Even);
        pacer.due_ns = clock::monotonic_ns();
        for _ in 0..UnderWay::PLACES + 10 {
            sends(&mut pacer);
        }
        collector.give_up();
        assert_eq!(collector.meter.read().timed_out, 10);
    }
}
