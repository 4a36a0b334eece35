//! The counts that a program publishes, on their way from the page to the meter of its bench thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::page::Page;
use super::task::{Published, Role};
use crate::engine::{Meter, OutsideCounts, Tally};

/// The page, and the counts at the last look.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) page: Page,
    role: Role,
    /// The counts, and the time of the look.
    last: Mutex<(Published, Instant)>,
    /// True once the program has published counts that cannot be right.
    is_wrong: AtomicBool,
}

impl Shared {
    pub(super) fn new(page: Page, role: Role) -> Self {
        Self {
            page,
            role,
            last: Mutex::new((Published::default(), Instant::now())),
            is_wrong: AtomicBool::default(),
        }
    }

    /// Returns the counts when they were published last.
    pub(super) fn counts(&self) -> Published {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    /// Checks that the program has not published counts that cannot be right.
    ///
    /// # Errors
    /// Returns what it did.
    pub(super) fn check(&self) -> Result<(), &'static str> {
        if self.is_wrong.load(Ordering::Relaxed) {
            return Err("published counts that went back, or grew beyond all limits");
        }
        Ok(())
    }
}

impl OutsideCounts for Shared {
    fn publish(&self, meter: &Meter) {
        let mut looked = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (now, at) = (self.page.published(), Instant::now());
        let (last, then) = *looked;
        if !now.can_follow(&last, at.saturating_duration_since(then)) {
            self.is_wrong.store(true, Ordering::Relaxed);
        }
        if self.is_wrong.load(Ordering::Relaxed) {
            return;
        }
        // A refused datagram is counted as refused before it is counted as sent.
        meter.refusals.add(now.refused - last.refused, 0);
        meter
            .errors
            .fetch_add(now.errors - last.errors, Ordering::Relaxed);
        let received = |packets| Tally {
            packets,
            bytes: now.bytes,
        };
        match self.role {
            Role::Send => meter.sent.publish(now.packets + now.refused),
            Role::Receive => meter.received.publish(received(now.packets)),
            Role::Client => {
                meter.received.publish(received(now.answered + now.late));
                meter.sent.publish(now.packets + now.refused);
            }
            Role::Server => {
                meter.received.publish(received(now.packets));
                meter.sent.publish(now.answered + now.refused);
            }
        }
        *looked = (now, at);
    }
}
