//! WebSocket (RFC 6455) over TCP, without TLS, as users of `std` and tokio write it: by tungstenite and tokio-tungstenite. A
//! message is a binary one, in one frame; the end that connected masks what it sends.

mod awaited;
mod blocking;
mod gate;
mod handshake;

use std::io;

use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Bytes, Error, Message};

pub(super) use self::awaited::AwaitedWebSocketPort;
pub(super) use self::blocking::WebSocketPort;
pub use self::handshake::shake_hands;
use crate::engine::payload::{Check, Fill, Origin};
use crate::engine::{Burst, PortOptions};

/// Larger than any frame, so that `write` only buffers and `flush` alone calls the system: a flush that was interrupted can
/// be repeated.
const WRITE_BYTES: usize = 2 << 20;

/// The messages that a port sends.
struct Outbox {
    payload: Vec<u8>,
    /// Whether one lies in the library's buffer, gone in part or not at all.
    is_queued: bool,
}

impl Outbox {
    fn new(options: &PortOptions) -> Self {
        Self {
            payload: options.payload(),
            is_queued: false,
        }
    }

    /// The next one. The library takes messages as its own, so each is copied.
    #[inline]
    fn next(&mut self, fill: &impl Fill) -> Message {
        fill.fill(&mut self.payload);
        Message::Binary(Bytes::copy_from_slice(&self.payload))
    }

    /// It has gone.
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

/// Shows a message to `check`, and returns its length. `None`: it only keeps a connection up.
///
/// # Errors
/// `UnexpectedEof` where the other end says that it is done.
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
