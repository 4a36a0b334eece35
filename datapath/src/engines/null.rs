//! The engine `null`, which moves nothing. It measures the harness itself and replaces the network in tests.
//!
//! Sockets are created, pinned, checked and closed for it as for any engine, but datagrams are only numbers on a
//! [`NullEndpoint`](crate::engine::null_endpoint::NullEndpoint).

use std::hint;
use std::io;
use std::net::UdpSocket;
use std::sync::Arc;

use crate::engine::null_endpoint::SentCounter;
use crate::engine::prelude::*;
use crate::engine::{LosslessProbe, QueueProbe};

pub(super) struct Null;

impl Engine for Null {
    const ABOUT: About = About {
        name: "null",
        summary: "moves nothing: what the harness itself costs",
        group: Group::Harness,
        moves_datagrams: false,
        can_serve_requests: Err("moves no datagrams"),
        ..About::PLAIN
    };
    type DatagramIo = NullIo;

    fn start(_brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self)
    }

    fn open(&self, options: IoOptions) -> io::Result<NullIo> {
        let mut incoming = Vec::new();
        let out = options.endpoints.into_iter().map(|endpoint| {
            incoming.extend(endpoint.null.incoming);
            Ok(Out {
                counter: endpoint.null.out,
                sent: 0,
            })
        });
        let out = PerEndpoint::collect(out)?;
        Ok(NullIo {
            out,
            incoming,
            payload_bytes: options.payload_bytes,
            taken: 0,
            rest: 0,
        })
    }

    fn queue_probe(_socket: &UdpSocket) -> io::Result<Box<dyn QueueProbe>> {
        Ok(Box::new(LosslessProbe))
    }
}

pub(super) struct NullIo {
    out: PerEndpoint<Out>,
    incoming: Vec<Arc<SentCounter>>,
    payload_bytes: usize,
    taken: u64,
    /// Pause before the next receive, in iterations of `spin_loop`.
    rest: u32,
}

struct Out {
    counter: Arc<SentCounter>,
    sent: u64,
}

/// Pause between receives, about 20 us. Reading a counter takes its cache line away from the sender, which must stay
/// rare.
const STAND_BACK_SPINS: u32 = 1000;

impl NullIo {
    #[inline]
    fn send(&mut self, endpoint: usize) -> BatchCount {
        let out = &mut self.out[endpoint];
        out.sent += 1;
        out.counter.set(out.sent);
        BatchCount::one(self.payload_bytes)
    }

    #[inline]
    fn take(&mut self) -> io::Result<BatchCount> {
        for _ in 0..self.rest {
            hint::spin_loop();
        }
        let sent: u64 = self.incoming.iter().map(|counter| counter.sent()).sum();
        let packets = sent - self.taken;
        self.taken = sent;
        // Exactly one new datagram: the sender runs in this same thread, so no pause is needed.
        self.rest = if packets == 1 { 0 } else { STAND_BACK_SPINS };
        if packets == 0 {
            Err(io::ErrorKind::WouldBlock.into())
        } else {
            Ok(BatchCount::of(packets, packets * self.payload_bytes as u64))
        }
    }
}

impl DatagramIo for NullIo {
    #[inline]
    fn transmit(&mut self, endpoint: usize, _fill: &impl Fill) -> impl BatchFuture {
        ready(Ok(self.send(endpoint)))
    }

    #[inline]
    fn receive<C: Check>(&mut self, _check: &mut C) -> impl BatchFuture {
        ready(self.take())
    }
}
