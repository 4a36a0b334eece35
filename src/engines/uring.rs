//! `uring`: io_uring. `--batch` sends per call on a registered file; a multishot receive that goes on by itself
//! into a ring of provided buffers.

use std::io;
use std::sync::Arc;

use crate::case::Group;
use crate::content::{Inspect, Stamp};
use crate::engine::{About, Addressing, Burst, Engine, Receive, ReceiveEnd, SendEnd, Transmit};
use crate::lane::{LaneBrief, Meter};
use crate::sys::batch::SendBatch;
use crate::sys::uring::{self, ReceiveRing, SendRing};

/// See the module's words.
pub(super) struct Uring(Arc<Meter>);

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

    fn start(brief: &LaneBrief) -> io::Result<Self> {
        Ok(Self(Arc::clone(&brief.meter)))
    }

    fn sender<A: Addressing>(&self, end: SendEnd) -> io::Result<UringSender> {
        let peer = (!A::CONNECTED).then_some(end.peer);
        let batch = SendBatch::new(end.payloads(end.batch), end.payload_bytes, end.batch, peer);
        let ring = SendRing::new(end.socket, batch)?;
        Ok(UringSender(ring, Arc::clone(&self.0)))
    }

    fn receiver<A: Addressing>(&self, end: ReceiveEnd) -> io::Result<UringReceiver> {
        let ring = ReceiveRing::new(end.socket, end.payload_bytes, !A::CONNECTED, end.patience)?;
        Ok(UringReceiver(ring, Arc::clone(&self.0)))
    }

    fn probe() -> Result<(), String> {
        uring::probe()
    }
}

pub(super) struct UringSender(SendRing, Arc<Meter>);

impl Transmit for UringSender {
    #[inline]
    async fn transmit(&mut self, stamp: &impl Stamp) -> io::Result<Burst> {
        self.0.send(stamp)?.counted(&self.1)
    }
}

pub(super) struct UringReceiver(ReceiveRing, Arc<Meter>);

impl Receive for UringReceiver {
    #[inline]
    async fn receive<I: Inspect>(&mut self, inspect: &mut I) -> io::Result<Burst> {
        self.0.receive(inspect)?.counted(&self.1)
    }
}
