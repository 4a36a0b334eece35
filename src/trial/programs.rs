//! What the threads of a site do: a program each, with the ports that it opens.
//!
//! Floods and requests have a file each; what both need of links, their numbers and their options is here.

mod flood;
mod requests;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::spec::{Flow, Part};
use crate::data::{Batch, Case, Verified, Wait};
use crate::engine::verify::SequenceTracker;
use crate::engine::{Direction, FlowCounts, Link, PortOptions};
use crate::engines::{Engines, Entry};
use crate::workload::{Program, Schedule};

/// What datagrams are entered in while an engine is verified.
#[derive(Clone, Default)]
pub(super) struct Trackers {
    /// What receivers and servers get.
    received: Option<Arc<SequenceTracker>>,
    /// What clients get.
    answers: Option<Arc<SequenceTracker>>,
}

impl Trackers {
    /// For a case that is verified.
    pub(super) fn of(case: &Case) -> Self {
        let tracker = || Arc::new(SequenceTracker::new(case.payload.bytes()));
        Self {
            received: Some(tracker()),
            answers: case.asks().then(tracker),
        }
    }

    /// What was found at the threads of `part`. Where floods go both ways, senders receive, too.
    pub(super) fn verified(&self, part: Part) -> Option<Verified> {
        let has_looked = |tracker: &SequenceTracker| tracker.verified().packets > 0;
        let received = self.received.iter();
        let received = received.filter(|tracker| part.receives() || has_looked(tracker));
        let answers = self.answers.iter().filter(|_| part.sends());
        let found = received.chain(answers).map(|tracker| tracker.verified());
        found.reduce(|mut all, one| {
            all += one;
            all
        })
    }
}

/// What the programs of a case follow from.
pub(super) struct ProgramBuilder<'a> {
    pub(super) case: &'a Case,
    pub(super) engines: Engines,
    pub(super) flows: &'a [Flow],
    pub(super) trackers: &'a Trackers,
}

impl ProgramBuilder<'_> {
    /// Those of the threads here, senders first.
    ///
    /// # Errors
    /// When a socket cannot be had twice.
    pub(super) fn programs(
        &self,
        receivers: Vec<OwnedFd>,
        senders: Vec<OwnedFd>,
    ) -> io::Result<Vec<Program>> {
        if let Some(tracker) = &self.trackers.received {
            for (n, flow) in (0..).zip(self.flows) {
                tracker.expect_source(n, flow.source);
                if self.case.is_full_duplex() {
                    tracker.expect_source(self.first_number_back() + n, flow.peer);
                }
            }
        }
        if self.case.asks() {
            self.requests(receivers, senders)
        } else if self.case.is_full_duplex() {
            self.floods_both_ways(receivers, senders)
        } else {
            Ok(self.floods(receivers, senders))
        }
    }

    /// When each thread that sends at a rate is to send; `None`: as fast as it can.
    fn schedule(&self) -> Option<Schedule> {
        let arrivals = self.case.arrivals.unwrap_or_default();
        Some(Schedule::new(self.case.gap_ns()?, arrivals))
    }

    /// The links of each receiver, from those of each receiving socket.
    fn by_receiver(&self, links: impl Iterator<Item = (usize, Link)>) -> Vec<Vec<Link>> {
        let mut receivers: Vec<Vec<Link>> = Vec::new();
        for (socket, link) in links {
            let receiver = self.case.receiver_of_socket(socket);
            receivers.resize_with(receivers.len().max(receiver + 1), Vec::new);
            receivers[receiver].push(link);
        }
        receivers
    }

    /// The links of each sender, and the number of the first, from those of all flows.
    fn by_sender(
        &self,
        links: impl Iterator<Item = Link>,
    ) -> impl Iterator<Item = (u16, Vec<Link>)> {
        let (mut links, each) = (links, self.case.flows_each());
        let mut first = 0;
        std::iter::from_fn(move || {
            let own: Vec<Link> = links.by_ref().take(each).collect();
            let number = first;
            first += number_of(own.len());
            (!own.is_empty()).then_some((number, own))
        })
    }

    /// Where the flows of a thread are counted, if it has many.
    fn flow_counts(&self, flows: usize) -> Option<FlowCounts> {
        self.case.flows.map(|_| FlowCounts::new(flows))
    }

    fn options(&self, links: Vec<Link>, direction: Direction, engine: &Entry) -> PortOptions {
        let (case, verifies) = (self.case, self.trackers.received.is_some());
        let payload_bytes = case.payload.bytes();
        PortOptions {
            // Verification has to see datagrams that are too long, too.
            buffer_bytes: payload_bytes + usize::from(verifies),
            batch: case.batch.map_or(1, Batch::count),
            // Two ports over one socket have to wait in one way.
            spins: (direction.receives() || case.receives_at_both_ends())
                && case.wait == Some(Wait::Spin)
                && engine.about.can_spin,
            own_payloads: verifies,
            ..PortOptions::of(links, direction, payload_bytes)
        }
    }
}

/// As many flows as that, as a number of flows is written in datagrams.
fn number_of(flows: usize) -> u16 {
    // The plan has no more of them than that.
    u16::try_from(flows).unwrap_or(u16::MAX)
}
