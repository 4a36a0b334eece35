//! What passes through the page beside counts: the times of round trips, and datagrams while they are verified.

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

    /// Takes what the program has published since the last call, and gives it what it sends next.
    pub(super) fn exchange(&mut self, page: &Page, now: &Published) {
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
    fn fill(&mut self, page: &Page, used: u64) {
        let Some(writer) = &mut self.writer else {
            return;
        };
        self.datagram.resize(self.bench.options.payload_bytes, 0);
        let end = used + Page::slots();
        while self.slots < end {
            writer.fill(&mut self.datagram);
            writer.sent(1);
            page.fill_slot(self.slots, &self.datagram);
            self.slots += 1;
        }
        page.publish_slots(self.slots);
    }

    /// Checks the datagrams that the program has put into slots.
    fn check(&mut self, page: &Page, received: u64) {
        let Some(tracker) = &self.bench.tracker else {
            return;
        };
        // Slots that were overwritten are lost, which verification reports.
        self.slots = self.slots.max(received.saturating_sub(Page::slots()));
        while self.slots < received {
            page.read_slot(self.slots, &mut self.datagram);
            tracker.enter(&self.datagram, Origin::PEER);
            self.slots += 1;
        }
        page.publish_slots(self.slots);
    }

    /// Counts the round trips since the last look. Those at an edge of the window belong to it by the time of the look.
    fn count_round_trips(&mut self, meter: &RoundTripMeter, page: &Page, now: &Published) {
        let is_open = meter.is_open();
        // A request without a response so far may still get one: the last one.
        let given_up = now.packets.saturating_sub(now.answered + 1);
        for _ in self.given_up..given_up {
            if is_open {
                meter.sent_request();
            }
        }
        self.given_up = self.given_up.max(given_up);
        for n in self.answered..now.answered {
            let Some(ns) = page.round_trip_ns(n, now.answered) else {
                continue;
            };
            if is_open {
                meter.sent_request();
                meter.answered(ns);
            }
            if let Some(tracker) = &self.bench.tracker {
                page.read_slot(n, &mut self.datagram);
                tracker.enter(&self.datagram, Origin::PEER);
            }
        }
        self.answered = now.answered;
        for _ in self.late..now.late {
            meter.late();
        }
        self.late = now.late;
    }
}
