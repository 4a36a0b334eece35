//! Sends and receives messages over any socket that moves bytes.

use std::future::Future;
use std::io;

use super::framing::{Framing, Incoming, Outgoing};
use crate::engine::payload::{Check, Fill, Origin};
use crate::engine::{BatchCount, DatagramIo, IoOptions};

/// A socket that moves bytes and waits in its own way.
pub(super) trait ByteIo: Send + 'static {
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
pub(super) trait TransportIo: DatagramIo + 'static {
    /// Socket that moves the bytes.
    type ByteIo: ByteIo;

    /// Creates the I/O object. `is_client` tells whether this end opened the connection, which matters to some
    /// protocols.
    fn over(wire: Self::ByteIo, is_client: bool, options: &IoOptions) -> Self;
}

/// Sends and receives messages, framed by `F`, over a stream.
pub(in crate::engines) struct StreamIo<W, F> {
    wire: W,
    outgoing: Outgoing<F>,
    incoming: Incoming<F>,
}

impl<W: ByteIo, F: Framing> TransportIo for StreamIo<W, F> {
    type ByteIo = W;

    fn over(wire: W, _is_client: bool, options: &IoOptions) -> Self {
        Self {
            wire,
            outgoing: Outgoing::new(options),
            incoming: Incoming::new(options),
        }
    }
}

impl<W: ByteIo, F: Framing> DatagramIo for StreamIo<W, F> {
    #[inline]
    async fn transmit(&mut self, _link: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        self.outgoing.begin(fill);
        loop {
            match self.wire.write(self.outgoing.rest()).await? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                bytes => {
                    if let Some(moved) = self.outgoing.went(bytes) {
                        return Ok(moved);
                    }
                }
            }
        }
    }

    #[inline]
    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        let bytes = self.wire.read(self.incoming.room()).await?;
        if bytes == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let moved = self.incoming.came(bytes, check);
        moved.ok_or_else(|| io::ErrorKind::InvalidData.into())
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
