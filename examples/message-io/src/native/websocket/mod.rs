//! WebSocket (RFC 6455) over TCP, without TLS, through the libraries that users of `std` and tokio use: tungstenite
//! and tokio-tungstenite. Each message is a binary message in one frame. The end that opened the connection masks its
//! messages.
//!
//! There is no opening handshake: it would be over before a trial begins, and the libraries go without.

mod awaited;
mod blocking;
mod gate;

use std::io;

use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Bytes, Error, Message};
use udpbench::engine::payload::{Check, Fill, Origin};
use udpbench::engine::{BatchCount, IoOptions};

pub(crate) use self::awaited::AwaitedWebSocketIo;
pub(crate) use self::blocking::WebSocketIo;

/// Size of the library's write buffer in bytes, larger than any frame. `write` then only buffers, and only `flush`
/// makes system calls: an interrupted flush can be repeated.
const WRITE_BYTES: usize = 2 << 20;

/// Returns the size of a message in one frame, in bytes (RFC 6455, section 5.2). Clients mask their messages.
pub(crate) fn websocket_bytes(payload_bytes: usize, is_masked: bool) -> usize {
    let length = match payload_bytes {
        0..=125 => 0,
        126..=0xFFFF => 2,
        _ => 8,
    };
    2 + length + if is_masked { 4 } else { 0 } + payload_bytes
}

/// The messages to send.
struct Outbox {
    payload: Vec<u8>,
    /// True if a message lies in the library's buffer, unsent or sent in part.
    is_queued: bool,
}

impl Outbox {
    fn new(options: &IoOptions) -> Self {
        Self {
            payload: options.payload(),
            is_queued: false,
        }
    }

    /// Returns the next message. Each is a copy, since the library takes ownership of messages.
    #[inline]
    fn next(&mut self, fill: &impl Fill) -> Message {
        fill.fill(&mut self.payload);
        Message::Binary(Bytes::copy_from_slice(&self.payload))
    }

    /// Notes that the message has been sent, and returns its count.
    #[inline]
    fn take_sent_count(&mut self) -> BatchCount {
        self.is_queued = false;
        BatchCount::one(self.payload.len())
    }
}

fn role(is_client: bool) -> Role {
    if is_client {
        Role::Client
    } else {
        Role::Server
    }
}

fn config() -> WebSocketConfig {
    WebSocketConfig::default().write_buffer_size(WRITE_BYTES)
}

/// A message that was received.
struct Received {
    /// Length of its payload.
    bytes: usize,
    /// False if the message only keeps the connection up.
    is_datagram: bool,
}

impl Received {
    /// Returns the count of the message.
    #[inline]
    fn count(&self) -> BatchCount {
        if self.is_datagram {
            BatchCount::one(self.bytes)
        } else {
            BatchCount::default()
        }
    }
}

/// Shows a message to `check`.
///
/// # Errors
/// Fails with `UnexpectedEof` if the remote end closes the connection.
#[inline]
fn check_message<C: Check>(message: &Message, check: &mut C) -> io::Result<Received> {
    match message {
        Message::Binary(bytes) => {
            check.check_received(bytes.len(), bytes, || Origin::PEER);
            Ok(Received {
                bytes: bytes.len(),
                is_datagram: true,
            })
        }
        Message::Close(_) => Err(io::ErrorKind::UnexpectedEof.into()),
        other => Ok(Received {
            bytes: other.len(),
            is_datagram: false,
        }),
    }
}

fn to_io_error(error: Error) -> io::Error {
    match error {
        Error::Io(error) => error,
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests;
