//! How well what was to go at a rate kept to it.

use serde::{Deserialize, Serialize};

use super::Histogram;

/// How the senders of a flood at a rate kept to their schedules in a window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pacing {
    /// Datagrams that went only when the next one was due, too: their thread was behind.
    pub late: u64,
    /// Times from one datagram of the first flow of a sender to the next one, in nanoseconds, as the kernel stamped them
    /// when they left. Of some bursts. Empty where it stamps none.
    pub left: Histogram,
    /// The same from the end of one call that sent to the end of the next one. Of all of them.
    pub returned: Histogram,
}

impl Pacing {
    /// Those of another sender, or of another window, too.
    pub fn add(&mut self, other: &Self) {
        self.late += other.late;
        self.left.add(&other.left);
        self.returned.add(&other.returned);
    }
}
