//! The engine `message-io`, and the transports of its table for the engines of udpbench.

mod engine;
mod logged_errno;
mod messages;
mod native;
mod network;
mod swap_fd;

use std::net::TcpStream;

use udpbench::engine::{Engine, Transport};
use udpbench::engines::stream::{Awaited, Blocking, InterruptibleSocket};
use udpbench::{Carrier, Entry};

pub use self::engine::MessageIo;
use self::native::{AwaitedWebSocketIo, FramedIo, WebSocketIo};
pub use self::network::{Adapter, FramedTcp, Tcp, Udp, WebSocket};

/// The engine.
pub static ENGINES: &[Entry] = &[Entry::of::<MessageIo<Udp>>()];

/// Transports of the engine, and those that udpbench's own engines have in this program only.
pub static CARRIERS: &[Carrier] = &[
    Carrier::of::<MessageIo<Tcp>>(Transport::Tcp),
    Carrier::of::<MessageIo<FramedTcp>>(Transport::FramedTcp)
        .with_bytes_of(|payload, _| Some(FramedTcp::head_bytes(payload) + payload)),
    framed::<Blocking<FramedIo<TcpStream>>>(),
    framed::<Awaited<FramedIo<InterruptibleSocket<tokio::net::TcpStream>>>>(),
    websocket::<MessageIo<WebSocket>>(),
    websocket::<Blocking<WebSocketIo>>(),
    websocket::<Awaited<AwaitedWebSocketIo>>(),
];

const fn framed<E: Engine>() -> Carrier {
    let carrier = Carrier::of::<E>(Transport::FramedTcp);
    carrier.with_bytes_of(|payload, _| Some(native::LENGTH_BYTES + payload))
}

const fn websocket<E: Engine>() -> Carrier {
    let carrier = Carrier::of::<E>(Transport::Websocket);
    carrier.with_bytes_of(|payload, is_client| Some(native::websocket_bytes(payload, is_client)))
}
