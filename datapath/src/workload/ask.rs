//! Clients that send the next request when an answer is there, and servers. A request is known by its number, in its
//! first bytes, which the answer repeats.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use std::{hint, thread};

use super::round_trips::RoundTripMeter;
use crate::data::ServiceTime;
use crate::engine::payload::{Check, Fill, Origin};
use crate::engine::verify::{self, HEAD_BYTES, SequenceCheck, SequenceTracker};
use crate::sys::clock;

/// After so long without an answer, in nanoseconds, a request is given up: on loopback it is lost then.
pub const TIMEOUT_NS: u64 = 250_000_000;

/// Computes, or sleeps.
fn spend(service: ServiceTime) {
    if service.sleeps {
        thread::sleep(Duration::from_nanos(service.ns));
        return;
    }
    let end = clock::monotonic_ns() + service.ns;
    while clock::monotonic_ns() < end {
        hint::spin_loop();
    }
}

/// The requests of one client, and the answers to them.
#[derive(Debug)]
pub struct Client {
    lane: u16,
    /// One for each request that may be under way. That of number n is in place n modulo so many.
    requests: Box<[Request]>,
    /// Places without a request.
    free: Vec<u64>,
    /// Requests sent so far.
    sent: u64,
    /// What goes next. It stays until it has gone: time that the system takes to have room for it counts.
    next: Option<Request>,
    meter: Arc<RoundTripMeter>,
    tracker: Option<Arc<SequenceTracker>>,
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
    /// With so many requests outstanding. With a `tracker`, whole answers are looked at.
    pub fn new(
        lane: u16,
        outstanding: usize,
        meter: Arc<RoundTripMeter>,
        tracker: Option<Arc<SequenceTracker>>,
    ) -> Self {
        Self {
            lane,
            requests: vec![Request::default(); outstanding].into(),
            free: (0..outstanding as u64).rev().collect(),
            sent: 0,
            next: None,
            meter,
            tracker,
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
        let Some(next) = self.next else { return };
        if self.tracker.is_some() {
            verify::write(memory, self.lane, next.number);
        } else {
            verify::write_head(memory, self.lane, next.number);
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
        if let Some(tracker) = &self.tracker {
            SequenceCheck(Arc::clone(tracker)).check(datagram, origin);
        }
        let ours = verify::read_head(datagram).filter(|(lane, _)| *lane == self.lane);
        let Some(place) = ours.and_then(|(_, number)| self.place_waiting_for(number)) else {
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

/// The requests that a server has still to answer.
#[derive(Debug)]
pub struct Server {
    asked: VecDeque<Asked>,
    service: Option<ServiceTime>,
    /// Whether the next answer is ready to go.
    is_served: bool,
    /// When it saw that clients have stopped.
    stopped_ns: Option<u64>,
    tracker: Option<Arc<SequenceTracker>>,
}

#[derive(Debug)]
struct Asked {
    head: [u8; HEAD_BYTES],
    origin: Origin,
    /// All of it, where it is looked at.
    whole: Vec<u8>,
}

impl Server {
    /// With a `tracker`, whole requests are looked at, and repeated in the answers.
    pub fn new(service: Option<ServiceTime>, tracker: Option<Arc<SequenceTracker>>) -> Self {
        Self {
            asked: VecDeque::with_capacity(64),
            service,
            is_served: false,
            stopped_ns: None,
            tracker,
        }
    }

    /// Does what the next request asks for, once. Of a queue that is left when clients have stopped, it serves what
    /// they may still wait for, and answers the rest at once.
    #[inline]
    pub(super) fn serve(&mut self, clients_stopped: bool) {
        if let Some(service) = self.service.filter(|_| !self.is_served) {
            self.is_served = true;
            if !clients_stopped || self.may_be_waited_for() {
                spend(service);
            }
        }
    }

    #[cold]
    fn may_be_waited_for(&mut self) -> bool {
        let now = clock::monotonic_ns();
        now.saturating_sub(*self.stopped_ns.get_or_insert(now)) < TIMEOUT_NS
    }

    /// The link over which the next answer goes. `None`: all is answered.
    #[inline]
    pub(super) fn next(&self) -> Option<usize> {
        self.asked.front().map(|asked| asked.origin.link)
    }
}

impl Check for Server {
    const LOOKS: bool = true;

    #[inline]
    fn check(&mut self, datagram: &[u8], origin: Origin) {
        let mut whole = Vec::new();
        if let Some(tracker) = &self.tracker {
            SequenceCheck(Arc::clone(tracker)).check(datagram, origin);
            whole.extend_from_slice(datagram);
        }
        // What is too short is nobody's request.
        if let Some(head) = datagram.first_chunk() {
            self.asked.push_back(Asked {
                head: *head,
                origin,
                whole,
            });
        }
    }
}

impl Fill for Server {
    #[inline]
    fn fill(&self, memory: &mut [u8]) {
        let Some(asked) = self.asked.front() else {
            return;
        };
        let repeated = if asked.whole.is_empty() {
            &asked.head[..]
        } else {
            &asked.whole
        };
        let bytes = repeated.len().min(memory.len());
        memory[..bytes].copy_from_slice(&repeated[..bytes]);
    }

    #[inline]
    fn sent(&mut self, _packets: u64) {
        self.asked.pop_front();
        self.is_served = false;
    }

    #[inline]
    fn destination(&self) -> Option<SocketAddr> {
        self.asked.front().and_then(|asked| asked.origin.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a window that never ends.
    fn client(outstanding: usize) -> Client {
        let client = Client::new(7, outstanding, Arc::default(), None);
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

    #[test]
    fn when_clients_have_stopped_a_server_does_not_work_for_ever() {
        let service = ServiceTime {
            ns: TIMEOUT_NS,
            sleeps: true,
        };
        let mut server = Server::new(Some(service), None);
        let begin = clock::monotonic_ns();
        for _ in 0..100 {
            server.serve(true);
            server.sent(1);
        }
        let took = clock::monotonic_ns() - begin;
        assert!((TIMEOUT_NS..20 * TIMEOUT_NS).contains(&took), "{took} ns");
    }

    #[test]
    fn a_server_answers_in_turn_and_to_whom_asked() {
        let mut server = Server::new(None, None);
        assert_eq!(server.next(), None);
        let sources: [SocketAddr; 2] = [([127, 0, 0, 1], 7).into(), ([127, 0, 0, 1], 8).into()];
        for (number, source) in (0..).zip(sources) {
            let mut request = [0; 20];
            verify::write_head(&mut request, 3, number);
            server.check(
                &request,
                Origin {
                    link: 5,
                    source: Some(source),
                },
            );
        }
        server.check(b"short", Origin::PEER);
        for (number, source) in (0..).zip(sources) {
            assert_eq!(
                (server.next(), server.destination()),
                (Some(5), Some(source))
            );
            let mut answer = [0; 20];
            server.fill(&mut answer);
            assert_eq!(verify::read_head(&answer), Some((3, number)));
            server.sent(1);
        }
        assert_eq!(server.next(), None);
    }
}
