//! WebSocket (RFC 6455) over TCP, without TLS, through the libraries that users of `std` and tokio use: tungstenite
//! and tokio-tungstenite. Each message is a binary message in one frame. The end that opened the connection masks its
//! messages.

mod awaited;
mod blocking;
mod gate;
mod handshake;

use std::io;

use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Bytes, Error, Message};

pub(super) use self::awaited::AwaitedWebSocketIo;
pub(super) use self::blocking::WebSocketIo;
pub use self::handshake::shake_hands;
use crate::engine::payload::{Check, Fill, Origin};
use crate::engine::{Burst, IoOptions};

/// Size of the library's write buffer in bytes, larger than any frame. `write` then only buffers, and only `flush`
/// makes system calls: an interrupted flush can be repeated.
const WRITE_BYTES: usize = 2 << 20;

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
    fn gone(&mut self) -> Burst {
        self.is_queued = false;
        Burst::one(self.payload.len())
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

/// Shows a message to `check` and returns its length in bytes. `None`: the message only keeps the connection up.
///
/// # Errors
/// Fails with `UnexpectedEof` if the remote end closes the connection.
#[inline]
fn take<C: Check>(message: &Message, check: &mut C) -> io::Result<Option<usize>> {
    match message {
        Message::Binary(bytes) => {
            check.check_received(bytes.len(), bytes, || Origin::PEER);
            Ok(Some(bytes.len()))
        }
        Message::Close(_) => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(None),
    }
}

fn in_io(error: Error) -> io::Error {
    match error {
        Error::Io(error) => error,
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests;
