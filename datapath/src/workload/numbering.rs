//! Numbers of a client's requests: written to their first bytes, and repeated in the responses.

use std::sync::Arc;

use crate::engine::FlowMeter;
use crate::engine::payload::Origin;
use crate::engine::verify::{self, SequenceTracker};
use crate::sys::clock;

/// Writes the numbers of a client's requests, and reads them from the responses.
#[derive(Clone, Debug)]
pub struct Numbering {
    /// Number of the first flow.
    pub(crate) first_flow: u16,
    /// Tracker of the responses, while they are verified.
    pub(super) response_tracker: Option<Arc<SequenceTracker>>,
    /// Counter of the responses over each endpoint, if there is one.
    pub flows: Option<FlowMeter>,
}

impl Numbering {
    /// Creates the numbering of a client. Its endpoints have the flow numbers from `first_flow` on, one each. With a
    /// tracker, requests are filled to their end, and whole responses are recorded in it.
    pub fn new(first_flow: u16, response_tracker: Option<Arc<SequenceTracker>>) -> Self {
        Self {
            first_flow,
            response_tracker,
            flows: None,
        }
    }

    /// Writes a request for this endpoint.
    #[inline]
    pub(super) fn write(&self, memory: &mut [u8], endpoint: usize, number: u64) {
        let flow = self.flow_of(endpoint);
        if self.response_tracker.is_some() {
            verify::write(memory, flow, number, clock::monotonic_ns());
        } else {
            verify::write_head(memory, flow, number);
        }
    }

    #[inline]
    fn flow_of(&self, endpoint: usize) -> u16 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the plan allows no more flows than `u16` can number"
        )]
        let endpoint = endpoint as u16;
        self.first_flow.wrapping_add(endpoint)
    }

    /// Returns the number of the request that a datagram responds to. `None`: the datagram is no response, or belongs
    /// to another client or endpoint.
    #[inline]
    pub(super) fn read(&self, datagram: &[u8], origin: Origin) -> Option<u64> {
        if let Some(tracker) = &self.response_tracker {
            tracker.enter(datagram, origin);
        }
        let (flow, number) = verify::read_head(datagram)?;
        if flow != self.flow_of(origin.endpoint) {
            return None;
        }
        if let Some(flows) = &self.flows {
            flows.count(origin.endpoint);
        }
        Some(number)
    }
}
