//! The engine `mio-exhaustive` over transports other than UDP: after each event, calls until one would block.

use std::io::{self, Read, Write};
use std::marker::PhantomData;
use std::os::fd::OwnedFd;

use mio::event::Source;
use mio::net::{TcpStream, UnixDatagram, UnixStream};

use super::ports::{ByteIo, TransportIo};
use crate::engine::{About, Addressing, Engine, IoOptions, ThreadArgs};
use crate::engines::mio::{Exhaustive, Mio, Reactor, Ready};

/// A socket of mio's: the common part of streams and datagram sockets.
pub(in crate::engines) trait Socket: Source + Send + Sized + 'static {
    /// Makes a socket non-blocking and wraps it.
    ///
    /// # Errors
    /// Returns the error of the system call.
    fn adopt(socket: OwnedFd) -> io::Result<Self>;

    /// Writes the bytes for which there is room, and returns their number.
    ///
    /// # Errors
    /// Returns the error of the system call: `WouldBlock` if there is no room.
    fn put(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Reads the bytes that are there, and returns their number.
    ///
    /// # Errors
    /// Returns the error of the system call: `WouldBlock` if there is nothing.
    fn take(&self, room: &mut [u8]) -> io::Result<usize>;
}

macro_rules! socket {
    ($type:ident, $std:ty, $put:expr, $take:expr) => {
        impl Socket for $type {
            fn adopt(socket: OwnedFd) -> io::Result<Self> {
                let socket = <$std>::from(socket);
                socket.set_nonblocking(true)?;
                Ok($type::from_std(socket))
            }

            #[inline]
            fn put(&self, bytes: &[u8]) -> io::Result<usize> {
                $put(self, bytes)
            }

            #[inline]
            fn take(&self, room: &mut [u8]) -> io::Result<usize> {
                $take(self, room)
            }
        }
    };
}
socket!(
    TcpStream,
    std::net::TcpStream,
    |mut it: &TcpStream, bytes| it.write(bytes),
    |mut it: &TcpStream, room| it.read(room)
);
socket!(
    UnixStream,
    std::os::unix::net::UnixStream,
    |mut it: &UnixStream, bytes| it.write(bytes),
    |mut it: &UnixStream, room| it.read(room)
);
socket!(
    UnixDatagram,
    std::os::unix::net::UnixDatagram,
    UnixDatagram::send,
    UnixDatagram::recv
);

impl<S: Socket> ByteIo for Reactor<S> {
    #[inline]
    async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.operate::<Exhaustive>(Ready::WRITABLE, |socket| socket.put(bytes))
    }

    #[inline]
    async fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.operate::<Exhaustive>(Ready::READABLE, |socket| socket.take(room))
    }
}

/// The engine that moves messages through a `P`.
pub(in crate::engines) struct Polled<P>(PhantomData<P>);

impl<S: Socket, P: TransportIo<ByteIo = Reactor<S>>> Engine for Polled<P> {
    const ABOUT: About = Mio::<Exhaustive>::ABOUT;
    type DatagramIo<A: Addressing> = P;

    fn start(_brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self(PhantomData))
    }

    fn open<A: Addressing>(&self, mut options: IoOptions) -> io::Result<P> {
        let endpoint = options.only_endpoint()?;
        let socket = S::adopt(endpoint.socket)?;
        let reactor = Reactor::new::<Exhaustive>(socket, options.direction)?;
        Ok(P::over(reactor, endpoint.is_client, &options))
    }
}
