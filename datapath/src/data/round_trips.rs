//! Response times of requests.

use serde::{Deserialize, Serialize};

use super::Histogram;

/// The round trips of the requests that clients sent in a window, or that were due in it, whenever they ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundTrips {
    /// Times from before a request was sent until its response was received, in nanoseconds.
    pub times: Histogram,
    /// Sum of these times, in nanoseconds.
    pub sum_ns: u64,
    /// Requests without a response before the timeout.
    pub unanswered: u64,
    /// Datagrams of the whole run that no request waited for: responses after the timeout, and datagrams that are no
    /// response.
    pub late: u64,
    /// Times from when the kernel received a response until the client did, in nanoseconds. A sample of some
    /// responses. Empty if the kernel does not report it.
    pub wakeups: Histogram,
}

impl RoundTrips {
    /// Returns the mean time, in nanoseconds. `None`: no response was received.
    pub fn mean_ns(&self) -> Option<f64> {
        let count = self.times.count();
        (count > 0).then(|| self.sum_ns as f64 / count as f64)
    }

    /// Adds the round trips of another client or window.
    pub fn add(&mut self, other: &Self) {
        self.times.add(&other.times);
        self.sum_ns += other.sum_ns;
        self.unanswered += other.unanswered;
        self.late += other.late;
        self.wakeups.add(&other.wakeups);
    }
}
