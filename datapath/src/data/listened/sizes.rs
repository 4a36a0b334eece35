//! Lengths of payloads.

/// Lengths of payloads, the first 32 different ones with their counts. Sensors have few.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// Length in bytes, and datagrams of this length.
    counts: [(u32, u64); KEPT],
    used: usize,
    others: u64,
    least: u32,
    most: u32,
}

const KEPT: usize = 32;

impl Default for Sizes {
    fn default() -> Self {
        Self {
            counts: [(0, 0); KEPT],
            used: 0,
            others: 0,
            least: u32::MAX,
            most: 0,
        }
    }
}

impl Sizes {
    pub(super) fn enter(&mut self, bytes: u32) {
        self.least = self.least.min(bytes);
        self.most = self.most.max(bytes);
        let known = self.counts[..self.used].iter_mut();
        if let Some((_, count)) = { known }.find(|(size, _)| *size == bytes) {
            *count += 1;
        } else if let Some(free) = self.counts.get_mut(self.used) {
            *free = (bytes, 1);
            self.used += 1;
        } else {
            self.others += 1;
        }
    }

    /// Returns the lengths in bytes with their counts, the most frequent first.
    pub fn by_count(&self) -> Vec<(u32, u64)> {
        let mut counts = self.counts[..self.used].to_vec();
        counts.sort_by_key(|&(size, count)| (std::cmp::Reverse(count), size));
        counts
    }

    /// Returns the number of datagrams of other lengths.
    pub fn others(&self) -> u64 {
        self.others
    }

    /// Returns the shortest and the longest length in bytes. `None`: nothing came.
    pub fn range(&self) -> Option<(u32, u32)> {
        (self.least <= self.most).then_some((self.least, self.most))
    }
}
