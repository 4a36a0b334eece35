//! `uring`: io_uring. `--batch` sends per call on a registered file; a multishot receive that goes on by itself
//! into a ring of provided buffers.

use std::io;
use std::net::UdpSocket;
use std::sync::Arc;

use crate::data::Group;
use crate::engine::payload::{Check, Fill};
use crate::engine::{About, Addressing, Burst, Engine, LaneBrief, Meter, Port, PortOptions};
use crate::engines::linux::batch::SendBatch;
use crate::engines::linux::uring::{self, ReceiveRing, SendRing};

pub(super) struct Uring(Arc<Meter>);

impl Engine for Uring {
    const ABOUT: About = About {
        name: "uring",
        summary: "io_uring: --batch sends per call, multishot receive into provided buffers",
        group: Group::Batch,
        sends_batches: true,
        can_spin: true,
        ..About::PLAIN
    };
    type Port<A: Addressing> = UringPort;

    fn start(brief: &LaneBrief) -> io::Result<Self> {
        Ok(Self(Arc::clone(&brief.meter)))
    }

    fn open<A: Addressing>(&self, mut options: PortOptions) -> io::Result<UringPort> {
        let link = options.only_link()?;
        let send = || SendRing::new(&link.socket, SendBatch::of::<A>(&options, &link));
        let receive = || ReceiveRing::new::<A>(&link.socket, &options);
        Ok(UringPort {
            outgoing: options.direction.sends().then(send).transpose()?,
            incoming: options.direction.receives().then(receive).transpose()?,
            meter: Arc::clone(&self.0),
            _socket: link.socket,
        })
    }

    fn probe() -> Result<(), String> {
        uring::probe()
    }
}

/// A ring for each way that datagrams go through it.
pub(super) struct UringPort {
    outgoing: Option<SendRing>,
    incoming: Option<ReceiveRing>,
    meter: Arc<Meter>,
    // Closed last.
    _socket: UdpSocket,
}

impl Port for UringPort {
    #[inline]
    async fn transmit(&mut self, _link: usize, fill: &impl Fill) -> io::Result<Burst> {
        let ring = self.outgoing.as_mut().ok_or(io::ErrorKind::Unsupported)?;
        ring.send(fill)?.counted(&self.meter)
    }

    #[inline]
    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<Burst> {
        let ring = self.incoming.as_mut().ok_or(io::ErrorKind::Unsupported)?;
        ring.receive(check)?.counted(&self.meter)
    }
}
