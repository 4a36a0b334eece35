//! The engine `std` over transports other than UDP: calls that block, or return at once with `--wait spin`.

use std::io::{self, Read, Write};
use std::marker::PhantomData;
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixStream};

use super::ports::{ByteIo, TransportIo};
use crate::engine::{About, Addressing, Engine, IoOptions, ThreadArgs};
use crate::engines::std::Std;

macro_rules! wire {
    ($type:ty, $write:path, $read:path) => {
        impl ByteIo for $type {
            #[inline]
            async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                $write(self, bytes)
            }

            #[inline]
            async fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
                $read(self, room)
            }
        }
    };
}
wire!(TcpStream, Write::write, Read::read);
wire!(UnixStream, Write::write, Read::read);
wire!(UnixDatagram, UnixDatagram::send, UnixDatagram::recv);

/// The engine that moves messages through a `P`.
pub struct Blocking<P>(PhantomData<P>);

impl<P: TransportIo<ByteIo: From<OwnedFd>>> Engine for Blocking<P> {
    const ABOUT: About = Std::ABOUT;
    type DatagramIo<A: Addressing> = P;

    fn start(_brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self(PhantomData))
    }

    fn open<A: Addressing>(&self, mut options: IoOptions) -> io::Result<P> {
        let endpoint = options.only_endpoint()?;
        options.apply_wait(&endpoint.socket)?;
        Ok(P::over(
            endpoint.socket.into(),
            endpoint.is_client,
            &options,
        ))
    }
}
