//! How soon requests were answered.

use serde::{Deserialize, Serialize};

use super::Histogram;

/// The round trips of all clients that ended within a window, and those that did not end in time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundTrips {
    /// From before a request was sent until its answer was there, in nanoseconds.
    pub times: Histogram,
    /// The sum of these times, in nanoseconds.
    pub sum_ns: u64,
    /// Requests that were given up, as no answer came in time.
    pub timed_out: u64,
    /// Answers that came after that.
    pub late: u64,
}

impl RoundTrips {
    /// The mean time, in nanoseconds. `None`: there were none.
    pub fn mean_ns(&self) -> Option<f64> {
        let count = self.times.count();
        (count > 0).then(|| self.sum_ns as f64 / count as f64)
    }

    /// Those of another client, or of another window, too.
    pub fn add(&mut self, other: &Self) {
        self.times.add(&other.times);
        self.sum_ns += other.sum_ns;
        self.timed_out += other.timed_out;
        self.late += other.late;
    }

    /// Those that came after `earlier`, a reading of the same client.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            times: self.times.since(&earlier.times),
            sum_ns: self.sum_ns.saturating_sub(earlier.sum_ns),
            timed_out: self.timed_out.saturating_sub(earlier.timed_out),
            late: self.late.saturating_sub(earlier.late),
        }
    }
}
