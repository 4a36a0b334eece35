//! How a client knows its requests: by their numbers, in their first bytes, which the answers repeat.

use std::sync::Arc;

use crate::engine::payload::{Check, Origin};
use crate::engine::verify::{self, SequenceCheck, SequenceTracker};

/// Writes the numbers of a client's requests, and reads them in the answers.
#[derive(Clone, Debug)]
pub struct Numbering {
    lane: u16,
    answers: Option<Arc<SequenceTracker>>,
}

impl Numbering {
    /// Of the client of that number. With a tracker, requests are filled to their end, and whole answers entered there.
    pub fn new(lane: u16, answers: Option<Arc<SequenceTracker>>) -> Self {
        Self { lane, answers }
    }

    /// The number of the client.
    pub(super) fn lane(&self) -> u16 {
        self.lane
    }

    /// Prepares a request.
    #[inline]
    pub(super) fn write(&self, memory: &mut [u8], number: u64) {
        if self.answers.is_some() {
            verify::write(memory, self.lane, number);
        } else {
            verify::write_head(memory, self.lane, number);
        }
    }

    /// The number of the request that a datagram answers. `None`: none of this client.
    #[inline]
    pub(super) fn read(&self, datagram: &[u8], origin: Origin) -> Option<u64> {
        if let Some(answers) = &self.answers {
            SequenceCheck(Arc::clone(answers)).check(datagram, origin);
        }
        let (lane, number) = verify::read_head(datagram)?;
        (lane == self.lane).then_some(number)
    }
}
