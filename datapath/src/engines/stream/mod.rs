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
use super::carrier::Carrier;
use super::mio::Reactor;
use crate::data::Transport;

/// Bytes per read of length-prefixed messages, or one message if that is longer.
pub const READ_BYTES: usize = 64 << 10;
/// Bytes per read of WebSocket messages: tungstenite's default.
pub const WEBSOCKET_READ_BYTES: usize = 128 << 10;

/// Transports of `std` other than UDP.
pub(super) static OF_STD: &[Carrier] = &[
    Carrier::of::<Blocking<DatagramSocketIo<UnixDatagram>>>(Transport::UnixDgram),
    Carrier::of::<Blocking<StreamIo<UnixStream, Bare>>>(Transport::UnixStream),
    Carrier::of::<Blocking<StreamIo<TcpStream, Bare>>>(Transport::Tcp),
    Carrier::of::<Blocking<StreamIo<TcpStream, LengthPrefix>>>(Transport::FramedTcp),
    #[cfg(feature = "websocket")]
    Carrier::of::<Blocking<websocket::WebSocketIo>>(Transport::Websocket),
];

/// Transports of `mio-exhaustive` other than UDP.
pub(super) static OF_MIO: &[Carrier] = {
    use mio::net::{TcpStream, UnixDatagram, UnixStream};
    type Stream<S, F> = StreamIo<Reactor<S>, F>;
    &[
        Carrier::of::<Polled<DatagramSocketIo<Reactor<UnixDatagram>>>>(Transport::UnixDgram),
        Carrier::of::<Polled<Stream<UnixStream, Bare>>>(Transport::UnixStream),
        Carrier::of::<Polled<Stream<TcpStream, Bare>>>(Transport::Tcp),
        Carrier::of::<Polled<Stream<TcpStream, LengthPrefix>>>(Transport::FramedTcp),
    ]
};

/// Transports of `tokio` other than UDP.
#[cfg(feature = "tokio")]
pub(super) static OF_TOKIO: &[Carrier] = {
    use tokio::net::{TcpStream, UnixDatagram, UnixStream};
    type Stream<S, F> = StreamIo<InterruptibleSocket<S>, F>;
    &[
        Carrier::of::<Awaited<DatagramSocketIo<InterruptibleSocket<UnixDatagram>>>>(
            Transport::UnixDgram,
        ),
        Carrier::of::<Awaited<Stream<UnixStream, Bare>>>(Transport::UnixStream),
        Carrier::of::<Awaited<Stream<TcpStream, Bare>>>(Transport::Tcp),
        Carrier::of::<Awaited<Stream<TcpStream, LengthPrefix>>>(Transport::FramedTcp),
        #[cfg(feature = "websocket")]
        Carrier::of::<Awaited<websocket::AwaitedWebSocketIo>>(Transport::Websocket),
    ]
};

/// Performs the WebSocket handshake between the two ends of a connection.
///
/// # Errors
/// Fails with `Unsupported`, since this build has no WebSocket.
#[cfg(not(feature = "websocket"))]
pub fn shake_hands(_client: &TcpStream, _server: &TcpStream) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
