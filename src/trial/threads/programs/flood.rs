//! Programs of floods: senders as fast as they can or at a rate, and receivers; one way, or both ways over the same
//! sockets.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::{ProgramBuilder, number_of};
use crate::engine::null_endpoint::SentCounter;
use crate::engine::verify::SequenceWriter;
use crate::engine::{Direction, Endpoint, FlowCounts, IoOptions};
use crate::sys::error_queue::TransmitStamps;
use crate::workload::{Incoming, Outgoing, PacedFlood, Program, Role, Rotation};

impl ProgramBuilder<'_> {
    /// Returns the programs of one direction, senders first.
    pub(super) fn floods(&self, receivers: Vec<OwnedFd>, senders: Vec<OwnedFd>) -> Vec<Program> {
        let sender = self.engines.0;
        let counters: Vec<Arc<SentCounter>> = self.flows.iter().map(|_| Arc::default()).collect();
        let incoming = receivers.into_iter().enumerate().map(|(n, socket)| {
            let local = self.flows.iter().zip(&counters);
            let local = local.filter(|(flow, _)| flow.receiver == n);
            let mut endpoint = Endpoint::of(socket, None);
            endpoint.null.incoming = local.map(|(_, counter)| Arc::clone(counter)).collect();
            (n, endpoint)
        });
        let incoming = self
            .by_receiver(incoming)
            .into_iter()
            .map(|endpoints| self.incoming(self.flow_counts(endpoints.len()), endpoints));
        let outgoing = senders.into_iter().zip(self.flows.iter().zip(&counters));
        let outgoing = outgoing.map(|(socket, (flow, counter))| {
            let mut endpoint = Endpoint::of_client(socket, Some(flow.peer));
            endpoint.null.out = Arc::clone(counter);
            endpoint
        });
        let outgoing = self.by_sender(outgoing).map(|(first, endpoints)| Outgoing {
            writers: self.writers(first, endpoints.len()),
            options: self.options(endpoints, Direction::Sends, sender),
        });
        if self.case.threads.is_alone() {
            let pairs = outgoing.zip(incoming);
            pairs.map(|(out, into)| Program::Turns(out, into)).collect()
        } else {
            let floods = (0..).zip(outgoing).map(|(n, out)| self.flood(n, out));
            floods.chain(incoming.map(Program::Sink)).collect()
        }
    }

    /// Returns the programs of the other direction, over the same sockets. Receivers come first, since they run on the
    /// CPUs of the senders.
    pub(super) fn floods_back(
        &self,
        receivers: Vec<OwnedFd>,
        senders: Vec<OwnedFd>,
    ) -> Vec<Program> {
        let sender = self.engines.0;
        let into = receivers.into_iter();
        let into = self.by_sender(into.map(|socket| Endpoint::of_client(socket, None)));
        let sinks = into.map(|(_, endpoints)| Program::Sink(self.incoming(None, endpoints)));
        let out = senders.into_iter().zip(self.flows).enumerate();
        let out = out.map(|(n, (socket, flow))| (n, Endpoint::of(socket, Some(flow.source))));
        let mut first = self.first_number_back();
        let others = number_of(self.case.threads.senders());
        let floods = (others..).zip(self.by_receiver(out)).map(|(n, endpoints)| {
            let writers = self.writers(first, endpoints.len());
            first += number_of(endpoints.len());
            let options = self.options(endpoints, Direction::Sends, sender);
            self.flood(n, Outgoing { options, writers })
        });
        let floods: Vec<Program> = floods.collect();
        sinks.chain(floods).collect()
    }

    fn incoming(&self, flows: Option<FlowCounts>, endpoints: Vec<Endpoint>) -> Incoming {
        Incoming {
            flows,
            options: self.options(endpoints, Direction::Receives, self.engines.1),
            tracker: self.trackers.received.clone(),
        }
    }

    /// Returns the program of the n-th sender.
    fn flood(&self, n: u16, out: Outgoing) -> Program {
        match self.schedule() {
            None => Program::Flood(out),
            Some(schedule) => {
                let rotation = Rotation::of(out.options.endpoints.len(), out.writers);
                let stamps = self.stamps(&out.options);
                let flood = PacedFlood::new(n, rotation, schedule, stamps);
                Program::Roles(out.options, vec![Role::Flood(flood)])
            }
        }
    }

    /// Returns the kernel's transmit timestamps of the first endpoint, if they can be had.
    ///
    /// A socket over which another thread receives has none: a timestamp in its queue would also wake that thread. Nor
    /// has one whose queue the engine reads.
    fn stamps(&self, options: &IoOptions) -> Option<TransmitStamps> {
        let is_for_one = self.case.transport.is_none()
            && !self.case.is_full_duplex()
            && !self.engines.0.about.reads_error_queue;
        let first = options.endpoints.first().filter(|_| is_for_one)?;
        TransmitStamps::of(&first.socket)
    }

    /// Returns the number of the first flow of the other direction, after the numbers of all flows.
    pub(super) fn first_number_back(&self) -> u16 {
        number_of(self.flows.len())
    }

    /// Returns writers that make the datagrams of `links` endpoints distinguishable, numbered from `first`. Empty
    /// unless datagrams are verified.
    fn writers(&self, first: u16, endpoints: usize) -> Vec<SequenceWriter> {
        let numbers = (first..).take(endpoints);
        let numbers = numbers.filter(|_| self.trackers.received.is_some());
        let writer = |n| SequenceWriter::new(n, self.case.payload.bytes());
        numbers.map(writer).collect()
    }
}

/// Duplicates sockets.
pub(super) fn copies(sockets: &[OwnedFd]) -> io::Result<Vec<OwnedFd>> {
    sockets.iter().map(OwnedFd::try_clone).collect()
}
