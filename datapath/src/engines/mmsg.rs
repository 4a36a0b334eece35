//! The engine `mmsg`: sendmmsg(2) and recvmmsg(2), with up to `--batch` datagrams per system call.

use std::io;
use std::net::UdpSocket;
use std::sync::Arc;

use crate::data::Cmsg;
use crate::engine::prelude::*;
use crate::engines::linux::ReceiveMany;
use crate::engines::linux::receive_batch::ReceiveBatch;
use crate::engines::linux::send_batch::{SendBatch, is_full};

pub(super) struct Mmsg(Arc<Meter>);

impl Engine for Mmsg {
    const ABOUT: About = About {
        name: "mmsg",
        summary: "blocking sendmmsg(2) and recvmmsg(2): --batch datagrams per call",
        group: Group::Batch,
        sends_batches: true,
        receives_batches: true,
        can_spin: true,
        control_messages: Cmsg::ALL,
        selection: Selection::Default,
        ..About::PLAIN
    };
    type DatagramIo = MmsgIo;

    fn start(brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self(Arc::clone(&brief.meter)))
    }

    fn open(&self, mut options: IoOptions) -> io::Result<MmsgIo> {
        let endpoint = options.only_endpoint()?;
        options.apply_wait(&endpoint.socket)?;
        Ok(MmsgIo {
            outgoing: SendBatch::from_options(&options, &endpoint)?,
            incoming: ReceiveBatch::from_options(&options, &endpoint.socket)?,
            socket: endpoint.socket.into(),
            meter: Arc::clone(&self.0),
        })
    }
}

pub(super) struct MmsgIo {
    socket: UdpSocket,
    outgoing: SendBatch,
    incoming: ReceiveBatch,
    meter: Arc<Meter>,
}

impl MmsgIo {
    #[inline]
    fn send(&mut self, fill: &impl Fill) -> io::Result<BatchCount> {
        self.outgoing.prepare(fill);
        let sent = self.outgoing.send(&self.socket)?;
        sent.sent(&self.meter, || is_full(&self.socket))
    }
}

impl DatagramIo for MmsgIo {
    #[inline]
    fn transmit(&mut self, _endpoint: usize, fill: &impl Fill) -> impl BatchFuture {
        ready(self.send(fill))
    }

    #[inline]
    fn receive<C: Check>(&mut self, check: &mut C) -> impl BatchFuture {
        ready(self.incoming.receive(&self.socket, check))
    }

    fn check_controls(&self) -> io::Result<()> {
        self.incoming.check_controls()
    }
}
