//! What is said of those who got no session: a line a second, however many there are.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// A flood of connections is not to fill a log.
const BETWEEN: Duration = Duration::from_secs(1);

/// Which of them were told.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    last: Option<Instant>,
    /// Since that one.
    untold: u64,
}

impl Refusals {
    /// Says why this one was refused, or counts it.
    pub(super) fn tell(&mut self, peer: SocketAddr, reason: &str, say: &mut impl FnMut(&str)) {
        let now = Instant::now();
        if self.last.is_some_and(|last| now < last + BETWEEN) {
            self.untold += 1;
            return;
        }
        self.last = Some(now);
        let more = match std::mem::take(&mut self.untold) {
            0 => String::new(),
            untold => format!(" ({untold} more were refused before)"),
        };
        say(&format!("refused {peer}: {reason}{more}"));
    }
}
