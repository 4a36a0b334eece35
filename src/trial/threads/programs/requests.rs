//! Programs of requests: clients, servers, and collectors of responses.

use std::io;
use std::net::UdpSocket;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use socket2::SockRef;

use super::{ProgramBuilder, number_of};
use crate::data::Connection;
use crate::engine::{Direction, Endpoint, FlowCounts, FlowMeter, IoOptions, ManyEndpoints};
use crate::engines::Entry;
use crate::workload::{
    Client, Collector, DueTimes, InFlight, Numbering, Pacer, Program, Role, Server, WakeupSampler,
};

impl ProgramBuilder<'_> {
    /// Returns the programs: clients first, collectors of responses last.
    pub(super) fn requests(
        &self,
        receivers: Vec<OwnedFd>,
        senders: Vec<OwnedFd>,
    ) -> io::Result<Vec<Program>> {
        let mut clients = Vec::with_capacity(senders.len());
        let mut collectors = Vec::new();
        let endpoints = senders.into_iter().zip(self.flows);
        let endpoints =
            endpoints.map(|(socket, flow)| Endpoint::of_client(socket, Some(flow.peer)));
        for (first, endpoints) in self.by_sender(endpoints) {
            if let Some(schedule) = self.schedule() {
                let copy = |it: &Endpoint| Ok(Endpoint::of_client(it.socket.try_clone()?, it.peer));
                let copies: io::Result<Vec<Endpoint>> = endpoints.iter().map(copy).collect();
                let (pacer, collector) = self.paced(first, schedule, endpoints, copies?);
                clients.push(pacer);
                collectors.push(collector);
            } else {
                clients.push(self.waiting(first, endpoints));
            }
        }
        let servers = receivers.into_iter().enumerate();
        let servers = self.by_receiver(servers.map(|(n, socket)| (n, Endpoint::of(socket, None))));
        let servers = servers.into_iter().map(|endpoints| self.server(endpoints));
        let servers = servers.collect::<io::Result<Vec<Program>>>()?;
        let clients = clients.into_iter();
        Ok(clients.chain(servers).chain(collectors).collect())
    }

    fn server(&self, endpoints: Vec<Endpoint>) -> io::Result<Program> {
        let engine = self.engines.1;
        // A server that serves several clients over one socket is not connected.
        let is_connected = endpoints
            .iter()
            .all(|endpoint| SockRef::from(&endpoint.socket).peer_addr().is_ok());
        let connection = if is_connected {
            Connection::Connected
        } else {
            Connection::Unconnected
        };
        let roles = usize::from(roles_of(engine, &endpoints));
        let role = |endpoints: &[Endpoint]| {
            let mut server = Server::new(self.case.service, self.trackers.received.clone());
            if let Some(model) = self.case.server_model {
                let sockets = endpoints.iter().map(|endpoint| endpoint.socket.try_clone());
                let sockets = sockets.map(|socket| socket.map(UdpSocket::from));
                server.workers = (model, sockets.collect::<io::Result<_>>()?);
            }
            Ok(Role::Server(server))
        };
        let roles = endpoints.chunks(endpoints.len() / roles).map(role);
        let roles = roles.collect::<io::Result<_>>()?;
        let options = IoOptions {
            connection,
            ..self.options(endpoints, Direction::Both, engine)
        };
        Ok(Program::Roles(options, roles))
    }

    /// Makes a closed-loop client: over each of its endpoints, a response triggers the next request.
    fn waiting(&self, first: u16, endpoints: Vec<Endpoint>) -> Program {
        let (engine, outstanding) = (self.engines.0, self.case.outstanding_requests());
        let (counts, meter) = (self.flow_counts(endpoints.len()), Arc::default());
        let roles = roles_of(engine, &endpoints);
        let mut sampler = self.sampler(engine, &endpoints);
        let role = |n: u16| {
            let numbering = self.numbering((first, n), counts.as_ref());
            let size = (outstanding, endpoints.len() / usize::from(roles));
            let mut client = Client::new(numbering, size, Arc::clone(&meter))
                .thinking(self.case.think_time.map(|time| time.ns));
            client.sampler = sampler.take();
            Role::Client(client)
        };
        let roles = (0..roles).map(role).collect();
        Program::Roles(self.options(endpoints, Direction::Both, engine), roles)
    }

    /// Makes the two programs of an open-loop client: one sends requests at a rate, the other receives the responses.
    fn paced(
        &self,
        first: u16,
        schedule: DueTimes,
        out: Vec<Endpoint>,
        into: Vec<Endpoint>,
    ) -> (Program, Program) {
        let (engine, endpoints) = (self.engines.0, out.len());
        let in_flight = InFlight::every(schedule.gap_ns(), schedule.train());
        let shared = (Arc::new(in_flight), Arc::default());
        let numbering = self.numbering((first, 0), None);
        let pacer = Pacer::new(numbering, endpoints, schedule, shared.clone());
        let counts = self.flow_counts(endpoints);
        let mut sampler = self.sampler(engine, &into);
        let role = |n: u16| {
            let numbering = self.numbering((first, n), counts.as_ref());
            let mut collector = Collector::new(numbering, shared.clone());
            collector.sampler = sampler.take();
            Role::Collector(collector)
        };
        let collectors = (0..roles_of(engine, &into)).map(role).collect();
        let out = self.options(out, Direction::Sends, engine);
        let into = self.options(into, Direction::Receives, engine);
        (
            Program::Roles(out, vec![Role::Pacer(pacer)]),
            Program::Roles(into, collectors),
        )
    }

    /// Returns the numbering of the n-th role of a client whose flows begin with number `first`. It counts the
    /// responses of each flow if there are `counts`.
    fn numbering(&self, (first, n): (u16, u16), counts: Option<&FlowCounts>) -> Numbering {
        let mut numbering = Numbering::new(first + n, self.trackers.response_tracker.clone());
        numbering.flows = counts.map(|counts| FlowMeter {
            counts: counts.clone(),
            first: n.into(),
        });
        numbering
    }

    /// Returns a sampler of datagrams at the first endpoint, if the kernel reports arrival times and the engine takes
    /// one datagram at a time.
    fn sampler(&self, engine: &Entry, endpoints: &[Endpoint]) -> Option<WakeupSampler> {
        let first = endpoints.first().filter(|_| !engine.about.prefetches)?;
        let is_udp = self.case.transport.is_none();
        is_udp.then(|| WakeupSampler::of(&first.socket))?
    }
}

/// Returns the number of roles: one for all endpoints, or one for each, as the engine serves them.
fn roles_of(engine: &Entry, endpoints: &[Endpoint]) -> u16 {
    match engine.many_endpoints.0 {
        ManyEndpoints::IoEach => number_of(endpoints.len()),
        ManyEndpoints::No | ManyEndpoints::OneIo => 1,
    }
}
