//! The engine `mmsg`: sendmmsg(2) and recvmmsg(2), with up to `--batch` datagrams per system call.

use std::io;
use std::net::UdpSocket;
use std::sync::Arc;

use crate::data::Group;
use crate::engine::payload::{Check, Fill};
use crate::engine::{
    About, Addressing, Burst, Engine, Meter, Port, PortOptions, Selection, ThreadArgs,
};
use crate::engines::linux::batch::{ReceiveBatch, SendBatch, is_full};

pub(super) struct Mmsg(Arc<Meter>);

impl Engine for Mmsg {
    const ABOUT: About = About {
        name: "mmsg",
        summary: "blocking sendmmsg(2) and recvmmsg(2): --batch datagrams per call",
        group: Group::Batch,
        sends_batches: true,
        receives_batches: true,
        can_spin: true,
        selection: Selection::Default,
        ..About::PLAIN
    };
    type Port<A: Addressing> = MmsgPort;

    fn start(brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self(Arc::clone(&brief.meter)))
    }

    fn open<A: Addressing>(&self, mut options: PortOptions) -> io::Result<MmsgPort> {
        let link = options.only_link()?;
        options.apply_wait(&link.socket)?;
        Ok(MmsgPort {
            outgoing: SendBatch::of::<A>(&options, &link),
            incoming: ReceiveBatch::of::<A>(&options),
            socket: link.socket.into(),
            meter: Arc::clone(&self.0),
        })
    }
}

pub(super) struct MmsgPort {
    socket: UdpSocket,
    outgoing: SendBatch,
    incoming: ReceiveBatch,
    meter: Arc<Meter>,
}

impl Port for MmsgPort {
    #[inline]
    async fn transmit(&mut self, _link: usize, fill: &impl Fill) -> io::Result<Burst> {
        self.outgoing.fill(fill);
        let sent = self.outgoing.send(&self.socket)?;
        sent.sent(&self.meter, || is_full(&self.socket))
    }

    #[inline]
    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<Burst> {
        self.incoming.receive(&self.socket, check)
    }
}
