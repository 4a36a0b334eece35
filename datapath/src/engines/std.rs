//! The engine `std`, the reference: blocking `std::net::UdpSocket`, one system call per datagram. And the engine
//! `spin`: the same calls on non-blocking sockets, in a busy loop. Nobody sleeps, so nobody has to be woken. That saves
//! the sender the wake-up, at the price of a whole CPU for the receiver.

use crate::engine::prelude::*;
use std::net::{SocketAddr, UdpSocket};
use std::{io, mem};

pub(super) struct Std;

impl Engine for Std {
    const ABOUT: About = About {
        name: "std",
        summary: "blocking std::net::UdpSocket, one call per datagram; the reference",
        group: Group::Blocking,
        selection: Selection::Default,
        can_spin: true,
        ..About::PLAIN
    };
    type DatagramIo = StdIo;

    fn start(_brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self)
    }

    fn open(&self, mut options: IoOptions) -> io::Result<StdIo> {
        let endpoint = options.only_endpoint()?;
        options.apply_wait(&endpoint.socket)?;
        StdIo::new(&options, vec![endpoint])
    }
}

/// Sockets with the calls of std. Engines that wait in their own way also use them.
pub(super) struct StdIo {
    endpoints: PerEndpoint<(UdpSocket, SocketAddr)>,
    is_connected: bool,
    payload: Vec<u8>,
    buffer: Vec<u8>,
}

impl StdIo {
    pub(super) fn new(options: &IoOptions, endpoints: Vec<Endpoint>) -> io::Result<Self> {
        let endpoints = endpoints.into_iter().map(|endpoint| {
            let peer = endpoint.peer_or_unspecified();
            Ok((endpoint.socket.into(), peer))
        });
        Ok(Self {
            is_connected: options.is_connected(),
            payload: options.payload(),
            buffer: options.buffer(),
            endpoints: PerEndpoint::collect(endpoints)?,
        })
    }

    pub(super) fn socket(&self, endpoint: usize) -> &UdpSocket {
        &self.endpoints[endpoint].0
    }

    pub(super) fn endpoints(&self) -> usize {
        self.endpoints.count()
    }

    #[inline]
    pub(super) fn send(&mut self, endpoint: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        fill.fill(&mut self.payload);
        let (socket, peer) = &self.endpoints[endpoint];
        let sent = if self.is_connected {
            socket.send(&self.payload)?
        } else {
            socket.send_to(&self.payload, fill.destination().as_ref().unwrap_or(peer))?
        };
        Ok(BatchCount::one(sent))
    }

    #[inline]
    pub(super) fn take(
        &mut self,
        endpoint: usize,
        check: &mut impl Check,
    ) -> io::Result<BatchCount> {
        let (socket, _) = &self.endpoints[endpoint];
        let (received, source) = if self.is_connected {
            (socket.recv(&mut self.buffer)?, None)
        } else {
            let (received, source) = socket.recv_from(&mut self.buffer)?;
            (received, Some(source))
        };
        check.check_received(received, &self.buffer, || Origin { endpoint, source });
        Ok(BatchCount::one(received))
    }
}

impl DatagramIo for StdIo {
    #[inline]
    fn transmit(&mut self, endpoint: usize, fill: &impl Fill) -> impl BatchFuture {
        ready(self.send(endpoint, fill))
    }

    #[inline]
    fn receive<C: Check>(&mut self, check: &mut C) -> impl BatchFuture {
        ready(self.take(0, check))
    }
}

pub(super) struct Spin;

impl Engine for Spin {
    const ABOUT: About = About {
        name: "spin",
        summary: "non-blocking std in a busy loop: no sleep and no wake-up, but a whole CPU",
        group: Group::Blocking,
        many_endpoints: ManyEndpoints::OneIo,
        always_spins: true,
        ..About::PLAIN
    };
    type DatagramIo = SpinIo;

    fn start(_brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self)
    }

    fn open(&self, mut options: IoOptions) -> io::Result<SpinIo> {
        let endpoints = mem::take(&mut options.endpoints);
        for endpoint in &endpoints {
            endpoint.set_nonblocking()?;
        }
        Ok(SpinIo {
            calls: StdIo::new(&options, endpoints)?,
            next: 0,
        })
    }
}

/// Sockets that never block. The loop belongs to the workload, which checks its stop flag and calls again.
pub(super) struct SpinIo {
    calls: StdIo,
    /// Index of the endpoint to receive from. Advances when that endpoint has nothing.
    next: usize,
}

impl SpinIo {
    #[cold]
    fn turn(&mut self) {
        self.next = (self.next + 1) % self.calls.endpoints();
    }

    #[inline]
    fn take<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        let outcome = self.calls.take(self.next, check);
        if outcome.is_err() {
            self.turn();
        }
        outcome
    }
}

impl DatagramIo for SpinIo {
    #[inline]
    fn transmit(&mut self, endpoint: usize, fill: &impl Fill) -> impl BatchFuture {
        ready(self.calls.send(endpoint, fill))
    }

    #[inline]
    fn receive<C: Check>(&mut self, check: &mut C) -> impl BatchFuture {
        ready(self.take(check))
    }
}
