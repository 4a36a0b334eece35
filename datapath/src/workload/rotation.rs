//! A sender goes round its links.

use crate::engine::payload::Fill;
use crate::engine::verify::SequenceWriter;

/// Which link is next, and what the datagrams hold that go over it.
#[derive(Debug)]
pub struct Rotation {
    links: usize,
    link: usize,
    /// One for each link, or none.
    writers: Vec<SequenceWriter>,
}

impl Rotation {
    /// Over so many links, one or more.
    pub fn of(links: usize, writers: Vec<SequenceWriter>) -> Self {
        Self {
            links,
            // Anywhere: a window may be over before it has been round.
            link: fastrand::usize(..links),
            writers,
        }
    }

    /// How many there are.
    pub(super) fn links(&self) -> usize {
        self.links
    }

    /// Whose turn it is.
    #[inline]
    pub(super) fn link(&self) -> usize {
        self.link
    }

    /// It is the next one's turn.
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
