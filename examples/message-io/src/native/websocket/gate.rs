//! A gate between the WebSocket library and a connection, so that no message stays unseen in the library's buffer.

use std::io::{self, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use udpbench::engine::IoOptions;

use super::websocket_bytes;

/// A stream whose reads can be blocked until the messages that were already read are used up. It counts the bytes
/// that are read and not used.
#[derive(Debug)]
pub(super) struct Gated<S> {
    pub(super) stream: S,
    is_open: bool,
    /// Bytes read that do not belong to a message received so far.
    unread: usize,
    /// Size of a received message in the stream, in bytes.
    message_bytes: usize,
    is_masked: bool,
}

impl<S> Gated<S> {
    pub(super) fn new(stream: S, is_client: bool, options: &IoOptions) -> Self {
        Self {
            stream,
            is_open: true,
            unread: 0,
            message_bytes: websocket_bytes(options.payload_bytes, !is_client),
            is_masked: !is_client,
        }
    }

    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Lets reads through to the system from now on.
    #[inline]
    pub(super) fn allow_reads(&mut self) {
        self.is_open = true;
    }

    /// Notes that `bytes` bytes were read.
    #[inline]
    pub(super) fn note_read(&mut self, bytes: usize) {
        self.unread += bytes;
    }

    /// Notes that a message of `payload_bytes` was received. Returns whether another complete message lies in the
    /// library's buffer. There it is invisible from outside, so it must be taken before the next read from the
    /// system.
    #[inline]
    pub(super) fn note_message(&mut self, payload_bytes: usize) -> bool {
        let bytes = websocket_bytes(payload_bytes, self.is_masked);
        self.unread = self.unread.saturating_sub(bytes);
        self.is_open = self.unread < self.message_bytes;
        !self.is_open
    }
}

impl<S: Read> Read for Gated<S> {
    #[inline]
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if !self.is_open {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let bytes = self.stream.read(room)?;
        self.note_read(bytes);
        Ok(bytes)
    }
}

impl<S: Write> Write for Gated<S> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

impl AsyncRead for Gated<TcpStream> {
    #[inline]
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.is_open() {
            // No waker is registered: nobody waits for this.
            return Poll::Pending;
        }
        let before = room.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, room);
        self.note_read(room.filled().len() - before);
        read
    }
}

impl AsyncWrite for Gated<TcpStream> {
    #[inline]
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    #[inline]
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
