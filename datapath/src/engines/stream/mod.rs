//! Messages over transports other than UDP: the objects that send and receive them, and the engines, which differ in the
//! way they wait. Crates with a transport of their own use the engines, too.

#[cfg(feature = "tokio")]
mod awaited;
mod blocking;
mod polled;
mod ports;

use std::net::TcpStream;
use std::os::unix::net::{UnixDatagram, UnixStream};

use mio::net;

#[cfg(feature = "tokio")]
pub use self::awaited::{Awaited, InterruptibleSocket};
pub use self::blocking::Blocking;
use self::polled::Polled;
pub use self::ports::{ByteIo, TransportIo};
use self::ports::{DatagramSocketIo, StreamIo};
use super::carrier::Carrier;
use super::mio::Reactor;
use crate::data::Transport;

/// Transports other than UDP of the engines `std`, `mio-exhaustive` and `tokio`.
pub(super) static CARRIERS: &[Carrier] = &[
    Carrier::of::<Blocking<DatagramSocketIo<UnixDatagram>>>(Transport::UnixDgram),
    Carrier::of::<Blocking<StreamIo<UnixStream>>>(Transport::UnixStream),
    Carrier::of::<Blocking<StreamIo<TcpStream>>>(Transport::Tcp),
    Carrier::of::<Polled<DatagramSocketIo<Reactor<net::UnixDatagram>>>>(Transport::UnixDgram),
    Carrier::of::<Polled<StreamIo<Reactor<net::UnixStream>>>>(Transport::UnixStream),
    Carrier::of::<Polled<StreamIo<Reactor<net::TcpStream>>>>(Transport::Tcp),
    #[cfg(feature = "tokio")]
    Carrier::of::<Awaited<DatagramSocketIo<InterruptibleSocket<tokio::net::UnixDatagram>>>>(
        Transport::UnixDgram,
    ),
    #[cfg(feature = "tokio")]
    Carrier::of::<Awaited<StreamIo<InterruptibleSocket<tokio::net::UnixStream>>>>(
        Transport::UnixStream,
    ),
    #[cfg(feature = "tokio")]
    Carrier::of::<Awaited<StreamIo<InterruptibleSocket<tokio::net::TcpStream>>>>(Transport::Tcp),
];
