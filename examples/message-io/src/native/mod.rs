//! Framed TCP and WebSocket over the plain sockets of udpbench's own engines, beside which the library is measured.

mod framed;
mod websocket;

#[cfg(test)]
use udpbench::engine::payload::{Check, Origin};

pub(crate) use self::framed::{FramedIo, LENGTH_BYTES};
pub(crate) use self::websocket::{AwaitedWebSocketIo, WebSocketIo, websocket_bytes};

/// Messages that a test has received.
#[cfg(test)]
#[derive(Default)]
pub(crate) struct Collected(pub(crate) Vec<Vec<u8>>);

#[cfg(test)]
impl Check for Collected {
    const READS_PAYLOAD: bool = true;

    fn check(&mut self, message: &[u8], _origin: Origin) {
        self.0.push(message.to_vec());
    }
}
