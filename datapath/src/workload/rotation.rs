//! Round-robin rotation of a sender's endpoints.

use crate::engine::payload::Fill;
use crate::engine::verify::SequenceWriter;

/// Selects the endpoint of the next batch, and fills its datagrams.
#[derive(Debug)]
pub struct Rotation {
    links: usize,
    link: usize,
    /// Writers of the datagrams: one per endpoint, or none.
    writers: Vec<SequenceWriter>,
}

impl Rotation {
    /// Creates a rotation of `links` endpoints, one or more.
    pub fn of(links: usize, writers: Vec<SequenceWriter>) -> Self {
        Self {
            links,
            // Random start: a window may end before the first rotation is complete.
            link: fastrand::usize(..links),
            writers,
        }
    }

    /// Returns the number of endpoints.
    pub(super) fn links(&self) -> usize {
        self.links
    }

    /// Returns the index of the current endpoint.
    #[inline]
    pub(super) fn link(&self) -> usize {
        self.link
    }

    /// Moves on to the next endpoint.
    #[inline]
    pub(super) fn turn(&mut self) {
        self.link = (self.link + 1) % self.links;
    }
}

impl Fill for Rotation {
    fn fill(&self, memory: &mut [u8]) {
        if let Some(writer) = self.writers.get(self.link) {
            writer.fill(memory);
        }
    }

    fn sent(&mut self, packets: u64) {
        if let Some(writer) = self.writers.get_mut(self.link) {
            writer.sent(packets);
        }
    }
}
