//! The engine `tokio` over transports other than UDP: it awaits readiness before each call.

use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::sync::Arc;

use tokio::net::{TcpStream, UnixDatagram, UnixStream};

use super::ports::{ByteIo, TransportIo};
use crate::engine::{
    About, Addressing, Engine, IoOptions, Pool, PoolArgs, Spawner, ThreadArgs, Waits, Wakeups,
};
use crate::engines::tokio::{EachOne, Tokio};

/// A socket of tokio's: the common part of streams and datagram sockets.
pub(super) trait Socket: Send + Sync + Sized + 'static {
    /// Registers a socket with the current runtime.
    ///
    /// # Errors
    /// Returns the error of the system call or of the runtime.
    fn adopt(socket: OwnedFd) -> io::Result<Self>;

    /// Waits until there is room to write.
    fn writable(&self) -> impl Future<Output = io::Result<()>> + Send;

    /// Waits until there is something to read.
    fn readable(&self) -> impl Future<Output = io::Result<()>> + Send;

    /// Writes the bytes for which there is room, and returns their number.
    ///
    /// # Errors
    /// Returns the error of the system call: `WouldBlock` if there was no room after all.
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Reads the bytes that are there, and returns their number.
    ///
    /// # Errors
    /// Returns the error of the system call: `WouldBlock` if there was nothing after all.
    fn try_read(&self, room: &mut [u8]) -> io::Result<usize>;
}

macro_rules! socket {
    ($type:ident, $std:ty, $write:ident, $read:ident) => {
        impl Socket for $type {
            fn adopt(socket: OwnedFd) -> io::Result<Self> {
                let socket = <$std>::from(socket);
                socket.set_nonblocking(true)?;
                $type::from_std(socket)
            }

            #[inline]
            fn writable(&self) -> impl Future<Output = io::Result<()>> + Send {
                $type::writable(self)
            }

            #[inline]
            fn readable(&self) -> impl Future<Output = io::Result<()>> + Send {
                $type::readable(self)
            }

            #[inline]
            fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
                self.$write(bytes)
            }

            #[inline]
            fn try_read(&self, room: &mut [u8]) -> io::Result<usize> {
                self.$read(room)
            }
        }
    };
}
socket!(TcpStream, std::net::TcpStream, try_write, try_read);
socket!(
    UnixStream,
    std::os::unix::net::UnixStream,
    try_write,
    try_read
);
socket!(
    UnixDatagram,
    std::os::unix::net::UnixDatagram,
    try_send,
    try_recv
);

/// A socket whose waits can be interrupted.
pub struct InterruptibleSocket<S> {
    /// Socket of tokio's.
    pub socket: S,
    /// Waits that the end of a trial interrupts.
    pub waits: Waits,
}

impl<S: Socket> ByteIo for InterruptibleSocket<S> {
    #[inline]
    async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            self.waits
                .interruptible(pin!(self.socket.writable()))
                .await?;
            match self.socket.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                outcome => return outcome,
            }
        }
    }

    #[inline]
    async fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            self.waits
                .interruptible(pin!(self.socket.readable()))
                .await?;
            match self.socket.try_read(room) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                outcome => return outcome,
            }
        }
    }
}

/// The engine that moves messages through a `P`. Everything else is tokio's engine for UDP.
pub struct Awaited<P> {
    tokio: Tokio<EachOne>,
    wakeups: Arc<Wakeups>,
    port: PhantomData<P>,
}

impl<S: Socket, P: TransportIo<ByteIo = InterruptibleSocket<S>>> Engine for Awaited<P> {
    const ABOUT: About = Tokio::<EachOne>::ABOUT;
    type DatagramIo<A: Addressing> = P;

    fn start(brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self {
            tokio: Tokio::start(brief)?,
            wakeups: Arc::clone(&brief.wakeups),
            port: PhantomData,
        })
    }

    fn open<A: Addressing>(&self, mut options: IoOptions) -> io::Result<P> {
        let endpoint = options.only_endpoint()?;
        let wire = InterruptibleSocket {
            socket: self.tokio.within(|| S::adopt(endpoint.socket))?,
            waits: Waits::new(&self.wakeups),
        };
        Ok(P::over(wire, endpoint.is_client, &options))
    }

    fn pool(brief: PoolArgs) -> io::Result<Pool> {
        Tokio::<EachOne>::pool(brief)
    }

    fn spawner(&self) -> Option<Spawner> {
        self.tokio.spawner()
    }

    fn run<F: Future<Output: Send> + Send>(&self, future: F) -> F::Output {
        self.tokio.run(future)
    }
}
