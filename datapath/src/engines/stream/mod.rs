//! Support of engines for transports other than UDP: the objects that send and receive messages, and the engines, which
//! differ in the way they wait. Crates with a transport of their own use the engines, too.

#[cfg(feature = "tokio")]
mod awaited;
mod synchronous;

use std::future::Future;
use std::io;
use std::net::TcpStream;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::sync::Arc;

use mio::net;

#[cfg(feature = "tokio")]
pub use self::awaited::{Awaited, InterruptibleSocket};
pub use self::synchronous::Blocking;
use self::synchronous::Polled;
use super::mio::Reactor;
use crate::data::Transport;
use crate::engine::payload::{Check, Fill, Origin};
use crate::engine::{BatchCount, DatagramIo, Engine, IoOptions, Remark};
use crate::workload::context::ThreadContext;
use crate::workload::{self, Program};

/// A function that runs one bench thread from start to stop.
pub type BenchThread = fn(Program, &Arc<ThreadContext>) -> io::Result<Remark>;

/// A function that returns the size of a message in a transport, in bytes. Its arguments are the payload in bytes and
/// whether the client sends the message. `None`: the transport keeps messages apart.
pub type MessageSize = fn(usize, bool) -> Option<usize>;

/// Support of an engine for a transport other than UDP.
pub struct Carrier {
    /// Name of the engine.
    pub engine: &'static str,
    /// The transport.
    pub transport: Transport,
    /// Function that runs a bench thread over this transport.
    pub thread: BenchThread,
    /// Size of a message in the transport.
    pub bytes_of: MessageSize,
}

impl Carrier {
    /// Creates the support for a transport through `E`. In a stream, its messages have the size of the payload.
    ///
    /// `E` gets connected sockets, one [`Endpoint`](crate::engine::Endpoint) per bench thread. Its [`Engine::ABOUT`] is
    /// that of the engine for UDP.
    ///
    /// # Panics
    /// Panics for [`Transport::Udp`], which every engine supports by itself.
    pub const fn of<E: Engine>(transport: Transport) -> Self {
        Self {
            engine: E::ABOUT.name,
            transport,
            thread: workload::run::<E>,
            bytes_of: usual_size(transport),
        }
    }

    /// Sets another size of messages: with a header, for example. The plan refuses pairs of engines whose sizes differ.
    pub const fn with_bytes_of(self, bytes_of: MessageSize) -> Self {
        Self { bytes_of, ..self }
    }
}

const fn usual_size(transport: Transport) -> MessageSize {
    match transport {
        Transport::Udp => panic!("every engine supports UDP"),
        Transport::UnixDgram => |_, _| None,
        _ => |payload, _| Some(payload),
    }
}

/// Transports other than UDP of the engines `std`, `mio-exhaustive` and `tokio`.
pub(super) static CARRIERS: &[Carrier] = &[
    Carrier::of::<Blocking<DatagramSocketIo<UnixDatagram>>>(Transport::UnixDgram),
    Carrier::of::<Blocking<StreamIo<UnixStream>>>(Transport::UnixStream),
    Carrier::of::<Blocking<StreamIo<TcpStream>>>(Transport::Tcp),
    Carrier::of::<Polled<DatagramSocketIo<Reactor<net::UnixDatagram>>>>(Transport::UnixDgram),
    Carrier::of::<Polled<StreamIo<Reactor<net::UnixStream>>>>(Transport::UnixStream),
    Carrier::of::<Polled<StreamIo<Reactor<net::TcpStream>>>>(Transport::Tcp),
    #[cfg(feature = "tokio")]
    Carrier::of::<Awaited<DatagramSocketIo<InterruptibleSocket<tokio::net::UnixDatagram>>>>(
        Transport::UnixDgram,
    ),
    #[cfg(feature = "tokio")]
    Carrier::of::<Awaited<StreamIo<InterruptibleSocket<tokio::net::UnixStream>>>>(
        Transport::UnixStream,
    ),
    #[cfg(feature = "tokio")]
    Carrier::of::<Awaited<StreamIo<InterruptibleSocket<tokio::net::TcpStream>>>>(Transport::Tcp),
];

/// A socket that moves bytes and waits in its own way.
pub trait ByteIo: Send + 'static {
    /// Writes the bytes for which there is room, and returns their number.
    ///
    /// # Errors
    /// Returns the error of the system call.
    fn write(&mut self, bytes: &[u8]) -> impl Future<Output = io::Result<usize>> + Send;

    /// Reads the bytes that are there, and returns their number.
    ///
    /// # Errors
    /// Returns the error of the system call.
    fn read(&mut self, room: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send;
}

/// An I/O object over a [`ByteIo`].
pub trait TransportIo: DatagramIo + 'static {
    /// Socket that moves the bytes.
    type ByteIo: ByteIo;

    /// Creates the I/O object. `is_client` tells whether this end opened the connection, which matters to some
    /// protocols.
    fn over(wire: Self::ByteIo, is_client: bool, options: &IoOptions) -> Self;
}

/// Sends and receives messages over a stream. They follow each other, and both ends know their length.
struct StreamIo<W> {
    wire: W,
    outgoing: Vec<u8>,
    /// Bytes of the outgoing message that were written. A message that was written in part is continued.
    written: usize,
    incoming: Vec<u8>,
    /// Bytes of the incoming message that were read.
    filled: usize,
}

impl<W: ByteIo> TransportIo for StreamIo<W> {
    type ByteIo = W;

    fn over(wire: W, _is_client: bool, options: &IoOptions) -> Self {
        let receives = options.direction.receives();
        let message_bytes = options.payload_bytes;
        Self {
            wire,
            outgoing: options.payload(),
            written: 0,
            incoming: vec![0; if receives { message_bytes } else { 0 }],
            filled: 0,
        }
    }
}

impl<W: ByteIo> DatagramIo for StreamIo<W> {
    #[inline]
    async fn transmit(&mut self, _endpoint: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        if self.written == 0 {
            fill.fill(&mut self.outgoing);
        }
        while self.written < self.outgoing.len() {
            match self.wire.write(&self.outgoing[self.written..]).await? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                bytes => self.written += bytes,
            }
        }
        self.written = 0;
        Ok(BatchCount::one(self.outgoing.len()))
    }

    #[inline]
    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        let room = &mut self.incoming[self.filled..];
        match self.wire.read(room).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            bytes => self.filled += bytes,
        }
        if self.filled < self.incoming.len() {
            return Ok(BatchCount::default());
        }
        self.filled = 0;
        check.check_received(self.incoming.len(), &self.incoming, || Origin::PEER);
        Ok(BatchCount::one(self.incoming.len()))
    }
}

/// Sends and receives messages over a socket that keeps them apart.
struct DatagramSocketIo<W> {
    wire: W,
    payload: Vec<u8>,
    buffer: Vec<u8>,
}

impl<W: ByteIo> TransportIo for DatagramSocketIo<W> {
    type ByteIo = W;

    fn over(wire: W, _is_client: bool, options: &IoOptions) -> Self {
        Self {
            wire,
            payload: options.payload(),
            buffer: options.buffer(),
        }
    }
}

impl<W: ByteIo> DatagramIo for DatagramSocketIo<W> {
    #[inline]
    async fn transmit(&mut self, _endpoint: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        fill.fill(&mut self.payload);
        Ok(BatchCount::one(self.wire.write(&self.payload).await?))
    }

    #[inline]
    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        let bytes = self.wire.read(&mut self.buffer).await?;
        check.check_received(bytes, &self.buffer, || Origin::PEER);
        Ok(BatchCount::one(bytes))
    }
}
