//! Servers: each request is answered over the link over which it came, to whom it came from.

use std::collections::VecDeque;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

use super::answering::Answering;
use super::asked::{Asked, spend};
use super::round_trips::TIMEOUT_NS;
use crate::data::{ServerModel, ServiceTime};
use crate::engine::payload::{Check, Fill, Origin};
use crate::engine::verify::{SequenceCheck, SequenceTracker};
use crate::engine::{Meter, Spawner};
use crate::sys::clock;

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
    /// Who works beside the loop, and over which sockets they answer. Until it begins, nobody does.
    beside: (ServerModel, Vec<UdpSocket>),
    answering: Option<Answering>,
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
            beside: (ServerModel::Inline, Vec::new()),
            answering: None,
        }
    }

    /// The same, where threads beside the loop do the work, and answer over these sockets, one for each link.
    pub fn with_model(self, model: ServerModel, sockets: Vec<UdpSocket>) -> Self {
        Self {
            beside: (model, sockets),
            ..self
        }
    }

    /// Starts those threads. `theirs`: what the engine itself offers.
    ///
    /// # Errors
    /// When they cannot be had.
    pub(super) fn begin(
        &mut self,
        theirs: Option<Spawner>,
        payload_bytes: usize,
        meter: &Arc<Meter>,
    ) -> io::Result<()> {
        let (model, sockets) = std::mem::take(&mut self.beside);
        let over = (sockets, payload_bytes);
        self.answering = Answering::new(model, theirs, over, self.service, meter)?;
        Ok(())
    }

    /// Does what the next request asks for, once. Of a queue that is left when clients have stopped, it serves what
    /// they may still wait for, and answers the rest at once.
    #[inline]
    pub(super) fn serve(&mut self) {
        if let Some(service) = self.service.filter(|_| !self.is_served) {
            self.is_served = true;
            if self.may_be_waited_for() {
                spend(service, clock::monotonic_ns);
            }
        }
    }

    /// Takes note that clients have stopped.
    #[cold]
    pub(super) fn clients_stopped(&mut self) {
        self.stopped_ns.get_or_insert_with(clock::monotonic_ns);
    }

    /// Whether a client may still wait for the next answer.
    #[inline]
    fn may_be_waited_for(&self) -> bool {
        self.stopped_ns
            .is_none_or(|stopped_ns| clock::monotonic_ns().saturating_sub(stopped_ns) < TIMEOUT_NS)
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
            let asked = Asked {
                head: *head,
                origin,
                whole,
            };
            match &self.answering {
                None => self.asked.push_back(asked),
                Some(answering) => answering.answer(asked, self.may_be_waited_for()),
            }
        }
    }
}

impl Fill for Server {
    #[inline]
    fn fill(&self, memory: &mut [u8]) {
        if let Some(asked) = self.asked.front() {
            asked.repeat(memory);
        }
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
