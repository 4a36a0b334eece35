//! The engines `uring` and `uring-zerocopy` (io_uring). Each call sends `--batch` datagrams on a registered file. A
//! multishot receive stays active and delivers into a ring of provided buffers.
//!
//! They differ in whether the kernel copies what it sends, and in nothing else, so that one run can measure that.

use std::io;
use std::marker::PhantomData;
use std::mem;
use std::sync::Arc;

use crate::engine::prelude::*;
use crate::engines::linux::uring::{Outgoing, ReceiveRing};

pub(super) struct Uring<S>(Arc<Meter>, PhantomData<fn() -> S>);

impl<S: Outgoing> Engine for Uring<S> {
    const ABOUT: About = S::ABOUT;
    type DatagramIo = UringIo<S>;

    fn start(brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self(Arc::clone(&brief.meter), PhantomData))
    }

    fn open(&self, mut options: IoOptions) -> io::Result<UringIo<S>> {
        let endpoints = mem::take(&mut options.endpoints);
        let send = || S::open(&endpoints, &options);
        let receive = || ReceiveRing::new(&endpoints, &options);
        Ok(UringIo {
            outgoing: options.direction.sends().then(send).transpose()?,
            incoming: options.direction.receives().then(receive).transpose()?,
            meter: Arc::clone(&self.0),
            failed: 0,
            _endpoints: endpoints,
        })
    }

    fn probe() -> Result<(), String> {
        S::probe()
    }
}

/// One ring for each direction in use.
pub(super) struct UringIo<S> {
    outgoing: Option<S>,
    incoming: Option<ReceiveRing>,
    meter: Arc<Meter>,
    /// Failed sends in the last call.
    failed: u32,
    // Closed last.
    _endpoints: Vec<Endpoint>,
}

impl<S: Outgoing> UringIo<S> {
    #[inline]
    fn send(&mut self, endpoint: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        let ring = self.outgoing.as_mut().ok_or(io::ErrorKind::Unsupported)?;
        let batched = ring.send(endpoint, fill)?;
        self.failed = batched.failed;
        batched.sent(&self.meter, || false)
    }

    #[inline]
    fn take<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        let ring = self.incoming.as_mut().ok_or(io::ErrorKind::Unsupported)?;
        ring.receive(check)?.received(&self.meter)
    }
}

impl<S: Outgoing> DatagramIo for UringIo<S> {
    #[inline]
    fn transmit(&mut self, endpoint: usize, fill: &impl Fill) -> impl BatchFuture {
        ready(self.send(endpoint, fill))
    }

    fn packets_per_failure(&self) -> u64 {
        self.failed.into()
    }

    #[inline]
    fn receive<C: Check>(&mut self, check: &mut C) -> impl BatchFuture {
        ready(self.take(check))
    }

    fn remark(&self) -> Remark {
        self.outgoing.as_ref().and_then(S::remark)
    }
}
