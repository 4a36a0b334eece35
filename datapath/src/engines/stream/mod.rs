//! Messages over transports other than UDP: their framing in a byte stream, the objects that send and receive them,
//! and the engines, which differ in the way they wait.

#[cfg(feature = "tokio")]
mod awaited;
mod blocking;
mod framing;
mod polled;
mod ports;
#[cfg(feature = "websocket")]
mod websocket;

use std::net::TcpStream;
use std::os::unix::net::{UnixDatagram, UnixStream};

#[cfg(feature = "tokio")]
use self::awaited::{Awaited, InterruptibleSocket};
use self::blocking::Blocking;
use self::framing::{Bare, LengthPrefix};
use self::polled::Polled;
use self::ports::{DatagramSocketIo, StreamIo};
#[cfg(feature = "websocket")]
pub use self::websocket::shake_hands;
use super::Carrier;
use super::mio::Reactor;
use crate::data::Transport;
use crate::engine::Engine;
use crate::workload;

/// Bytes per read of length-prefixed messages, or one message if that is longer.
pub const READ_BYTES: usize = 64 << 10;
/// Size of the length before each message, in bytes.
pub const LENGTH_BYTES: usize = 4;
/// Bytes per read of WebSocket messages: tungstenite's default.
pub const WEBSOCKET_READ_BYTES: usize = 128 << 10;

/// Returns the size of a WebSocket message in one frame, in bytes (RFC 6455, section 5.2). Clients mask their
/// messages.
pub fn websocket_bytes(payload_bytes: usize, is_masked: bool) -> usize {
    let length = match payload_bytes {
        0..=125 => 0,
        126..=0xFFFF => 2,
        _ => 8,
    };
    2 + length + if is_masked { 4 } else { 0 } + payload_bytes
}

/// Transports of `std` other than UDP.
pub(super) static OF_STD: &[Carrier] = &[
    datagrams::<Blocking<DatagramSocketIo<UnixDatagram>>>(Transport::UnixDgram),
    bare::<Blocking<StreamIo<UnixStream, Bare>>>(Transport::UnixStream),
    bare::<Blocking<StreamIo<TcpStream, Bare>>>(Transport::Tcp),
    framed::<Blocking<StreamIo<TcpStream, LengthPrefix>>>(),
    #[cfg(feature = "websocket")]
    over_websocket::<Blocking<websocket::WebSocketIo>>(),
];

/// Transports of `mio-exhaustive` other than UDP.
pub(super) static OF_MIO: &[Carrier] = {
    use mio::net::{TcpStream, UnixDatagram, UnixStream};
    type Stream<S, F> = StreamIo<Reactor<S>, F>;
    &[
        datagrams::<Polled<DatagramSocketIo<Reactor<UnixDatagram>>>>(Transport::UnixDgram),
        bare::<Polled<Stream<UnixStream, Bare>>>(Transport::UnixStream),
        bare::<Polled<Stream<TcpStream, Bare>>>(Transport::Tcp),
        framed::<Polled<Stream<TcpStream, LengthPrefix>>>(),
    ]
};

/// Transports of `tokio` other than UDP.
#[cfg(feature = "tokio")]
pub(super) static OF_TOKIO: &[Carrier] = {
    use tokio::net::{TcpStream, UnixDatagram, UnixStream};
    type Stream<S, F> = StreamIo<InterruptibleSocket<S>, F>;
    &[
        datagrams::<Awaited<DatagramSocketIo<InterruptibleSocket<UnixDatagram>>>>(
            Transport::UnixDgram,
        ),
        bare::<Awaited<Stream<UnixStream, Bare>>>(Transport::UnixStream),
        bare::<Awaited<Stream<TcpStream, Bare>>>(Transport::Tcp),
        framed::<Awaited<Stream<TcpStream, LengthPrefix>>>(),
        #[cfg(feature = "websocket")]
        over_websocket::<Awaited<websocket::AwaitedWebSocketIo>>(),
    ]
};

/// Transports of `message-io` other than UDP.
#[cfg(feature = "message-io")]
pub(super) static OF_MESSAGE_IO: &[Carrier] = {
    use super::message_io::{FramedTcp, MessageIo, Tcp};
    &[
        bare::<MessageIo<Tcp>>(Transport::Tcp),
        Carrier {
            bytes_of: |payload, _| Some(FramedTcp::head_bytes(payload) + payload),
            ..framed::<MessageIo<FramedTcp>>()
        },
    ]
};

/// Returns the support for a transport that keeps messages apart.
const fn datagrams<E: Engine>(transport: Transport) -> Carrier {
    Carrier {
        transport,
        thread: |program, connection, thread| workload::run::<E>(program, connection, thread),
        bytes_of: |_, _| None,
    }
}

/// Returns the support for a byte stream without framing.
const fn bare<E: Engine>(transport: Transport) -> Carrier {
    Carrier {
        bytes_of: |payload, _| Some(payload),
        ..datagrams::<E>(transport)
    }
}

/// Returns the support for TCP with a length before each message.
const fn framed<E: Engine>() -> Carrier {
    Carrier {
        bytes_of: |payload, _| Some(LENGTH_BYTES + payload),
        ..datagrams::<E>(Transport::FramedTcp)
    }
}

#[cfg(feature = "websocket")]
const fn over_websocket<E: Engine>() -> Carrier {
    Carrier {
        bytes_of: |payload, is_client| Some(websocket_bytes(payload, is_client)),
        ..datagrams::<E>(Transport::Websocket)
    }
}

/// Performs the WebSocket handshake between the two ends of a connection.
///
/// # Errors
/// Fails with `Unsupported`, since this build has no WebSocket.
#[cfg(not(feature = "websocket"))]
pub fn shake_hands(_client: &TcpStream, _server: &TcpStream) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
