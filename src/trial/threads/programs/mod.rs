//! The programs of the bench threads at one end of a trial, each with the endpoints that it opens.
//!
//! Floods and requests have a file each. This file has the parts that both need: endpoints, their numbers and their
//! options.

mod flood;
mod requests;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::data::{Batch, Case, Tos, Train, Verified, Wait};
use crate::engine::verify::SequenceTracker;
use crate::engine::{Controls, Direction, Endpoint, FlowCounts, IoOptions};
use crate::engines::{Engines, Entry};
use crate::trial::messages::end_result::added;
use crate::trial::messages::spec::{EndRole, Flow};
use crate::workload::{DueTimes, Program};

/// Trackers that record datagrams while an engine is verified.
#[derive(Clone, Default)]
pub(crate) struct Trackers {
    /// Datagrams at receivers and servers.
    received: Option<Arc<SequenceTracker>>,
    /// Responses at clients.
    response_tracker: Option<Arc<SequenceTracker>>,
}

impl Trackers {
    /// Makes the trackers of a case that is verified.
    pub(crate) fn of(case: &Case) -> Self {
        let tracker = || Arc::new(SequenceTracker::new(case.payload.bytes()));
        Self {
            received: Some(tracker()),
            response_tracker: case.is_rr().then(tracker),
        }
    }

    /// Returns the result at the threads of `part`. In a bidirectional flood, senders also receive.
    pub(crate) fn verified(&self, part: EndRole) -> Option<Verified> {
        let has_looked = |tracker: &SequenceTracker| tracker.verified().packets > 0;
        let received = self.received.iter();
        let received = received.filter(|tracker| part.receives() || has_looked(tracker));
        let responses = self.response_tracker.iter().filter(|_| part.sends());
        let found = received.chain(responses).map(|tracker| tracker.verified());
        added(found, |all, one| *all += *one)
    }
}

/// Inputs from which the programs of a case are built.
pub(crate) struct ProgramBuilder<'a> {
    pub(crate) case: &'a Case,
    pub(crate) engines: Engines,
    pub(crate) flows: &'a [Flow],
    pub(crate) trackers: &'a Trackers,
}

impl ProgramBuilder<'_> {
    /// Returns the programs of the threads at this end, senders first.
    ///
    /// # Errors
    /// Fails if a socket cannot be duplicated.
    pub(crate) fn programs(
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
        if self.case.is_rr() {
            self.requests(receivers, senders)
        } else if self.case.is_full_duplex() {
            let (own, others) = (flood::copies(&senders)?, flood::copies(&receivers)?);
            let mut programs = self.floods(receivers, senders);
            programs.extend(self.floods_back(own, others));
            Ok(programs)
        } else {
            Ok(self.floods(receivers, senders))
        }
    }

    /// Returns the times at which each thread has to send at a rate. `None`: as fast as it can.
    fn schedule(&self) -> Option<DueTimes> {
        let arrivals = self.case.arrivals.unwrap_or_default();
        Some(DueTimes::new(self.case.gap_ns()?, arrivals))
    }

    /// Groups the endpoints of the receiving sockets by receiver.
    fn by_receiver(
        &self,
        endpoints: impl Iterator<Item = (usize, Endpoint)>,
    ) -> Vec<Vec<Endpoint>> {
        let mut receivers: Vec<Vec<Endpoint>> = Vec::new();
        for (socket, endpoint) in endpoints {
            let receiver = self.case.receiver_of_socket(socket);
            receivers.resize_with(receivers.len().max(receiver + 1), Vec::new);
            receivers[receiver].push(endpoint);
        }
        receivers
    }

    /// Groups the endpoints of all flows by sender, each group with the number of its first flow.
    fn by_sender(
        &self,
        endpoints: impl Iterator<Item = Endpoint>,
    ) -> impl Iterator<Item = (u16, Vec<Endpoint>)> {
        let (mut endpoints, each) = (endpoints, self.case.flows_each());
        let mut first = 0;
        std::iter::from_fn(move || {
            let own: Vec<Endpoint> = endpoints.by_ref().take(each).collect();
            let number = first;
            first += number_of(own.len());
            (!own.is_empty()).then_some((number, own))
        })
    }

    /// Returns counters for the flows of a thread, if it has many.
    fn flow_counts(&self, flows: usize) -> Option<FlowCounts> {
        self.case.flows.map(|_| FlowCounts::new(flows))
    }

    /// Returns the control messages of the threads that run `engine`. The other end may run another one.
    fn controls(&self, engine: &Entry) -> Controls {
        let all = self.case.cmsg.unwrap_or_default();
        let kinds = all.common(engine.about.control_messages);
        let (sender, receiver) = self.engines;
        let other = if engine == sender { receiver } else { sender };
        let kinds_sent = all.common(other.about.control_messages);
        let mut controls = Controls::new(kinds, kinds_sent, self.case.tos.map_or(0, Tos::class));
        if self.case.direction.is_some() {
            controls.arriving_ecn = None;
        }
        controls
    }

    fn options(&self, endpoints: Vec<Endpoint>, direction: Direction, engine: &Entry) -> IoOptions {
        let (case, verifies) = (self.case, self.trackers.received.is_some());
        let payload_bytes = case.payload.bytes();
        IoOptions {
            // Verification has to notice datagrams that are too long.
            buffer_bytes: payload_bytes + usize::from(verifies),
            connection: case.connection,
            batch: case.batch.map_or(1, Batch::count),
            train: case.train.map_or(usize::MAX, Train::count),
            controls: self.controls(engine),
            // Two threads that share a socket have to wait in the same way.
            spins: (direction.receives() || case.receives_at_both_ends())
                && case.wait == Some(Wait::Spin)
                && engine.about.can_spin,
            busy_poll: case.busy_poll.filter(|_| direction.receives()),
            own_payloads: verifies,
            ..IoOptions::of(endpoints, direction, payload_bytes)
        }
    }
}

/// Converts a number of flows to the integer type of flow numbers in datagrams.
fn number_of(flows: usize) -> u16 {
    // The plan allows no more flows.
    u16::try_from(flows).unwrap_or(u16::MAX)
}
