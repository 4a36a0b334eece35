//! Lengths of payloads.

/// Lengths of payloads, the first 32 different ones with their counts. Sensors have few.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// Length in bytes, and datagrams of this length.
    counts: Vec<(u32, u64)>,
    /// Datagrams of other lengths.
    pub others: u64,
    /// The shortest and the longest length in bytes. `None`: nothing came.
    pub range: Option<(u32, u32)>,
}

const KEPT: usize = 32;

impl Sizes {
    pub(super) fn new() -> Self {
        Self {
            counts: Vec::with_capacity(KEPT),
            others: 0,
            range: None,
        }
    }

    pub(super) fn enter(&mut self, bytes: u32) {
        let (least, most) = self.range.unwrap_or((bytes, bytes));
        self.range = Some((least.min(bytes), most.max(bytes)));
        let mut known = self.counts.iter_mut();
        if let Some((_, count)) = known.find(|(size, _)| *size == bytes) {
            *count += 1;
        } else if self.counts.len() < KEPT {
            self.counts.push((bytes, 1));
        } else {
            self.others += 1;
        }
    }

    /// Returns the lengths in bytes with their counts, the most frequent first.
    pub fn by_count(&self) -> Vec<(u32, u64)> {
        let mut counts = self.counts.clone();
        counts.sort_by_key(|&(size, count)| (std::cmp::Reverse(count), size));
        counts
    }
}
