//! Open-loop clients: they send requests at a fixed rate without waiting for responses. Two threads share the sockets:
//! one sends, one receives.
//!
//! A round trip is timed from the moment when its request was due. A delay in the client or the server therefore
//! counts in every round trip that it affects.

use std::sync::Arc;

use super::due::DueTimes;
use super::in_flight::InFlight;
use super::numbering::Numbering;
use super::round_trips::RoundTripMeter;
use super::wakeup_sampler::WakeupSampler;
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
    pub(super) fn endpoint(&self) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "below a usize")]
        let endpoint = (self.number % self.endpoints) as usize;
        endpoint
    }

    /// Starts the schedule.
    pub(super) fn begin(&mut self) {
        self.schedule.begin(self.numbering.first_flow());
    }

    /// Waits until the next request is due. Returns false if the caller must first check whether to stop.
    pub(super) fn wait_until_due(&mut self) -> bool {
        let is_due = self.schedule.wait_until_due();
        self.counts = self.meter.is_open();
        is_due
    }
}

impl Fill for Pacer {
    #[inline]
    fn fill(&self, memory: &mut [u8]) {
        // A response may arrive before the send call returns.
        self.in_flight
            .enter(self.number, self.schedule.due_ns(), self.counts);
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
    meter: Arc<RoundTripMeter>,
    sampler: Option<WakeupSampler>,
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

    /// Adds a sampler of receive timestamps.
    pub fn with_wakeup_sampler(self, sampler: Option<WakeupSampler>) -> Self {
        Self { sampler, ..self }
    }

    /// Returns the counter of its round trips.
    pub fn meter(&self) -> Arc<RoundTripMeter> {
        Arc::clone(&self.meter)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Arrivals;
    use crate::engine::verify::HEAD_BYTES;
    use crate::workload::round_trips::TIMEOUT_NS;

    /// Creates a client in a window that never ends.
    fn client(gap_ns: f64) -> (Pacer, Collector) {
        let shared = (
            Arc::new(InFlight::every(gap_ns, 1)),
            Arc::<RoundTripMeter>::default(),
        );
        shared.1.open_window();
        let numbering = Numbering::new(3, None);
        let schedule = DueTimes::new(gap_ns, Arrivals::Even);
        let pacer = Pacer::new(numbering.clone(), 1, schedule, shared.clone());
        (pacer, Collector::new(numbering, shared))
    }

    fn sends(pacer: &mut Pacer) -> [u8; HEAD_BYTES] {
        let mut memory = [0; HEAD_BYTES];
        pacer.counts = pacer.meter.is_open();
        pacer.fill(&mut memory);
        pacer.sent(1);
        memory
    }

    #[test]
    fn a_round_trip_counts_from_when_its_request_was_due() {
        let (mut pacer, mut collector) = client(1000.0);
        pacer.schedule.set_due(clock::monotonic_ns() - 5_000_000);
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

    /// Holds however late the response arrives, and whenever the coordinator thread gets to run.
    #[test]
    fn a_request_that_is_due_in_the_window_is_of_it_with_its_answer() {
        let (mut pacer, mut collector) = client(1000.0);
        let send = |pacer: &mut Pacer| {
            pacer.schedule.set_due(clock::monotonic_ns());
            sends(pacer)
        };
        pacer.meter.close_window();
        let before = send(&mut pacer);
        pacer.meter.open_window();
        let within = [(); 2].map(|()| send(&mut pacer));
        collector.check(&before, Origin::PEER);
        collector.check(&within[0], Origin::PEER);
        pacer.meter.close_window();
        let after = send(&mut pacer);
        collector.check(&within[1], Origin::PEER);
        collector.check(&after, Origin::PEER);
        let found = collector.meter.round_trips();
        assert_eq!(
            (found.times.count(), found.unanswered, found.late),
            (2, 0, 0)
        );
    }

    #[test]
    fn an_answer_that_comes_too_late_is_none() {
        let (mut pacer, mut collector) = client(1000.0);
        pacer.schedule.set_due(clock::monotonic_ns() - TIMEOUT_NS);
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
        let (mut pacer, mut collector) = client(1e12);
        let far_off = clock::monotonic_ns() + 3_600_000_000_000;
        let mut requests = Vec::new();
        for _ in 0..InFlight::PLACES.start() + 10 {
            pacer.schedule.set_due(far_off);
            requests.push(sends(&mut pacer));
        }
        for request in &requests {
            collector.check(request, Origin::PEER);
        }
        let found = collector.meter.round_trips();
        assert_eq!((found.unanswered, found.late), (10, 10));
    }
}
