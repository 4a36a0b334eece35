//! The engine `glommio`: an executor over three io_urings.
//!
//! Its sockets try a plain non-blocking call first, and hand over to a ring what would block. The ring receives into
//! memory of the library, which copies the datagram. `recv` asks for the peer's address first: a call more.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use glommio::net::UdpSocket;
use glommio::{LocalExecutor, LocalExecutorBuilder, Placement};
use send_wrapper::SendWrapper;
use udpbench::engine::payload::{Check, Fill};
use udpbench::engine::{
    About, BatchCount, BusyPolling, DatagramIo, Engine, Group, IoOptions, ManyEndpoints, Selection,
    ThreadArgs, Wakeups,
};

use crate::incoming::{Incoming, Received};

/// glommio, with an executor per bench thread, which udpbench has placed.
pub struct Glommio {
    executor: LocalExecutor,
    wakeups: Arc<Wakeups>,
}

impl Engine for Glommio {
    const ABOUT: About = About {
        name: "glommio",
        summary: "glommio, every send and recv awaited: a plain call, then io_uring",
        group: Group::Async,
        busy_polling: BusyPolling::OutOfReach("in an io_uring of its library"),
        many_endpoints: ManyEndpoints::IoEach,
        selection: Selection::Default,
        ..About::PLAIN
    };
    type DatagramIo = GlommioSocket;

    fn start(brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self {
            executor: LocalExecutorBuilder::new(Placement::Unbound).make()?,
            wakeups: Arc::clone(&brief.wakeups),
        })
    }

    fn open(&self, mut options: IoOptions) -> io::Result<GlommioSocket> {
        let endpoint = options.only_endpoint()?;
        let peer = endpoint.peer_or_unspecified();
        let socket = std::net::UdpSocket::from(endpoint.socket);
        let adopt = async { UdpSocket::from(socket2::Socket::from(socket)) };
        let socket = Rc::new(self.executor.run(adopt));
        let mut buffer = options.buffer();
        // The library panics if it has to wait with an empty one.
        buffer.resize(buffer.len().max(1), 0);
        // Its `recv` fails on the socket of a receiver with several senders, which is never connected.
        let incoming = match socket.peer_addr() {
            Ok(_) => Incoming::new(&socket, buffer, &self.wakeups, receive),
            Err(_) => Incoming::new(&socket, buffer, &self.wakeups, receive_from),
        };
        Ok(GlommioSocket {
            is_connected: options.is_connected(),
            peer,
            payload: options.payload(),
            incoming,
            socket: SendWrapper::new(socket),
        })
    }

    fn probe() -> Result<(), String> {
        let executor = LocalExecutorBuilder::new(Placement::Unbound).make();
        executor.map(drop).map_err(|error| error.to_string())
    }

    fn run<F: Future<Output: Send> + Send>(&self, future: F) -> F::Output {
        self.executor.run(future)
    }
}

/// A socket of glommio.
pub struct GlommioSocket {
    is_connected: bool,
    socket: SendWrapper<Rc<UdpSocket>>,
    peer: SocketAddr,
    payload: Vec<u8>,
    incoming: Incoming,
}

impl DatagramIo for GlommioSocket {
    /// Waits for room even if it is interrupted: a send that was begun cannot be taken back.
    #[inline]
    async fn transmit(&mut self, _endpoint: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        fill.fill(&mut self.payload);
        let sent = if self.is_connected {
            SendWrapper::new(self.socket.send(&self.payload)).await?
        } else {
            let to = fill.destination().unwrap_or(self.peer);
            SendWrapper::new(self.socket.send_to(&self.payload, to)).await?
        };
        Ok(BatchCount::one(sent))
    }

    #[inline]
    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        self.incoming.next(check).await
    }
}

async fn receive(socket: Rc<UdpSocket>, mut buffer: Vec<u8>) -> Received {
    let received = socket.recv(&mut buffer).await;
    let received = received.map(|bytes| (bytes, None));
    (received.map_err(io::Error::from), buffer)
}

async fn receive_from(socket: Rc<UdpSocket>, mut buffer: Vec<u8>) -> Received {
    let received = socket.recv_from(&mut buffer).await;
    let received = received.map(|(bytes, source)| (bytes, Some(source)));
    (received.map_err(io::Error::from), buffer)
}
