//! Contents of the page beside counts: the times of round trips, and datagrams while they are verified.

use super::Bench;
use super::page::Page;
use super::task::{Published, Role};
use crate::engine::payload::{Fill, Origin};
use crate::engine::verify::SequenceWriter;
use crate::workload::RoundTripMeter;

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
        let end = used + Page::slots();
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
        if received - self.slots > Page::slots() {
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
        let oldest = now.answered.saturating_sub(Page::round_trips());
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
