//! `tokio`, `tokio-exhaustive`: one current-thread runtime per lane, no timer in the path.
//!
//! `tokio` awaits each `send` and `recv`. `tokio-exhaustive` awaits readiness once, and then calls `try_send`
//! or `try_recv` until the socket says `WouldBlock`.

use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::runtime::{Builder, Runtime};

use crate::content::{Inspect, Stamp};
use crate::engine::{
    About, Addressing, Burst, Engine, Group, Receive, ReceiveEnd, SendEnd, Transmit,
};
use crate::lane::{LaneBrief, Nudges};

/// How often a loop awaits.
pub(super) trait Habit: 'static {
    const ABOUT: About;
    /// Await readiness only, and go on until the socket says `WouldBlock`.
    const EXHAUST: bool;
}

/// Each operation is awaited.
pub(super) enum EachOne {}
/// Readiness is awaited, and used up.
pub(super) enum Exhaustive {}

const ABOUT: About = About {
    group: Group::Async,
    ..About::PLAIN
};

impl Habit for EachOne {
    const ABOUT: About = About {
        name: "tokio",
        summary: "tokio, a current-thread runtime per lane, every send and recv awaited",
        ..ABOUT
    };
    const EXHAUST: bool = false;
}

impl Habit for Exhaustive {
    const ABOUT: About = About {
        name: "tokio-exhaustive",
        summary: "tokio, readiness awaited, then try_send and try_recv until WouldBlock",
        one_thread: Err(super::EXHAUSTIVE_STARVES_ALONE),
        ..ABOUT
    };
    const EXHAUST: bool = true;
}

/// tokio with habit `H`.
pub(super) struct Tokio<H> {
    runtime: Runtime,
    nudges: Arc<Nudges>,
    habit: PhantomData<H>,
}

impl<H: Habit> Engine for Tokio<H> {
    const ABOUT: About = H::ABOUT;
    type Sender<A: Addressing> = TokioSender<A, H>;
    type Receiver<A: Addressing> = TokioReceiver<A, H>;

    fn start(brief: &LaneBrief) -> io::Result<Self> {
        let mut runtime = Builder::new_current_thread();
        runtime.enable_io();
        if brief.alone {
            // Only there a lost datagram would hang the thread.
            runtime.enable_time();
        }
        Ok(Self {
            runtime: runtime.build()?,
            nudges: Arc::clone(&brief.nudges),
            habit: PhantomData,
        })
    }

    fn sender<A: Addressing>(&self, end: SendEnd) -> io::Result<TokioSender<A, H>> {
        Ok(TokioSender {
            payload: end.payload(),
            peer: end.peer,
            socket: adopt(&self.runtime, end.socket)?,
            nudges: Arc::clone(&self.nudges),
            ready: false,
            marker: PhantomData,
        })
    }

    fn receiver<A: Addressing>(&self, end: ReceiveEnd) -> io::Result<TokioReceiver<A, H>> {
        Ok(TokioReceiver {
            buffer: vec![0; end.payload_bytes],
            patience: end.patience,
            socket: adopt(&self.runtime, end.socket)?,
            nudges: Arc::clone(&self.nudges),
            ready: false,
            marker: PhantomData,
        })
    }

    fn run<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }
}

/// Registers the socket with the runtime's own epoll instance.
pub(super) fn adopt(runtime: &Runtime, socket: std::net::UdpSocket) -> io::Result<UdpSocket> {
    socket.set_nonblocking(true)?;
    let _context = runtime.enter();
    UdpSocket::from_std(socket)
}

pub(super) struct TokioSender<A, H> {
    socket: UdpSocket,
    peer: SocketAddr,
    payload: Vec<u8>,
    nudges: Arc<Nudges>,
    ready: bool,
    marker: PhantomData<(A, H)>,
}

impl<A: Addressing, H: Habit> Transmit for TokioSender<A, H> {
    #[inline]
    async fn transmit(&mut self, stamp: &impl Stamp) -> io::Result<Burst> {
        stamp.stamp(&mut self.payload);
        if !H::EXHAUST {
            let sent = if A::CONNECTED {
                self.nudges
                    .end(pin!(self.socket.send(&self.payload)))
                    .await?
            } else {
                self.nudges
                    .end(pin!(self.socket.send_to(&self.payload, self.peer)))
                    .await?
            };
            return Ok(Burst::one(sent));
        }
        if !self.ready {
            self.nudges.end(pin!(self.socket.writable())).await?;
        }
        let outcome = if A::CONNECTED {
            self.socket.try_send(&self.payload)
        } else {
            self.socket.try_send_to(&self.payload, self.peer)
        };
        self.ready = outcome.is_ok();
        outcome.map(Burst::one)
    }
}

pub(super) struct TokioReceiver<A, H> {
    socket: UdpSocket,
    buffer: Vec<u8>,
    patience: Option<Duration>,
    nudges: Arc<Nudges>,
    ready: bool,
    marker: PhantomData<(A, H)>,
}

impl<A: Addressing, H: Habit> Receive for TokioReceiver<A, H> {
    #[inline]
    async fn receive<I: Inspect>(&mut self, inspect: &mut I) -> io::Result<Burst> {
        if !H::EXHAUST {
            let buffer = &mut self.buffer;
            let received = if let Some(patience) = self.patience {
                // A timer per datagram is not what is measured: there is one only if nothing is there.
                match self.socket.try_recv(buffer) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        return await_readiness(&self.socket, patience).await;
                    }
                    outcome => outcome?,
                }
            } else if A::CONNECTED {
                self.nudges.end(pin!(self.socket.recv(buffer))).await?
            } else {
                self.nudges
                    .end(pin!(self.socket.recv_from(buffer)))
                    .await?
                    .0
            };
            inspect.inspect_first(received, &self.buffer);
            return Ok(Burst::one(received));
        }
        if !self.ready {
            self.nudges.end(pin!(self.socket.readable())).await?;
        }
        let outcome = if A::CONNECTED {
            self.socket.try_recv(&mut self.buffer)
        } else {
            let outcome = self.socket.try_recv_from(&mut self.buffer);
            outcome.map(|(bytes, _)| bytes)
        };
        self.ready = outcome.is_ok();
        let received = outcome?;
        inspect.inspect_first(received, &self.buffer);
        Ok(Burst::one(received))
    }
}

/// Waits, and says `WouldBlock` either way: the lone thread's loop comes again.
#[cold]
async fn await_readiness(socket: &UdpSocket, patience: Duration) -> io::Result<Burst> {
    let _ = tokio::time::timeout(patience, socket.readable()).await;
    Err(io::ErrorKind::WouldBlock.into())
}
