//! What a program publishes on its page: its counts, on their way to the meter of its bench thread; the times of round
//! trips; and datagrams while they are verified.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::Bench;
use super::page::{Page, Published, ROUND_TRIPS, SLOTS};
use crate::engine::payload::{Fill, Origin};
use crate::engine::verify::SequenceWriter;
use crate::engine::{Meter, OutsideCounts, Tally, lock};
use crate::workload::RoundTripMeter;

/// Task of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Role {
    Send = 1,
    Receive = 2,
    Client = 3,
    Server = 4,
}

impl Role {
    /// Returns whether the program ends by itself once `stop` is set.
    pub(super) fn initiates(self) -> bool {
        matches!(self, Self::Send | Self::Client)
    }
}

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

    /// Copies the counts so far into the meter, and returns them.
    ///
    /// # Errors
    /// Returns what the program did if it has published counts that cannot be right, now or before.
    pub(super) fn copy_counts(&self, meter: &Meter) -> Result<Published, &'static str> {
        let mut looked = lock(&self.last);
        let (now, at) = (self.page.published(), Instant::now());
        let (last, then) = *looked;
        if !now.can_follow(&last, at.saturating_duration_since(then)) {
            self.is_wrong.store(true, Ordering::Relaxed);
        }
        if self.is_wrong.load(Ordering::Relaxed) {
            return Err("published counts that went back, or grew beyond all limits");
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
        Ok(now)
    }
}

impl OutsideCounts for Shared {
    fn publish(&self, meter: &Meter) {
        // The bench thread learns of an error by its own call.
        let _ = self.copy_counts(meter);
    }
}

/// The datagrams and round trips that pass through the page.
pub(super) struct Contents<'a> {
    bench: &'a Bench,
    writer: Option<SequenceWriter>,
    /// Slots that are filled, or read.
    slots: u64,
    /// Responses whose round trips are counted, and requests that were given up.
    answered: u64,
    given_up: u64,
    late: u64,
    /// Memory of one datagram.
    datagram: Vec<u8>,
}

impl<'a> Contents<'a> {
    pub(super) fn new(bench: &'a Bench) -> Self {
        Self {
            bench,
            writer: bench.writer.clone(),
            slots: 0,
            answered: 0,
            given_up: 0,
            late: 0,
            datagram: Vec::new(),
        }
    }

    /// Takes what the program has published since the last call, and gives it what it sends next. So no call takes
    /// longer than all slots and all round-trip times do, whatever was published.
    ///
    /// # Errors
    /// Returns what the program did if it used slots that it must not use yet.
    pub(super) fn exchange(&mut self, page: &Page, now: &Published) -> Result<(), &'static str> {
        if let Some(meter) = &self.bench.round_trips {
            self.count_round_trips(meter, page, now);
        }
        match self.bench.role {
            Role::Send => self.fill(page, now.packets),
            Role::Client => self.fill(page, self.answered),
            Role::Receive | Role::Server => self.check(page, now.packets),
        }
    }

    /// Fills the slots that the program has used up.
    fn fill(&mut self, page: &Page, used: u64) -> Result<(), &'static str> {
        let Some(writer) = &mut self.writer else {
            return Ok(());
        };
        if used > self.slots {
            return Err("counted datagrams before `slots_ready` let it send them");
        }
        self.datagram.resize(self.bench.options.payload_bytes, 0);
        let end = used + SLOTS;
        while self.slots < end {
            writer.fill(&mut self.datagram);
            writer.sent(1);
            page.fill_slot(self.slots, &self.datagram);
            self.slots += 1;
        }
        page.publish_slots(self.slots);
        Ok(())
    }

    /// Checks the datagrams that the program has put into slots.
    fn check(&mut self, page: &Page, received: u64) -> Result<(), &'static str> {
        let Some(tracker) = &self.bench.tracker else {
            return Ok(());
        };
        if received - self.slots > SLOTS {
            return Err("counted datagrams without waiting for `slots_ready`");
        }
        while self.slots < received {
            page.read_slot(self.slots, &mut self.datagram);
            tracker.enter(&self.datagram, Origin::PEER);
            self.slots += 1;
        }
        page.publish_slots(self.slots);
        Ok(())
    }

    /// Counts the round trips since the last look. Those at an edge of the window belong to it by the time of the look.
    fn count_round_trips(&mut self, meter: &RoundTripMeter, page: &Page, now: &Published) {
        let is_open = meter.is_open();
        // A request without a response so far may still get one: the last one.
        let given_up = now.packets.saturating_sub(now.answered + 1);
        if is_open {
            meter.sent_requests(given_up.saturating_sub(self.given_up));
        }
        self.given_up = self.given_up.max(given_up);
        // Those before are overwritten.
        let oldest = now.answered.saturating_sub(ROUND_TRIPS);
        for n in self.answered.max(oldest)..now.answered {
            let Some(ns) = page.round_trip_ns(n, now.answered) else {
                continue;
            };
            if is_open {
                meter.sent_requests(1);
                meter.answered(ns);
            }
            if let Some(tracker) = &self.bench.tracker {
                page.read_slot(n, &mut self.datagram);
                tracker.enter(&self.datagram, Origin::PEER);
            }
        }
        self.answered = now.answered;
        meter.late(now.late - self.late);
        self.late = now.late;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn counts_that_go_back_or_that_no_cpu_is_fast_enough_for_cannot_follow() {
        let counts = |packets| Published {
            packets,
            bytes: 300 * packets,
            ..Published::default()
        };
        let can_follow = |now, then, elapsed| {
            counts(now).can_follow(&counts(then), Duration::from_millis(elapsed))
        };
        assert!(can_follow(1024, 0, 0), "a batch between two looks");
        assert!(can_follow(10_000_000, 0, 100), "100 Mpps");
        assert!(!can_follow(5, 100, 100));
        assert!(!can_follow(0xf000_0000, 0, 100));
    }
}
