//! Round-robin rotation of a sender's endpoints.

use crate::engine::payload::Fill;
use crate::engine::verify::SequenceWriter;

/// Selects the endpoint of the next batch, and fills its datagrams.
#[derive(Debug)]
pub struct Rotation {
    endpoints: usize,
    endpoint: usize,
    /// Writers of the datagrams: one per endpoint, or none.
    writers: Vec<SequenceWriter>,
}

impl Rotation {
    /// Creates a rotation of `links` endpoints, one or more.
    pub fn of(endpoints: usize, writers: Vec<SequenceWriter>) -> Self {
        Self {
            endpoints,
            // Random start: a window may end before the first rotation is complete.
            endpoint: fastrand::usize(..endpoints),
            writers,
        }
    }

    /// Returns the number of endpoints.
    pub(super) fn endpoints(&self) -> usize {
        self.endpoints
    }

    /// Returns the index of the current endpoint.
    #[inline]
    pub(super) fn endpoint(&self) -> usize {
        self.endpoint
    }

    /// Moves on to the next endpoint.
    #[inline]
    pub(super) fn turn(&mut self) {
        self.endpoint = (self.endpoint + 1) % self.endpoints;
    }
}

impl Fill for Rotation {
    fn fill(&self, memory: &mut [u8]) {
        if let Some(writer) = self.writers.get(self.endpoint) {
            writer.fill(memory);
        }
    }

    fn sent(&mut self, packets: u64) {
        if let Some(writer) = self.writers.get_mut(self.endpoint) {
            writer.sent(packets);
        }
    }
}
