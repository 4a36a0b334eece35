//! How a client knows its requests: by their numbers, in their first bytes, which the answers repeat.

use std::sync::Arc;

use crate::engine::payload::{Check, Origin};
use crate::engine::verify::{self, SequenceCheck, SequenceTracker};
use crate::engine::{FlowCounts, FlowMeter};
use crate::sys::clock;

/// Writes the numbers of a client's requests, and reads them in the answers.
#[derive(Clone, Debug)]
pub struct Numbering {
    lane: u16,
    answers: Option<Arc<SequenceTracker>>,
    flows: Option<FlowMeter>,
}

impl Numbering {
    /// Of the client of that number; one of several links has the numbers that follow, too, one for each. With a tracker, requests are filled to their end, and whole answers entered there.
    pub fn new(lane: u16, answers: Option<Arc<SequenceTracker>>) -> Self {
        Self {
            lane,
            answers,
            flows: None,
        }
    }

    /// The same, which counts the answers over each link.
    pub fn counting(self, flows: Option<FlowMeter>) -> Self {
        Self { flows, ..self }
    }

    /// Where answers are counted by link, if they are.
    pub(super) fn flows(&self) -> Option<FlowCounts> {
        self.flows.as_ref().map(|flows| flows.counts.clone())
    }

    /// The number of the client.
    pub(super) fn lane(&self) -> u16 {
        self.lane
    }

    /// Prepares a request that goes over this link.
    #[inline]
    pub(super) fn write(&self, memory: &mut [u8], link: usize, number: u64) {
        let lane = self.lane_of(link);
        if self.answers.is_some() {
            verify::write(memory, lane, number, clock::monotonic_ns());
        } else {
            verify::write_head(memory, lane, number);
        }
    }

    #[inline]
    fn lane_of(&self, link: usize) -> u16 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "there are no more lanes than numbers of them"
        )]
        let link = link as u16;
        self.lane.wrapping_add(link)
    }

    /// The number of the request that a datagram answers. `None`: none of this client, or of another link.
    #[inline]
    pub(super) fn read(&self, datagram: &[u8], origin: Origin) -> Option<u64> {
        if let Some(answers) = &self.answers {
            SequenceCheck(Arc::clone(answers)).check(datagram, origin);
        }
        let (lane, number) = verify::read_head(datagram)?;
        if lane != self.lane_of(origin.link) {
            return None;
        }
        if let Some(flows) = &self.flows {
            flows.count(origin.link);
        }
        Some(number)
    }
}
