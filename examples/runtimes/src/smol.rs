//! The engine `smol`: async-io, the reactor of the smol runtime, with its own `block_on`.
//!
//! The library sometimes allocates when a call waits, which is part of its cost.

use std::io;
use std::marker::PhantomData;
use std::net::{SocketAddr, UdpSocket};
use std::pin::pin;
use std::sync::Arc;

use async_io::Async;
use udpbench::engine::payload::{Check, Fill, Origin};
use udpbench::engine::{
    About, Addressing, BatchCount, BusyPolling, DatagramIo, Engine, Group, IoOptions,
    ManyEndpoints, Selection, ThreadArgs, Waits, Wakeups,
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
    type DatagramIo<A: Addressing> = SmolSocket<A>;

    fn start(brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self(Arc::clone(&brief.wakeups)))
    }

    fn open<A: Addressing>(&self, mut options: IoOptions) -> io::Result<SmolSocket<A>> {
        let endpoint = options.only_endpoint()?;
        Ok(SmolSocket {
            payload: options.payload(),
            buffer: options.buffer(),
            peer: endpoint.peer_or_unspecified(),
            socket: Async::new(UdpSocket::from(endpoint.socket))?,
            waits: Waits::new(&self.0),
            addressing: PhantomData,
        })
    }

    fn run<F: Future<Output: Send> + Send>(&self, future: F) -> F::Output {
        async_io::block_on(future)
    }
}

/// A socket of async-io.
pub struct SmolSocket<A> {
    socket: Async<UdpSocket>,
    peer: SocketAddr,
    payload: Vec<u8>,
    buffer: Vec<u8>,
    waits: Waits,
    addressing: PhantomData<A>,
}

impl<A: Addressing> DatagramIo for SmolSocket<A> {
    #[inline]
    async fn transmit(&mut self, _endpoint: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        fill.fill(&mut self.payload);
        let sent = if A::CONNECTED {
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
        let (received, source) = if A::CONNECTED {
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
