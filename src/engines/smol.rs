//! `smol`: async-io, the reactor of the smol runtime, under its own `block_on`.

use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::net::{SocketAddr, UdpSocket};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use async_io::{Async, Timer};

use crate::content::{Inspect, Stamp};
use crate::engine::{
    About, Addressing, Burst, Engine, Group, Receive, ReceiveEnd, SendEnd, Transmit,
};
use crate::lane::{LaneBrief, Nudges};

/// See the module's words.
pub(super) struct Smol(Arc<Nudges>);

impl Engine for Smol {
    const ABOUT: About = About {
        name: "smol",
        summary: "async-io, the reactor of smol, every send and recv awaited",
        group: Group::Async,
        ..About::PLAIN
    };
    type Sender<A: Addressing> = SmolSender<A>;
    type Receiver<A: Addressing> = SmolReceiver<A>;

    fn start(brief: &LaneBrief) -> io::Result<Self> {
        Ok(Self(Arc::clone(&brief.nudges)))
    }

    fn sender<A: Addressing>(&self, end: SendEnd) -> io::Result<SmolSender<A>> {
        Ok(SmolSender {
            payload: end.payload(),
            peer: end.peer,
            socket: Async::new(end.socket)?,
            nudges: Arc::clone(&self.0),
            addressing: PhantomData,
        })
    }

    fn receiver<A: Addressing>(&self, end: ReceiveEnd) -> io::Result<SmolReceiver<A>> {
        Ok(SmolReceiver {
            buffer: vec![0; end.payload_bytes],
            patience: end.patience,
            socket: Async::new(end.socket)?,
            nudges: Arc::clone(&self.0),
            addressing: PhantomData,
        })
    }

    fn run<F: Future>(&self, future: F) -> F::Output {
        async_io::block_on(future)
    }
}

pub(super) struct SmolSender<A> {
    socket: Async<UdpSocket>,
    peer: SocketAddr,
    payload: Vec<u8>,
    nudges: Arc<Nudges>,
    addressing: PhantomData<A>,
}

impl<A: Addressing> Transmit for SmolSender<A> {
    #[inline]
    async fn transmit(&mut self, stamp: &impl Stamp) -> io::Result<Burst> {
        stamp.stamp(&mut self.payload);
        let sent = if A::CONNECTED {
            self.nudges
                .end(pin!(self.socket.send(&self.payload)))
                .await?
        } else {
            self.nudges
                .end(pin!(self.socket.send_to(&self.payload, self.peer)))
                .await?
        };
        Ok(Burst::one(sent))
    }
}

pub(super) struct SmolReceiver<A> {
    socket: Async<UdpSocket>,
    buffer: Vec<u8>,
    patience: Option<Duration>,
    nudges: Arc<Nudges>,
    addressing: PhantomData<A>,
}

impl<A: Addressing> Receive for SmolReceiver<A> {
    #[inline]
    async fn receive<I: Inspect>(&mut self, inspect: &mut I) -> io::Result<Burst> {
        if let Some(patience) = self.patience {
            // A timer per datagram is not what is measured: there is one only if nothing is there.
            return match self.socket.get_ref().recv(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    await_readiness(&self.socket, patience).await
                }
                outcome => {
                    let received = outcome?;
                    inspect.inspect_first(received, &self.buffer);
                    Ok(Burst::one(received))
                }
            };
        }
        let received = if A::CONNECTED {
            self.nudges
                .end(pin!(self.socket.recv(&mut self.buffer)))
                .await?
        } else {
            self.nudges
                .end(pin!(self.socket.recv_from(&mut self.buffer)))
                .await?
                .0
        };
        inspect.inspect_first(received, &self.buffer);
        Ok(Burst::one(received))
    }
}

/// Waits, and says `WouldBlock` either way: the lone thread's loop comes again.
#[cold]
async fn await_readiness(socket: &Async<UdpSocket>, patience: Duration) -> io::Result<Burst> {
    let mut readable = pin!(socket.readable());
    let mut timer = pin!(Timer::after(patience));
    std::future::poll_fn(|context| {
        if readable.as_mut().poll(context).is_ready() || timer.as_mut().poll(context).is_ready() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    Err(io::ErrorKind::WouldBlock.into())
}
