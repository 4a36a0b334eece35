//! `uring`: io_uring. `--batch` sends per call on a registered file; a multishot receive that goes on by itself
//! into a ring of provided buffers.

use std::io;

use crate::content::{Inspect, Stamp};
use crate::engine::{
    About, Addressing, Burst, Engine, Group, Receive, ReceiveEnd, SendEnd, Transmit,
};
use crate::lane::LaneBrief;
use crate::sys::batch::SendBatch;
use crate::sys::uring::{self, ReceiveRing, SendRing};

/// See the module's words.
pub(super) struct Uring;

impl Engine for Uring {
    const ABOUT: About = About {
        name: "uring",
        summary: "io_uring: --batch sends per call, multishot receive into provided buffers",
        group: Group::Batch,
        sends_batches: true,
        ..About::PLAIN
    };
    type Sender<A: Addressing> = UringSender;
    type Receiver<A: Addressing> = UringReceiver;

    fn start(_brief: &LaneBrief) -> io::Result<Self> {
        Ok(Self)
    }

    fn sender<A: Addressing>(&self, end: SendEnd) -> io::Result<UringSender> {
        let peer = (!A::CONNECTED).then_some(end.peer);
        let batch = SendBatch::new(end.payloads(end.batch), end.payload_bytes, end.batch, peer);
        let ring = SendRing::new(end.socket, batch)?;
        Ok(UringSender(ring))
    }

    fn receiver<A: Addressing>(&self, end: ReceiveEnd) -> io::Result<UringReceiver> {
        let ring = ReceiveRing::new(end.socket, end.payload_bytes, !A::CONNECTED, end.patience)?;
        Ok(UringReceiver(ring))
    }

    fn probe() -> Result<(), String> {
        uring::probe()
    }
}

pub(super) struct UringSender(SendRing);

impl Transmit for UringSender {
    #[inline]
    async fn transmit(&mut self, stamp: &impl Stamp) -> io::Result<Burst> {
        self.0.send(stamp)
    }
}

pub(super) struct UringReceiver(ReceiveRing);

impl Receive for UringReceiver {
    #[inline]
    async fn receive<I: Inspect>(&mut self, inspect: &mut I) -> io::Result<Burst> {
        self.0.receive(inspect)
    }
}
