//! Sends and receives messages over any socket that moves bytes.

use std::future::Future;
use std::io;

use crate::engine::payload::{Check, Fill, Origin};
use crate::engine::{BatchCount, DatagramIo, IoOptions};

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
pub(in crate::engines) struct StreamIo<W> {
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
    async fn transmit(&mut self, _link: usize, fill: &impl Fill) -> io::Result<BatchCount> {
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
pub(in crate::engines) struct DatagramSocketIo<W> {
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
    async fn transmit(&mut self, _link: usize, fill: &impl Fill) -> io::Result<BatchCount> {
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
