//! `smol`: async-io, the reactor of the smol runtime, under its own `block_on`.

use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::net::{SocketAddr, UdpSocket};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_io::{Async, Timer};

use super::patience::within;
use crate::case::Group;
use crate::content::{Inspect, Stamp};
use crate::engine::{About, Addressing, Burst, Engine, Receive, ReceiveEnd, SendEnd, Transmit};
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

    fn run<F: Future<Output: Send> + Send>(&self, future: F) -> F::Output {
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
        let (nudges, patience) = (&self.nudges, self.patience);
        let received = if A::CONNECTED {
            let receive = pin!(self.socket.recv(&mut self.buffer));
            within(
                patience,
                |limit| Some(Timer::after(limit)),
                pin!(nudges.end(receive)),
            )
            .await?
        } else {
            let receive = pin!(self.socket.recv_from(&mut self.buffer));
            within(
                patience,
                |limit| Some(Timer::after(limit)),
                pin!(nudges.end(receive)),
            )
            .await?
            .0
        };
        inspect.inspect_first(received, &self.buffer);
        Ok(Burst::one(received))
    }
}
