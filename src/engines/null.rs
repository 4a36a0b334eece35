//! `null`: moves nothing. It measures the harness itself, mocks the network for tests, and is the
//! skeleton to copy for a new engine.
//!
//! The sockets are built, pinned, checked and closed as for any engine, but the datagrams are only
//! numbers on a [`NullLink`].

use std::hint;
use std::io;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::data::Group;
use crate::engine::null_link::NullLink;
use crate::engine::payload::{Check, Fill};
use crate::engine::{
    About, Addressing, Burst, Engine, LaneBrief, Receive, ReceiveEnd, Selection, SendEnd, Transmit,
};

pub(super) struct Null;

impl Engine for Null {
    const ABOUT: About = About {
        name: "null",
        summary: "moves nothing: what the harness itself costs",
        group: Group::Harness,
        selection: Selection::ByName,
        moves_datagrams: false,
        ..About::PLAIN
    };
    type Sender<A: Addressing> = NullSender<A>;
    type Receiver<A: Addressing> = NullReceiver<A>;

    fn start(_brief: &LaneBrief) -> io::Result<Self> {
        Ok(Self)
    }

    fn sender<A: Addressing>(&self, end: SendEnd) -> io::Result<NullSender<A>> {
        Ok(NullSender {
            sent: 0,
            payload_bytes: end.payload_bytes,
            null_link: end.null_link,
            addressing: PhantomData,
        })
    }

    fn receiver<A: Addressing>(&self, end: ReceiveEnd) -> io::Result<NullReceiver<A>> {
        Ok(NullReceiver {
            taken: 0,
            rest: 0,
            payload_bytes: end.payload_bytes as u64,
            null_links: end.null_links,
            addressing: PhantomData,
        })
    }
}

/// An engine that has connected and unconnected calls looks at `A::CONNECTED`, as `std` does.
pub(super) struct NullSender<A> {
    sent: u64,
    payload_bytes: usize,
    null_link: Arc<NullLink>,
    addressing: PhantomData<A>,
}

impl<A: Addressing> Transmit for NullSender<A> {
    #[inline]
    async fn transmit(&mut self, _stamp: &impl Fill) -> io::Result<Burst> {
        self.sent += 1;
        self.null_link.put(self.sent);
        Ok(Burst::one(self.payload_bytes))
    }
}

pub(super) struct NullReceiver<A> {
    taken: u64,
    /// How long to stand back before the next look, in spins.
    rest: u32,
    payload_bytes: u64,
    null_links: Vec<Arc<NullLink>>,
    addressing: PhantomData<A>,
}

/// About 20 us: a look at the null_link takes the cache line away from the sender, which must stay rare.
const STAND_BACK_SPINS: u32 = 1000;

impl<A: Addressing> Receive for NullReceiver<A> {
    #[inline]
    async fn receive<I: Check>(&mut self, _inspect: &mut I) -> io::Result<Burst> {
        for _ in 0..self.rest {
            hint::spin_loop();
        }
        let put: u64 = self
            .null_links
            .iter()
            .map(|null_link| null_link.sent())
            .sum();
        let packets = put - self.taken;
        self.taken = put;
        // One at a time means that the sender runs in this very thread: nothing to stand back from.
        self.rest = if packets == 1 { 0 } else { STAND_BACK_SPINS };
        if packets == 0 {
            Err(io::ErrorKind::WouldBlock.into())
        } else {
            Ok(Burst::of(packets, packets * self.payload_bytes))
        }
    }
}
