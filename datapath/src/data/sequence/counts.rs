//! Counts of numbered datagrams.

use std::ops::{AddAssign, Sub};

use serde::{Deserialize, Serialize};

/// Counts of the numbered datagrams of a source. A number is missing if it did not come, and lies between the first and
/// the last one that came of its part of the series. A part ends where the numbers begin again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceCounts {
    /// Different numbers that came.
    pub received: u64,
    /// Missing numbers. Below 0 in a window in which more late numbers came than went missing.
    pub missing: i64,
    /// Places where numbers are missing: gaps in the numbers.
    pub places: i64,
    /// Datagrams that came after one with a higher number.
    pub late: u64,
    /// Datagrams whose number had come before.
    pub duplicates: u64,
    /// Places where the numbers began again elsewhere and went on from there. Losses at such a place are not known.
    pub restarts: u64,
    /// Datagrams with a number far away from the series: older than the last 4094, or from nowhere.
    pub strays: u64,
    /// Numbers that follow one that came. Where the socket dropped as many datagrams as are missing, they follow, too.
    pub following: u64,
}

impl AddAssign for SequenceCounts {
    fn add_assign(&mut self, other: Self) {
        self.received += other.received;
        self.missing += other.missing;
        self.places += other.places;
        self.late += other.late;
        self.duplicates += other.duplicates;
        self.restarts += other.restarts;
        self.strays += other.strays;
        self.following += other.following;
    }
}

impl Sub for SequenceCounts {
    type Output = Self;

    /// Returns what was counted since an earlier moment.
    fn sub(self, earlier: Self) -> Self {
        Self {
            received: self.received - earlier.received,
            missing: self.missing - earlier.missing,
            places: self.places - earlier.places,
            late: self.late - earlier.late,
            duplicates: self.duplicates - earlier.duplicates,
            restarts: self.restarts - earlier.restarts,
            strays: self.strays - earlier.strays,
            following: self.following - earlier.following,
        }
    }
}
