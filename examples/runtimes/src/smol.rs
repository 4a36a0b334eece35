//! The engine `smol`: async-io, the reactor of the smol runtime, with its own `block_on`.
//!
//! The library sometimes allocates when a call waits, which is part of its cost.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::pin::pin;
use std::sync::Arc;

use async_io::Async;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use udpbench::engine::payload::{Check, Fill, Origin};
use udpbench::engine::{
    About, BatchCount, BusyPolling, DatagramIo, Engine, Group, IoOptions, Loop, ManyEndpoints,
    Selection, ThreadArgs, Waits, Wakeups,
};

/// smol, whose reactor all bench threads share: a thread of its own, or the one that waits.
pub struct Smol(Arc<Wakeups>);

impl Engine for Smol {
    const ABOUT: About = About {
        name: "smol",
        summary: "async-io, the reactor of smol, every send and recv awaited",
        group: Group::Async,
        many_endpoints: ManyEndpoints::IoEach,
        busy_polling: BusyPolling::OF_LIBRARY,
        selection: Selection::Default,
        ..About::PLAIN
    };
    type DatagramIo = SmolSocket;

    fn start(brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self(Arc::clone(&brief.wakeups)))
    }

    fn open(&self, mut options: IoOptions) -> io::Result<SmolSocket> {
        let endpoint = options.only_endpoint()?;
        Ok(SmolSocket {
            is_connected: options.is_connected(),
            payload: options.payload(),
            buffer: options.buffer(),
            peer: endpoint.peer_or_unspecified(),
            socket: Async::new(UdpSocket::from(endpoint.socket))?,
            waits: Waits::new(&self.0),
        })
    }

    /// Waits for many sockets with a set of futures, as programs of smol do.
    fn run_all(&self, loops: Vec<Loop>) -> io::Result<()> {
        self.run(async {
            let mut loops: FuturesUnordered<Loop> = loops.into_iter().collect();
            while let Some(ended) = loops.next().await {
                ended?;
            }
            Ok(())
        })
    }

    fn run<F: Future<Output: Send> + Send>(&self, future: F) -> F::Output {
        async_io::block_on(future)
    }
}

/// A socket of async-io.
pub struct SmolSocket {
    is_connected: bool,
    socket: Async<UdpSocket>,
    peer: SocketAddr,
    payload: Vec<u8>,
    buffer: Vec<u8>,
    waits: Waits,
}

impl DatagramIo for SmolSocket {
    #[inline]
    async fn transmit(&mut self, _endpoint: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        fill.fill(&mut self.payload);
        let sent = if self.is_connected {
            let send = pin!(self.socket.send(&self.payload));
            self.waits.interruptible(send).await?
        } else {
            let to = fill.destination().unwrap_or(self.peer);
            let send = pin!(self.socket.send_to(&self.payload, to));
            self.waits.interruptible(send).await?
        };
        Ok(BatchCount::one(sent))
    }

    #[inline]
    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        let (received, source) = if self.is_connected {
            let receive = pin!(self.socket.recv(&mut self.buffer));
            (self.waits.interruptible(receive).await?, None)
        } else {
            let receive = pin!(self.socket.recv_from(&mut self.buffer));
            let (received, source) = self.waits.interruptible(receive).await?;
            (received, Some(source))
        };
        check.check_received(received, &self.buffer, || Origin::of(source));
        Ok(BatchCount::one(received))
    }
}
