//! Numbers of a client's requests: written to their first bytes, and repeated in the responses.

use std::sync::Arc;

use crate::engine::payload::{Check, Origin};
use crate::engine::verify::{self, SequenceCheck, SequenceTracker};
use crate::engine::{FlowCounts, FlowMeter};
use crate::sys::clock;

/// Writes the numbers of a client's requests, and reads them from the responses.
#[derive(Clone, Debug)]
pub struct Numbering {
    thread: u16,
    answers: Option<Arc<SequenceTracker>>,
    flows: Option<FlowMeter>,
}

impl Numbering {
    /// Creates the numbering of client number `thread`. A client with several endpoints also uses the following numbers,
    /// one per endpoint. With a tracker, requests are filled to their end, and whole responses are recorded in it.
    pub fn new(thread: u16, answers: Option<Arc<SequenceTracker>>) -> Self {
        Self {
            thread,
            answers,
            flows: None,
        }
    }

    /// Adds a counter of the responses over each endpoint.
    pub fn counting(self, flows: Option<FlowMeter>) -> Self {
        Self { flows, ..self }
    }

    /// Returns the counter of the responses over each endpoint, if there is one.
    pub(super) fn flows(&self) -> Option<FlowCounts> {
        self.flows.as_ref().map(|flows| flows.counts.clone())
    }

    /// Returns the tracker of the responses, while they are verified.
    pub(super) fn tracker(&self) -> Option<Arc<SequenceTracker>> {
        self.answers.clone()
    }

    /// Returns the number of the client.
    pub(super) fn thread(&self) -> u16 {
        self.thread
    }

    /// Writes a request for this endpoint.
    #[inline]
    pub(super) fn write(&self, memory: &mut [u8], endpoint: usize, number: u64) {
        let thread = self.thread_of(endpoint);
        if self.answers.is_some() {
            verify::write(memory, thread, number, clock::monotonic_ns());
        } else {
            verify::write_head(memory, thread, number);
        }
    }

    #[inline]
    fn thread_of(&self, endpoint: usize) -> u16 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "there are no more threads than numbers of them"
        )]
        let endpoint = endpoint as u16;
        self.thread.wrapping_add(endpoint)
    }

    /// Returns the number of the request that a datagram responds to. `None`: the datagram is no response, or belongs
    /// to another client or endpoint.
    #[inline]
    pub(super) fn read(&self, datagram: &[u8], origin: Origin) -> Option<u64> {
        if let Some(answers) = &self.answers {
            SequenceCheck(Arc::clone(answers)).check(datagram, origin);
        }
        let (thread, number) = verify::read_head(datagram)?;
        if thread != self.thread_of(origin.endpoint) {
            return None;
        }
        if let Some(flows) = &self.flows {
            flows.count(origin.endpoint);
        }
        Some(number)
    }
}
