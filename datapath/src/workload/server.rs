//! Servers: they send each response over the endpoint of its request, to the request's source address.

use std::collections::VecDeque;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

use super::answering::{Answering, ReceivedRequest, spend};
use super::meters::TIMEOUT_NS;
use crate::data::{ServerModel, ServiceTime};
use crate::engine::payload::{Check, Fill, Origin};
use crate::engine::verify::SequenceTracker;
use crate::engine::{Meter, Spawner};
use crate::sys::clock;

/// A server, with the requests that wait for a response.
#[derive(Debug)]
pub struct Server {
    requests: VecDeque<ReceivedRequest>,
    service: Option<ServiceTime>,
    /// True if the next response is ready to be sent.
    is_served: bool,
    /// Time when the server learned that the clients have stopped.
    stopped_ns: Option<u64>,
    tracker: Option<Arc<SequenceTracker>>,
    /// Model of the worker threads, and the sockets over which they respond, one per endpoint. The start of the loop
    /// takes them.
    pub workers: (ServerModel, Vec<UdpSocket>),
    answering: Option<Answering>,
}

impl Server {
    /// Creates a server. With a `tracker`, it verifies whole requests and repeats them in the responses.
    pub fn new(service: Option<ServiceTime>, tracker: Option<Arc<SequenceTracker>>) -> Self {
        Self {
            requests: VecDeque::with_capacity(64),
            service,
            is_served: false,
            stopped_ns: None,
            tracker,
            workers: (ServerModel::Inline, Vec::new()),
            answering: None,
        }
    }

    /// Returns the tracker of the requests, while they are verified.
    pub(super) fn tracker(&self) -> Option<Arc<SequenceTracker>> {
        self.tracker.clone()
    }

    /// Starts the worker threads, if the model has any. `theirs`: the engine's own way to run a job on another thread.
    ///
    /// # Errors
    /// Fails if the threads cannot be started.
    pub(super) fn begin(
        &mut self,
        theirs: Option<Spawner>,
        payload_bytes: usize,
        meter: &Arc<Meter>,
    ) -> io::Result<()> {
        let (model, sockets) = std::mem::take(&mut self.workers);
        let over = (sockets, payload_bytes);
        self.answering = Answering::new(model, theirs, over, self.service, meter)?;
        Ok(())
    }

    /// Performs the service time of the next request, once. Of the queue that is left when clients have stopped, only
    /// requests that a client may still wait for get their service time. The server responds to the rest immediately.
    #[inline]
    pub(super) fn serve(&mut self) {
        if let Some(service) = self.service.filter(|_| !self.is_served) {
            self.is_served = true;
            if self.may_be_waited_for() {
                spend(service, clock::monotonic_ns);
            }
        }
    }

    /// Records that the clients have stopped.
    #[cold]
    pub(super) fn clients_stopped(&mut self) {
        self.stopped_ns.get_or_insert_with(clock::monotonic_ns);
    }

    /// Returns whether a client may still wait for the next response.
    #[inline]
    fn may_be_waited_for(&self) -> bool {
        self.stopped_ns
            .is_none_or(|stopped_ns| clock::monotonic_ns().saturating_sub(stopped_ns) < TIMEOUT_NS)
    }

    /// Returns the index of the next response's endpoint. `None`: no request is waiting.
    #[inline]
    pub(super) fn next(&self) -> Option<usize> {
        self.requests.front().map(|request| request.origin.endpoint)
    }
}

impl Check for Server {
    const READS_PAYLOAD: bool = true;

    #[inline]
    fn check(&mut self, datagram: &[u8], origin: Origin) {
        let mut whole = Vec::new();
        if let Some(tracker) = &self.tracker {
            tracker.enter(datagram, origin);
            whole.extend_from_slice(datagram);
        }
        // A datagram that is too short is not a request.
        if let Some(head) = datagram.first_chunk() {
            let request = ReceivedRequest {
                head: *head,
                origin,
                whole,
            };
            match &self.answering {
                None => self.requests.push_back(request),
                Some(answering) => answering.answer(request, self.may_be_waited_for()),
            }
        }
    }
}

impl Fill for Server {
    #[inline]
    fn fill(&self, memory: &mut [u8]) {
        if let Some(request) = self.requests.front() {
            request.repeat(memory);
        }
    }

    #[inline]
    fn sent(&mut self, _packets: u64) {
        self.requests.pop_front();
        self.is_served = false;
    }

    #[inline]
    fn destination(&self) -> Option<SocketAddr> {
        self.requests
            .front()
            .and_then(|request| request.origin.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::verify;

    #[test]
    fn when_clients_have_stopped_a_server_does_not_work_for_ever() {
        let service = ServiceTime {
            ns: TIMEOUT_NS,
            sleeps: true,
        };
        let mut server = Server::new(Some(service), None);
        let begin = clock::monotonic_ns();
        for _ in 0..100 {
            server.clients_stopped();
            server.serve();
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
                    endpoint: 5,
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
