//! `uring`: io_uring. `--batch` sends per call on a registered file; a multishot receive that goes on by itself
//! into a ring of provided buffers.

use std::io;
use std::sync::Arc;

use crate::data::Group;
use crate::engine::payload::{Check, Fill};
use crate::engine::{
    About, Addressing, Burst, Engine, LaneBrief, Meter, Receive, ReceiveEnd, SendEnd, Transmit,
};
use crate::engines::linux::batch::SendBatch;
use crate::engines::linux::uring::{self, ReceiveRing, SendRing};

pub(super) struct Uring(Arc<Meter>);

impl Engine for Uring {
    const ABOUT: About = About {
        name: "uring",
        summary: "io_uring: --batch sends per call, multishot receive into provided buffers",
        group: Group::Batch,
        sends_batches: true,
        spins: true,
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
        let ring = ReceiveRing::new(
            end.socket,
            end.payload_bytes,
            !A::CONNECTED,
            end.recv_timeout,
        )?;
        Ok(UringReceiver(ring, Arc::clone(&self.0)))
    }

    fn probe() -> Result<(), String> {
        uring::probe()
    }
}

pub(super) struct UringSender(SendRing, Arc<Meter>);

impl Transmit for UringSender {
    #[inline]
    async fn transmit(&mut self, fill: &impl Fill) -> io::Result<Burst> {
        self.0.send(fill)?.counted(&self.1)
    }
}

pub(super) struct UringReceiver(ReceiveRing, Arc<Meter>);

impl Receive for UringReceiver {
    #[inline]
    async fn receive<I: Check>(&mut self, check: &mut I) -> io::Result<Burst> {
        self.0.receive(check)?.counted(&self.1)
    }
}
