//! The engine `uring` (io_uring). Each call sends `--batch` datagrams on a registered file. A multishot receive stays
//! active and delivers into a ring of provided buffers.

use std::io;
use std::mem;
use std::net::UdpSocket;
use std::sync::Arc;

use crate::data::Group;
use crate::engine::payload::{Check, Fill};
use crate::engine::{
    About, Addressing, BatchCount, BusyPolling, DatagramIo, Engine, IoOptions, ManyEndpoints,
    Meter, ThreadArgs,
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
        prefetches: true,
        busy_polling: BusyPolling::Uring,
        can_spin: true,
        many_endpoints: ManyEndpoints::OneIo,
        ..About::PLAIN
    };
    type DatagramIo<A: Addressing> = UringIo;

    fn start(brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self(Arc::clone(&brief.meter)))
    }

    fn open<A: Addressing>(&self, mut options: IoOptions) -> io::Result<UringIo> {
        let endpoints = mem::take(&mut options.endpoints);
        let sending = endpoints.iter().filter(|_| options.direction.sends());
        let batches = sending
            .map(|endpoint| SendBatch::from_options::<A>(&options, endpoint))
            .collect();
        let sockets: Vec<UdpSocket> = endpoints
            .into_iter()
            .map(|endpoint| endpoint.socket.into())
            .collect();
        let send = || SendRing::new(&sockets, batches);
        let receive = || ReceiveRing::new::<A>(&sockets, &options);
        Ok(UringIo {
            outgoing: options.direction.sends().then(send).transpose()?,
            incoming: options.direction.receives().then(receive).transpose()?,
            meter: Arc::clone(&self.0),
            failed: 0,
            _sockets: sockets,
        })
    }

    fn probe() -> Result<(), String> {
        uring::probe()
    }
}

/// One ring for each direction in use.
pub(super) struct UringIo {
    outgoing: Option<SendRing>,
    incoming: Option<ReceiveRing>,
    meter: Arc<Meter>,
    /// Failed sends in the last call.
    failed: u32,
    // Closed last.
    _sockets: Vec<UdpSocket>,
}

impl DatagramIo for UringIo {
    #[inline]
    async fn transmit(&mut self, endpoint: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        let ring = self.outgoing.as_mut().ok_or(io::ErrorKind::Unsupported)?;
        let batched = ring.send(endpoint, fill)?;
        self.failed = batched.failed;
        batched.sent(&self.meter, || false)
    }

    fn packets_per_failure(&self) -> u64 {
        self.failed.into()
    }

    #[inline]
    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        let ring = self.incoming.as_mut().ok_or(io::ErrorKind::Unsupported)?;
        ring.receive(check)?.received(&self.meter)
    }
}
