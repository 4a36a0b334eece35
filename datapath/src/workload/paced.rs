//! Clients that send requests when they are due, whether or not answers have come: two threads over one socket, one
//! sends, one receives.
//!
//! A round trip counts from the moment when its request was due, so that whatever holds up the client or the server is
//! in all round trips that it delayed.

use std::sync::Arc;

use super::arrivals::ArrivalSampler;
use super::in_flight::InFlight;
use super::numbering::Numbering;
use super::round_trips::RoundTripMeter;
use crate::data::Arrivals;
use crate::engine::FlowCounts;
use crate::engine::payload::{Check, Fill, Origin};
use crate::sys::clock;

/// What sends the requests of a client.
#[derive(Debug)]
pub struct Pacer {
    numbering: Numbering,
    number: u64,
    /// When the next request is due, by the monotonic clock.
    due_ns: u64,
    /// The mean time between two of them.
    gap_ns: f64,
    /// What of a nanosecond has not been waited for yet.
    rest_ns: f64,
    /// Of arrivals at random.
    rng: Option<fastrand::Rng>,
    in_flight: Arc<InFlight>,
    meter: Arc<RoundTripMeter>,
    links: u64,
}

impl Pacer {
    /// With so many nanoseconds between two requests, in the mean; at random, each run by itself. They go over each of
    /// so many links in turn.
    pub fn new(
        numbering: Numbering,
        links: usize,
        gap_ns: f64,
        arrivals: Arrivals,
        (in_flight, meter): (Arc<InFlight>, Arc<RoundTripMeter>),
    ) -> Self {
        Self {
            numbering,
            number: 0,
            due_ns: 0,
            gap_ns,
            rest_ns: 0.0,
            rng: (arrivals == Arrivals::Poisson).then(fastrand::Rng::new),
            in_flight,
            meter,
            links: links as u64,
        }
    }

    /// The link over which the next request goes.
    #[inline]
    pub(super) fn link(&self) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "below a usize")]
        let link = (self.number % self.links) as usize;
        link
    }

    /// Begins. The first request is due somewhere within the first gap, so that clients do not ask all at once: the
    /// golden ratio spreads any number of them evenly (Knuth, *The Art of Computer Programming*, volume 3, 6.4).
    pub(super) fn begin(&mut self) {
        self.due_ns = clock::monotonic_ns();
        let part = (f64::from(self.numbering.lane()) * 0.618_034).fract();
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
        self.in_flight.enter(self.number, self.due_ns);
        self.numbering.write(memory, self.link(), self.number);
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
    numbering: Numbering,
    in_flight: Arc<InFlight>,
    meter: Arc<RoundTripMeter>,
    arrivals: Option<ArrivalSampler>,
}

impl Collector {
    /// Of these requests.
    pub fn new(
        numbering: Numbering,
        (in_flight, meter): (Arc<InFlight>, Arc<RoundTripMeter>),
    ) -> Self {
        Self {
            numbering,
            in_flight,
            meter,
            arrivals: None,
        }
    }

    /// The same, which looks at how long some of the answers had been there.
    pub fn looking_at(self, arrivals: Option<ArrivalSampler>) -> Self {
        Self { arrivals, ..self }
    }

    /// Where its round trips are counted.
    pub fn meter(&self) -> Arc<RoundTripMeter> {
        Arc::clone(&self.meter)
    }

    /// Where its flows are counted, if there are many.
    pub(super) fn flows(&self) -> Option<FlowCounts> {
        self.numbering.flows()
    }
}

impl Check for Collector {
    const LOOKS: bool = true;

    #[inline]
    fn check(&mut self, datagram: &[u8], origin: Origin) {
        let now = clock::monotonic_ns();
        let number = self.numbering.read(datagram, origin);
        let asked = number.and_then(|number| Some((number, self.in_flight.take(number, now)?)));
        let Some((number, due_ns)) = asked else {
            self.meter.late();
            return;
        };
        self.meter.answered(number, now.saturating_sub(due_ns));
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.look(&self.meter, origin, number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::verify::HEAD_BYTES;
    use crate::workload::round_trips::TIMEOUT_NS;

    /// In a window that never ends.
    fn client(gap_ns: f64, arrivals: Arrivals) -> (Pacer, Collector) {
        let shared = (
            Arc::new(InFlight::every(gap_ns)),
            Arc::<RoundTripMeter>::default(),
        );
        shared.1.open_window();
        let numbering = Numbering::new(3, None);
        let pacer = Pacer::new(numbering.clone(), 1, gap_ns, arrivals, shared.clone());
        (pacer, Collector::new(numbering, shared))
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
        for _ in 0..InFlight::PLACES.start() + 10 {
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
