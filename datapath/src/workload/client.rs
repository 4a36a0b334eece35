//! Clients that send the next request when an answer is there.

use std::sync::Arc;

use super::numbering::Numbering;
use super::round_trips::{RoundTripMeter, TIMEOUT_NS};
use crate::engine::payload::{Check, Fill, Origin};
use crate::sys::clock;

/// The requests of one client, and the answers to them.
#[derive(Debug)]
pub struct Client {
    numbering: Numbering,
    /// One for each request that may be under way. That of number n is in place n modulo so many.
    requests: Box<[Request]>,
    /// Places without a request.
    free: Vec<u64>,
    /// Requests sent so far.
    sent: u64,
    /// What goes next. It stays until it has gone: time that the system takes to have room for it counts.
    next: Option<Request>,
    meter: Arc<RoundTripMeter>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Request {
    number: u64,
    /// How many were sent before it.
    after: u64,
    asked_ns: u64,
    waits: bool,
}

impl Client {
    /// With so many requests outstanding.
    pub fn new(numbering: Numbering, outstanding: usize, meter: Arc<RoundTripMeter>) -> Self {
        Self {
            numbering,
            requests: vec![Request::default(); outstanding].into(),
            free: (0..outstanding as u64).rev().collect(),
            sent: 0,
            next: None,
            meter,
        }
    }

    /// Where its round trips are counted.
    pub fn meter(&self) -> Arc<RoundTripMeter> {
        Arc::clone(&self.meter)
    }

    /// Prepares the next request. `false`: as many as may be are outstanding.
    #[inline]
    pub(super) fn prepare(&mut self) -> bool {
        if self.next.is_some() {
            return true;
        }
        self.next = self.free.last().map(|place| Request {
            number: self.sent * self.requests.len() as u64 + place,
            after: self.sent,
            asked_ns: clock::monotonic_ns(),
            waits: true,
        });
        self.next.is_some()
    }

    #[inline]
    fn place_of(&self, number: u64) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "below a usize")]
        let place = (number % self.requests.len() as u64) as usize;
        place
    }

    /// Where the request of that number waits, if it does.
    #[inline]
    fn place_waiting_for(&self, number: u64) -> Option<usize> {
        let place = self.place_of(number);
        let request = self.requests[place];
        (request.waits && request.number == number).then_some(place)
    }

    /// Gives up what has waited for too long.
    #[cold]
    pub(super) fn give_up(&mut self) {
        let now = clock::monotonic_ns();
        for (place, request) in (0..).zip(&mut self.requests) {
            if request.waits && now.saturating_sub(request.asked_ns) >= TIMEOUT_NS {
                request.waits = false;
                self.free.push(place);
            }
        }
    }
}

impl Fill for Client {
    #[inline]
    fn fill(&self, memory: &mut [u8]) {
        if let Some(next) = self.next {
            self.numbering.write(memory, next.number);
        }
    }

    #[inline]
    fn sent(&mut self, _packets: u64) {
        if let Some(next) = self.next.take() {
            self.requests[self.place_of(next.number)] = next;
            self.free.pop();
            self.sent += 1;
            self.meter.sent();
        }
    }
}

impl Check for Client {
    const LOOKS: bool = true;

    #[inline]
    fn check(&mut self, datagram: &[u8], origin: Origin) {
        let now = clock::monotonic_ns();
        let number = self.numbering.read(datagram, origin);
        let Some(place) = number.and_then(|number| self.place_waiting_for(number)) else {
            self.meter.late();
            return;
        };
        let request = &mut self.requests[place];
        request.waits = false;
        let took_ns = now.saturating_sub(request.asked_ns);
        self.meter.answered(request.after, took_ns);
        self.free.push(place as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::verify::HEAD_BYTES;

    /// In a window that never ends.
    fn client(outstanding: usize) -> Client {
        let client = Client::new(Numbering::new(7, None), outstanding, Arc::default());
        client.meter.open_window();
        client
    }

    /// Sends the next request, and returns it.
    fn asks(client: &mut Client) -> Vec<u8> {
        assert!(client.prepare(), "there is room");
        let mut memory = vec![0; HEAD_BYTES];
        client.fill(&mut memory);
        client.sent(1);
        memory
    }

    /// Answers timed, requests without one, answers too late.
    fn found(client: &Client) -> (u64, u64, u64) {
        let found = client.meter.round_trips();
        (found.times.count(), found.unanswered, found.late)
    }

    #[test]
    fn an_answer_ends_the_wait_of_its_own_request() {
        let mut client = client(2);
        let (first, second) = (asks(&mut client), asks(&mut client));
        assert!(!client.prepare(), "two are outstanding");
        client.check(&second, Origin::PEER);
        client.check(&second, Origin::PEER);
        assert_eq!(
            found(&client),
            (1, 1, 1),
            "the second time, nobody waits for it"
        );
        let third = asks(&mut client);
        assert!(first != third && second != third);
        for answer in [third, first] {
            client.check(&answer, Origin::PEER);
        }
        client.check(b"no answer at all", Origin::PEER);
        client.check(b"short", Origin::PEER);
        assert_eq!(found(&client), (3, 0, 3));
    }

    #[test]
    fn what_is_not_answered_is_given_up_and_its_answer_is_late() {
        let mut client = client(1);
        let request = asks(&mut client);
        client.give_up();
        assert!(!client.prepare(), "not yet");
        client.requests[0].asked_ns -= TIMEOUT_NS;
        client.give_up();
        assert_eq!(found(&client), (0, 1, 0));
        client.check(&request, Origin::PEER);
        assert_eq!(found(&client), (0, 1, 1));
        let next = asks(&mut client);
        client.check(&next, Origin::PEER);
        assert_eq!(found(&client), (1, 1, 1));
    }

    #[test]
    fn a_request_that_has_to_wait_for_room_keeps_its_time() {
        let mut client = client(1);
        assert!(client.prepare());
        let asked = client.next.map(|next| next.asked_ns);
        assert!(
            client.prepare(),
            "the system refused it, and it is tried again"
        );
        assert_eq!(client.next.map(|next| next.asked_ns), asked);
    }
}
