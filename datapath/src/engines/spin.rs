//! The engine `spin`: the calls of `std` on non-blocking sockets, in a busy loop. Nobody sleeps, so nobody has to be
//! woken. That saves the sender the wake-up, at the price of a whole CPU for the receiver.

use std::io;
use std::mem;

use super::std::StdIo;
use crate::data::Group;
use crate::engine::payload::{Check, Fill};
use crate::engine::{
    About, Addressing, BatchCount, DatagramIo, Engine, IoOptions, ManyEndpoints, ThreadArgs,
};

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
    type DatagramIo<A: Addressing> = SpinIo<A>;

    fn start(_brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self)
    }

    fn open<A: Addressing>(&self, mut options: IoOptions) -> io::Result<SpinIo<A>> {
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
pub(super) struct SpinIo<A> {
    calls: StdIo<A>,
    /// Index of the endpoint to receive from. Advances when that endpoint has nothing.
    next: usize,
}

impl<A: Addressing> SpinIo<A> {
    #[cold]
    fn turn(&mut self) {
        self.next = (self.next + 1) % self.calls.endpoints();
    }
}

impl<A: Addressing> DatagramIo for SpinIo<A> {
    #[inline]
    async fn transmit(&mut self, endpoint: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        self.calls.send(endpoint, fill)
    }

    #[inline]
    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        let outcome = self.calls.take(self.next, check);
        if outcome.is_err() {
            self.turn();
        }
        outcome
    }
}
