//! The engines `std` and `mio-exhaustive` over transports other than UDP: calls that block, or return at once with
//! `--wait spin`; and after each event, calls until one would block.

use std::io::{self, Read, Write};
use std::marker::PhantomData;
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixStream};

use mio::event::Source;
use mio::net;

use super::{ByteIo, TransportIo};
use crate::engine::{About, Engine, IoOptions, ThreadArgs};
use crate::engines::mio::{Exhaustive, Mio, READABLE, Reactor, WRITABLE};
use crate::engines::std::Std;

/// A socket of mio's.
trait Adopt: Source + Send + Sized + 'static {
    /// Makes a socket non-blocking and wraps it.
    fn adopt(socket: OwnedFd) -> io::Result<Self>;
}

macro_rules! wire {
    ($type:ident, $write:ident, $read:ident) => {
        impl ByteIo for $type {
            #[inline]
            async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                (&*self).$write(bytes)
            }

            #[inline]
            async fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
                (&*self).$read(room)
            }
        }

        impl Adopt for net::$type {
            fn adopt(socket: OwnedFd) -> io::Result<Self> {
                let socket = $type::from(socket);
                socket.set_nonblocking(true)?;
                Ok(Self::from_std(socket))
            }
        }

        impl ByteIo for Reactor<net::$type> {
            #[inline]
            async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.operate::<Exhaustive>(WRITABLE, |socket| (&*socket).$write(bytes))
            }

            #[inline]
            async fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
                self.operate::<Exhaustive>(READABLE, |socket| (&*socket).$read(room))
            }
        }
    };
}
wire!(TcpStream, write, read);
wire!(UnixStream, write, read);
wire!(UnixDatagram, send, recv);

/// The engine `std` that moves messages through a `P`.
pub struct Blocking<P>(PhantomData<P>);

impl<P: TransportIo<ByteIo: From<OwnedFd>>> Engine for Blocking<P> {
    const ABOUT: About = Std::ABOUT;
    type DatagramIo = P;

    fn start(_brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self(PhantomData))
    }

    fn open(&self, mut options: IoOptions) -> io::Result<P> {
        let endpoint = options.only_endpoint()?;
        options.apply_wait(&endpoint.socket)?;
        Ok(P::over(
            endpoint.socket.into(),
            endpoint.is_client,
            &options,
        ))
    }
}

/// The engine `mio-exhaustive` that moves messages through a `P`.
pub(super) struct Polled<P>(PhantomData<P>);

impl<S: Adopt, P: TransportIo<ByteIo = Reactor<S>>> Engine for Polled<P> {
    const ABOUT: About = Mio::<Exhaustive>::ABOUT;
    type DatagramIo = P;

    fn start(_brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self(PhantomData))
    }

    fn open(&self, mut options: IoOptions) -> io::Result<P> {
        let endpoint = options.only_endpoint()?;
        let socket = S::adopt(endpoint.socket)?;
        let reactor = Reactor::new::<Exhaustive>(socket, options.direction)?;
        Ok(P::over(reactor, endpoint.is_client, &options))
    }
}
