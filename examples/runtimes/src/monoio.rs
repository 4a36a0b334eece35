//! The engine `monoio`: a runtime over io_uring, to which buffers are lent.
//!
//! A send, and a receive with a source, allocate its `msghdr` in the library.

use std::cell::RefCell;
use std::io;
use std::mem;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use monoio::net::udp::UdpSocket;
use monoio::{IoUringDriver, Runtime, RuntimeBuilder};
use send_wrapper::SendWrapper;
use udpbench::engine::payload::{Check, Fill};
use udpbench::engine::{
    About, BatchCount, BusyPolling, DatagramIo, Engine, Group, IoOptions, ManyEndpoints, Selection,
    ThreadArgs, Wakeups,
};

use crate::incoming::{Incoming, Received};

/// monoio, with a runtime per bench thread.
pub struct Monoio {
    runtime: RefCell<Runtime<IoUringDriver>>,
    wakeups: Arc<Wakeups>,
}

impl Engine for Monoio {
    const ABOUT: About = About {
        name: "monoio",
        summary: "monoio over io_uring, every send and recv awaited",
        group: Group::Async,
        busy_polling: BusyPolling::OutOfReach("in an io_uring of its library"),
        many_endpoints: ManyEndpoints::IoEach,
        selection: Selection::Default,
        ..About::PLAIN
    };
    type DatagramIo = MonoioSocket;

    fn start(brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self {
            runtime: RefCell::new(RuntimeBuilder::<IoUringDriver>::new().build()?),
            wakeups: Arc::clone(&brief.wakeups),
        })
    }

    fn open(&self, mut options: IoOptions) -> io::Result<MonoioSocket> {
        let endpoint = options.only_endpoint()?;
        let peer = endpoint.peer_or_unspecified();
        let socket = Rc::new(UdpSocket::from_std(endpoint.socket.into())?);
        let (buffer, wakeups) = (options.buffer(), &self.wakeups);
        let incoming = if options.is_connected() {
            Incoming::new(&socket, buffer, wakeups, receive)
        } else {
            Incoming::new(&socket, buffer, wakeups, receive_from)
        };
        Ok(MonoioSocket {
            is_connected: options.is_connected(),
            peer,
            payload: options.payload(),
            incoming,
            socket: SendWrapper::new(socket),
        })
    }

    fn probe() -> Result<(), String> {
        let runtime = RuntimeBuilder::<IoUringDriver>::new().build();
        runtime.map(drop).map_err(|error| error.to_string())
    }

    fn run<F: Future<Output: Send> + Send>(&self, future: F) -> F::Output {
        self.runtime.borrow_mut().block_on(future)
    }
}

/// A socket of monoio.
pub struct MonoioSocket {
    is_connected: bool,
    socket: SendWrapper<Rc<UdpSocket>>,
    peer: SocketAddr,
    payload: Vec<u8>,
    incoming: Incoming,
}

impl DatagramIo for MonoioSocket {
    /// Waits for room even if it is interrupted: a send that was begun cannot be taken back.
    #[inline]
    async fn transmit(&mut self, _endpoint: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        fill.fill(&mut self.payload);
        let payload = mem::take(&mut self.payload);
        let (sent, payload) = if self.is_connected {
            SendWrapper::new(self.socket.send(payload)).await
        } else {
            let to = fill.destination().unwrap_or(self.peer);
            SendWrapper::new(self.socket.send_to(payload, to)).await
        };
        self.payload = payload;
        sent.map(BatchCount::one)
    }

    #[inline]
    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        self.incoming.next(check).await
    }
}

async fn receive(socket: Rc<UdpSocket>, buffer: Vec<u8>) -> Received {
    let (received, buffer) = socket.recv(buffer).await;
    (received.map(|bytes| (bytes, None)), buffer)
}

async fn receive_from(socket: Rc<UdpSocket>, buffer: Vec<u8>) -> Received {
    let (received, buffer) = socket.recv_from(buffer).await;
    let received = received.map(|(bytes, source)| (bytes, Some(source)));
    (received, buffer)
}
