//! Closed-loop clients: each sends the next request when a response arrives. And the client's own share of a round
//! trip.

use std::sync::Arc;

use super::meters::{RoundTripMeter, TIMEOUT_NS, WakeupSampler};
use super::numbering::Numbering;
use crate::engine::payload::{Check, Fill, Origin};
use crate::engine::verify::HEAD_BYTES;
use crate::sys::clock;

/// A client with a bounded number of outstanding requests.
#[derive(Debug)]
pub struct Client {
    pub(crate) numbering: Numbering,
    /// Slots of the outstanding requests. Request number n is in slot n modulo the number of slots. The endpoint of a
    /// slot is the slot's index modulo the number of endpoints.
    requests: Box<[Request]>,
    endpoints: usize,
    /// Free slots.
    free: Vec<u64>,
    /// Requests sent since the start.
    sent: u64,
    /// Next request. It stays here until it is sent: time that the system takes to make room for it counts.
    next: Option<Request>,
    /// Value of `timeout_tick` at the last check for timeouts: see [`Client::give_up`].
    gave_up: u32,
    has_stopped: bool,
    pause: Option<Pause>,
    pub(super) meter: Arc<RoundTripMeter>,
    /// Sampler of receive timestamps.
    pub sampler: Option<WakeupSampler>,
}

/// Pause before a request of a client with a think time.
#[derive(Clone, Copy, Debug)]
struct Pause {
    /// Duration, in nanoseconds.
    ns: u64,
    /// End of the pause, by the monotonic clock.
    end_ns: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Request {
    number: u64,
    /// True if it belongs to the window.
    counts: bool,
    asked_ns: u64,
    waits: bool,
}

impl Client {
    /// Creates a client with `outstanding` requests over each of its endpoints.
    pub fn new(
        numbering: Numbering,
        (outstanding, endpoints): (usize, usize),
        meter: Arc<RoundTripMeter>,
    ) -> Self {
        let places = outstanding * endpoints;
        Self {
            numbering,
            requests: vec![Request::default(); places].into(),
            endpoints,
            free: (0..places as u64).rev().collect(),
            sent: 0,
            next: None,
            gave_up: 0,
            has_stopped: false,
            pause: None,
            meter,
            sampler: None,
        }
    }

    /// Adds a think time, in nanoseconds, between a response and the next request. The client then has one outstanding
    /// request, over one endpoint.
    ///
    /// A link that sleeps may lose the first datagram after a pause. A client that waits for a lost response is silent
    /// meanwhile, so each of its requests could be lost. Therefore the client sends two requests at once in the
    /// beginning and after each timeout: one of them wakes the link.
    pub fn thinking(self, ns: Option<u64>) -> Self {
        let Some(ns) = ns else {
            return self;
        };
        Self {
            requests: vec![Request::default(); 2].into(),
            free: vec![1, 0],
            pause: Some(Pause { ns, end_ns: 0 }),
            ..self
        }
    }

    /// Prepares the next request, and returns the index of its endpoint. `None`: the maximum number is outstanding.
    #[inline]
    pub(super) fn prepare(&mut self) -> Option<usize> {
        if self.next.is_none() {
            self.next = self.free.last().map(|place| Request {
                number: self.sent * self.requests.len() as u64 + place,
                counts: false,
                asked_ns: clock::monotonic_ns(),
                waits: true,
            });
        }
        Some(self.link_of(self.place_of(self.next?.number)))
    }

    /// Returns whether the think time goes on. If so, the call has slept for part of it.
    #[inline]
    pub(super) fn thinks(&mut self) -> bool {
        match self.pause {
            Some(pause) if !self.free.is_empty() => !clock::sleep_towards(pause.end_ns),
            _ => false,
        }
    }

    /// Tells the client to stop. Returns whether this is the first call.
    pub(super) fn stop(&mut self) -> bool {
        !std::mem::replace(&mut self.has_stopped, true)
    }

    #[inline]
    fn link_of(&self, place: usize) -> usize {
        place % self.endpoints
    }

    #[inline]
    fn place_of(&self, number: u64) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "below a usize")]
        let place = (number % self.requests.len() as u64) as usize;
        place
    }

    /// Returns the slot of an outstanding request. `None`: it is not outstanding.
    #[inline]
    fn place_waiting_for(&self, number: u64) -> Option<usize> {
        let place = self.place_of(number);
        let request = self.requests[place];
        (request.waits && request.number == number).then_some(place)
    }

    /// Gives up requests that timed out, if the overdue counter has changed since the last check.
    #[inline]
    pub(super) fn give_up(&mut self, time: u32) {
        if self.gave_up != time {
            self.gave_up = time;
            self.give_up_overdue();
        }
    }

    #[cold]
    fn give_up_overdue(&mut self) {
        let now = clock::monotonic_ns();
        let gave_up = self.free.len();
        for (place, request) in (0..).zip(&mut self.requests) {
            if request.waits && now.saturating_sub(request.asked_ns) >= TIMEOUT_NS {
                request.waits = false;
                self.free.push(place);
            }
        }
        if self.pause.is_some() && self.free.len() > gave_up {
            self.wait_for_none();
            self.free.extend([1, 0]);
        }
    }

    /// Gives up all requests, and has no slot free.
    fn wait_for_none(&mut self) {
        for request in &mut self.requests {
            request.waits = false;
        }
        self.free.clear();
    }
}

impl Fill for Client {
    #[inline]
    fn fill(&self, memory: &mut [u8]) {
        if let Some(next) = self.next {
            let endpoint = self.link_of(self.place_of(next.number));
            self.numbering.write(memory, endpoint, next.number);
        }
    }

    #[inline]
    fn sent(&mut self, _packets: u64) {
        if let Some(mut next) = self.next.take() {
            next.counts = self.meter.is_open();
            if next.counts {
                self.meter.sent_requests(1);
            }
            self.requests[self.place_of(next.number)] = next;
            self.free.pop();
            self.sent += 1;
        }
    }
}

impl Check for Client {
    const READS_PAYLOAD: bool = true;

    #[inline]
    fn check(&mut self, datagram: &[u8], origin: Origin) {
        let now = clock::monotonic_ns();
        let number = self.numbering.read(datagram, origin);
        let Some(place) = number.and_then(|number| self.place_waiting_for(number)) else {
            self.meter.late(1);
            return;
        };
        let request = &mut self.requests[place];
        request.waits = false;
        let counts = request.counts;
        if counts {
            self.meter.answered(now.saturating_sub(request.asked_ns));
        }
        if let Some(pause) = &mut self.pause {
            pause.end_ns = now + pause.ns;
            self.wait_for_none();
        }
        self.free.push(place as u64);
        if let Some(sampler) = &mut self.sampler {
            sampler.look(counts.then_some(&self.meter), origin);
        }
    }
}

/// Returns the mean time that a client itself spends on a request and its response, in nanoseconds, if the response is
/// available immediately. A measured round trip contains no more overhead of the client than this. The measurement
/// takes about a millisecond.
pub fn own_round_trip_ns() -> Option<f64> {
    const ASKED: u32 = 10_000;
    let mut client = Client::new(Numbering::new(0, None), (1, 1), Arc::default());
    client.meter.open_window();
    let mut memory = [0; HEAD_BYTES];
    let begin = clock::monotonic_ns();
    for _ in 0..ASKED {
        client.prepare()?;
        client.fill(&mut memory);
        client.sent(1);
        client.check(&memory, Origin::PEER);
    }
    let took_ns = clock::monotonic_ns().saturating_sub(begin);
    Some(took_ns as f64 / f64::from(ASKED))
}

#[cfg(test)]
mod tests;
