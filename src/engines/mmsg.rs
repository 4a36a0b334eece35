//! `mmsg`: sendmmsg(2) and recvmmsg(2), so many datagrams per system call.

use std::io;
use std::marker::PhantomData;
use std::net::UdpSocket;

use crate::content::{Inspect, Stamp};
use crate::engine::{
    About, Addressing, Burst, Engine, Group, Receive, ReceiveEnd, SendEnd, Transmit,
};
use crate::lane::LaneBrief;
use crate::sys::batch::{ReceiveBatch, SendBatch};

/// See the module's words.
pub(super) struct Mmsg;

impl Engine for Mmsg {
    const ABOUT: About = About {
        name: "mmsg",
        summary: "blocking sendmmsg(2) and recvmmsg(2): --batch datagrams per call",
        group: Group::Batch,
        batches: true,
        ..About::PLAIN
    };
    type Sender<A: Addressing> = MmsgSender<A>;
    type Receiver<A: Addressing> = MmsgReceiver<A>;

    fn start(_brief: &LaneBrief) -> io::Result<Self> {
        Ok(Self)
    }

    fn sender<A: Addressing>(&self, end: SendEnd) -> io::Result<MmsgSender<A>> {
        let peer = (!A::CONNECTED).then_some(end.peer);
        Ok(MmsgSender {
            batch: SendBatch::new(end.payloads(end.batch), end.payload_bytes, end.batch, peer),
            socket: end.socket,
            addressing: PhantomData,
        })
    }

    fn receiver<A: Addressing>(&self, end: ReceiveEnd) -> io::Result<MmsgReceiver<A>> {
        MmsgReceiver::new(end)
    }
}

pub(super) struct MmsgSender<A> {
    socket: UdpSocket,
    batch: SendBatch,
    addressing: PhantomData<A>,
}

impl<A: Addressing> Transmit for MmsgSender<A> {
    #[inline]
    async fn transmit(&mut self, stamp: &impl Stamp) -> io::Result<Burst> {
        self.batch.stamp(stamp);
        let (packets, bytes) = self.batch.send(&self.socket)?;
        Ok(Burst { packets, bytes })
    }
}

pub(super) struct MmsgReceiver<A> {
    socket: UdpSocket,
    batch: ReceiveBatch,
    addressing: PhantomData<A>,
}

impl<A: Addressing> MmsgReceiver<A> {
    pub(super) fn new(end: ReceiveEnd) -> io::Result<Self> {
        end.socket.set_read_timeout(end.patience)?;
        Ok(Self {
            batch: ReceiveBatch::new(end.payload_bytes, end.batch, !A::CONNECTED),
            socket: end.socket,
            addressing: PhantomData,
        })
    }
}

impl<A: Addressing> Receive for MmsgReceiver<A> {
    #[inline]
    async fn receive<I: Inspect>(&mut self, inspect: &mut I) -> io::Result<Burst> {
        let (packets, bytes) = self.batch.receive(&self.socket, inspect)?;
        Ok(Burst { packets, bytes })
    }
}
