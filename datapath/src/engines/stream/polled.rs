//! `mio-exhaustive` over other transports: an event, then calls until one would block.

use std::io::{self, Read, Write};
use std::marker::PhantomData;
use std::os::fd::OwnedFd;

use mio::event::Source;
use mio::net::{TcpStream, UnixDatagram, UnixStream};

use super::ports::{Wire, WirePort};
use crate::engine::{About, Addressing, Engine, LaneBrief, PortOptions};
use crate::engines::mio::{Exhaustive, Mio, Reactor, Ready};

/// One of mio's sockets, by what streams and datagrams have in common.
pub(in crate::engines) trait Socket: Source + Send + Sized + 'static {
    /// Takes a socket over.
    ///
    /// # Errors
    /// What the system said.
    fn adopt(socket: OwnedFd) -> io::Result<Self>;

    /// Writes what there is room for.
    ///
    /// # Errors
    /// What the system said: `WouldBlock` where there is none.
    fn put(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Reads what there is.
    ///
    /// # Errors
    /// As for [`Socket::put`].
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

impl<S: Socket> Wire for Reactor<S> {
    #[inline]
    async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.operate::<Exhaustive>(Ready::WRITABLE, |socket| socket.put(bytes))
    }

    #[inline]
    async fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.operate::<Exhaustive>(Ready::READABLE, |socket| socket.take(room))
    }
}

/// The engine whose port is a `P`.
pub(in crate::engines) struct Polled<P>(PhantomData<P>);

impl<S: Socket, P: WirePort<Wire = Reactor<S>>> Engine for Polled<P> {
    const ABOUT: About = Mio::<Exhaustive>::ABOUT;
    type Port<A: Addressing> = P;

    fn start(_brief: &LaneBrief) -> io::Result<Self> {
        Ok(Self(PhantomData))
    }

    fn open<A: Addressing>(&self, mut options: PortOptions) -> io::Result<P> {
        let link = options.only_link()?;
        let socket = S::adopt(link.socket)?;
        let reactor = Reactor::new::<Exhaustive>(socket, options.direction)?;
        Ok(P::over(reactor, link.is_client, &options))
    }
}
