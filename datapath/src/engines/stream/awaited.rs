//! The engine `tokio` over transports other than UDP: it awaits readiness before each call.

use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::net;
use std::os::fd::OwnedFd;
use std::os::unix::net as unix;
use std::pin::pin;
use std::sync::Arc;

use tokio::net::{TcpStream, UnixDatagram, UnixStream};

use super::{ByteIo, TransportIo};
use crate::engine::{
    About, Engine, IoOptions, Pool, PoolArgs, Spawner, ThreadArgs, Waits, Wakeups,
};
use crate::engines::tokio::{EachOne, Tokio};

/// A socket of tokio's.
pub(super) trait Adopt: Send + Sync + Sized + 'static {
    /// Registers a socket with the current runtime.
    fn adopt(socket: OwnedFd) -> io::Result<Self>;
}

/// A socket whose waits can be interrupted.
pub struct InterruptibleSocket<S> {
    /// Socket of tokio's.
    pub socket: S,
    /// Waits that the end of a trial interrupts.
    pub waits: Waits,
}

macro_rules! wire {
    ($type:ident, $std:ty, $write:ident, $read:ident) => {
        impl Adopt for $type {
            fn adopt(socket: OwnedFd) -> io::Result<Self> {
                let socket = <$std>::from(socket);
                socket.set_nonblocking(true)?;
                $type::from_std(socket)
            }
        }

        impl ByteIo for InterruptibleSocket<$type> {
            #[inline]
            async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                loop {
                    let writable = pin!(self.socket.writable());
                    self.waits.interruptible(writable).await?;
                    match self.socket.$write(bytes) {
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                        outcome => return outcome,
                    }
                }
            }

            #[inline]
            async fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
                loop {
                    let readable = pin!(self.socket.readable());
                    self.waits.interruptible(readable).await?;
                    match self.socket.$read(room) {
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                        outcome => return outcome,
                    }
                }
            }
        }
    };
}
wire!(TcpStream, net::TcpStream, try_write, try_read);
wire!(UnixStream, unix::UnixStream, try_write, try_read);
wire!(UnixDatagram, unix::UnixDatagram, try_send, try_recv);

/// The engine that moves messages through a `P`. Everything else is tokio's engine for UDP.
pub struct Awaited<P> {
    tokio: Tokio<EachOne>,
    wakeups: Arc<Wakeups>,
    port: PhantomData<P>,
}

impl<S: Adopt, P: TransportIo<ByteIo = InterruptibleSocket<S>>> Engine for Awaited<P> {
    const ABOUT: About = Tokio::<EachOne>::ABOUT;
    type DatagramIo = P;

    fn start(brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self {
            tokio: Tokio::start(brief)?,
            wakeups: Arc::clone(&brief.wakeups),
            port: PhantomData,
        })
    }

    fn open(&self, mut options: IoOptions) -> io::Result<P> {
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
