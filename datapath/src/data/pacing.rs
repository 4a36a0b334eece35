//! How well what was to go at a rate kept to it.

use serde::{Deserialize, Serialize};

/// How the senders of a flood at a rate kept to their schedules in a window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pacing {
    /// Datagrams that went only when the next one was due, too: their thread was behind.
    pub late: u64,
}

impl Pacing {
    /// Those of another sender, or of another window, too.
    pub fn add(&mut self, other: &Self) {
        self.late += other.late;
    }
}
