//! How soon requests were answered.

use serde::{Deserialize, Serialize};

use super::Histogram;

/// The round trips of the requests that clients sent in a window, or that were due in it, whenever they ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundTrips {
    /// From before a request was sent until its answer was there, in nanoseconds.
    pub times: Histogram,
    /// The sum of these times, in nanoseconds.
    pub sum_ns: u64,
    /// Requests without an answer, or without one in time.
    pub unanswered: u64,
    /// What came in the whole run that nobody waited for any more: answers after that time, and what is no answer.
    pub late: u64,
    /// Of some of the answers, from when the kernel had them until the client did. Empty where it does not say.
    pub wakeups: Histogram,
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
        self.unanswered += other.unanswered;
        self.late += other.late;
        self.wakeups.add(&other.wakeups);
    }
}
