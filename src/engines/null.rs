//! `null`: moves nothing. It measures the harness itself, mocks the network for tests, and is the
//! skeleton to copy for a new engine.
//!
//! The sockets are built, pinned, checked and closed as for any engine, but the datagrams are only
//! numbers on a [`Wire`].

use std::future::Future;
use std::hint;
use std::io;
use std::sync::Arc;

use crate::engine::{
    About, Addressing, Burst, Engine, Receive, ReceiveEnd, Selection, SendEnd, Transmit,
};
use crate::wire::Wire;

/// See the module's words.
pub(super) enum Null {}

impl Engine for Null {
    const ABOUT: About = About {
        name: "null",
        summary: "moves nothing: what the harness itself costs",
        selection: Selection::ByName,
        one_thread: Ok(()),
        starves: None,
        moves_datagrams: false,
    };
    type Sender<A: Addressing> = NullSender;
    type Receiver<A: Addressing> = NullReceiver;

    fn sender<A: Addressing>(end: SendEnd) -> io::Result<NullSender> {
        Ok(NullSender {
            sent: 0,
            payload_bytes: end.payload_bytes,
            wire: end.wire,
        })
    }

    fn receiver<A: Addressing>(end: ReceiveEnd) -> io::Result<NullReceiver> {
        Ok(NullReceiver {
            taken: 0,
            rest: 0,
            payload_bytes: end.payload_bytes as u64,
            wires: end.wires,
        })
    }
}

pub(super) struct NullSender {
    sent: u64,
    payload_bytes: usize,
    wire: Arc<Wire>,
}

impl Transmit for NullSender {
    #[inline]
    fn transmit(&mut self) -> impl Future<Output = io::Result<Burst>> {
        self.sent += 1;
        self.wire.put(self.sent);
        std::future::ready(Ok(Burst::one(self.payload_bytes)))
    }
}

pub(super) struct NullReceiver {
    taken: u64,
    /// How long to stand back before the next look, in spins.
    rest: u32,
    payload_bytes: u64,
    wires: Vec<Arc<Wire>>,
}

/// About 20 us: a look at the wire takes the cache line away from the sender, which must stay rare.
const STAND_BACK_SPINS: u32 = 1000;

impl Receive for NullReceiver {
    #[inline]
    fn receive(&mut self) -> impl Future<Output = io::Result<Burst>> {
        for _ in 0..self.rest {
            hint::spin_loop();
        }
        let put: u64 = self.wires.iter().map(|wire| wire.sent()).sum();
        let packets = put - self.taken;
        self.taken = put;
        // One at a time means that the sender runs in this very thread: nothing to stand back from.
        self.rest = if packets == 1 { 0 } else { STAND_BACK_SPINS };
        std::future::ready(if packets == 0 {
            Err(io::ErrorKind::WouldBlock.into())
        } else {
            Ok(Burst {
                packets,
                bytes: packets * self.payload_bytes,
            })
        })
    }
}
