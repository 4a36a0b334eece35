//! `mmsg`: sendmmsg(2) and recvmmsg(2), so many datagrams per system call.

use std::io;
use std::net::UdpSocket;
use std::sync::Arc;

use crate::data::Group;
use crate::engine::payload::{Check, Fill};
use crate::engine::{
    About, Addressing, Burst, Engine, LaneBrief, Meter, Receive, ReceiveEnd, SendEnd, Transmit,
};
use crate::engines::linux::batch::{ReceiveBatch, SendBatch};

pub(super) struct Mmsg(Arc<Meter>);

impl Engine for Mmsg {
    const ABOUT: About = About {
        name: "mmsg",
        summary: "blocking sendmmsg(2) and recvmmsg(2): --batch datagrams per call",
        group: Group::Batch,
        sends_batches: true,
        receives_batches: true,
        spins: true,
        ..About::PLAIN
    };
    type Sender<A: Addressing> = MmsgSender;
    type Receiver<A: Addressing> = MmsgReceiver;

    fn start(brief: &LaneBrief) -> io::Result<Self> {
        Ok(Self(Arc::clone(&brief.meter)))
    }

    fn sender<A: Addressing>(&self, end: SendEnd) -> io::Result<MmsgSender> {
        let peer = (!A::CONNECTED).then_some(end.peer);
        Ok(MmsgSender {
            batch: SendBatch::new(end.payloads(end.batch), end.payload_bytes, end.batch, peer),
            socket: end.socket,
            meter: Arc::clone(&self.0),
        })
    }

    fn receiver<A: Addressing>(&self, end: ReceiveEnd) -> io::Result<MmsgReceiver> {
        MmsgReceiver::new::<A>(end)
    }
}

pub(super) struct MmsgSender {
    socket: UdpSocket,
    batch: SendBatch,
    meter: Arc<Meter>,
}

impl Transmit for MmsgSender {
    #[inline]
    async fn transmit(&mut self, fill: &impl Fill) -> io::Result<Burst> {
        self.batch.fill(fill);
        self.batch.send(&self.socket)?.counted(&self.meter)
    }
}

pub(super) struct MmsgReceiver {
    socket: UdpSocket,
    batch: ReceiveBatch,
}

impl MmsgReceiver {
    pub(super) fn new<A: Addressing>(end: ReceiveEnd) -> io::Result<Self> {
        end.limit_wait()?;
        Ok(Self {
            batch: ReceiveBatch::new(end.payload_bytes, end.batch, !A::CONNECTED),
            socket: end.socket,
        })
    }
}

impl Receive for MmsgReceiver {
    #[inline]
    async fn receive<I: Check>(&mut self, check: &mut I) -> io::Result<Burst> {
        self.batch.receive(&self.socket, check)
    }
}
