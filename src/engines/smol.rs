//! `smol`: async-io, the reactor of the smol runtime, under its own `block_on`.

use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::net::{SocketAddr, UdpSocket};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_io::{Async, Timer};

use super::recv_timeout::within;
use crate::data::Group;
use crate::engine::payload::{Check, Fill};
use crate::engine::{
    About, Addressing, Burst, Engine, LaneBrief, Receive, ReceiveEnd, SendEnd, Transmit, Wakeups,
};

pub(super) struct Smol(Arc<Wakeups>);

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
        Ok(Self(Arc::clone(&brief.wakeups)))
    }

    fn sender<A: Addressing>(&self, end: SendEnd) -> io::Result<SmolSender<A>> {
        Ok(SmolSender {
            payload: end.payload(),
            peer: end.peer,
            socket: Async::new(end.socket)?,
            wakeups: Arc::clone(&self.0),
            addressing: PhantomData,
        })
    }

    fn receiver<A: Addressing>(&self, end: ReceiveEnd) -> io::Result<SmolReceiver<A>> {
        Ok(SmolReceiver {
            buffer: vec![0; end.payload_bytes],
            recv_timeout: end.recv_timeout,
            socket: Async::new(end.socket)?,
            wakeups: Arc::clone(&self.0),
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
    wakeups: Arc<Wakeups>,
    addressing: PhantomData<A>,
}

impl<A: Addressing> Transmit for SmolSender<A> {
    #[inline]
    async fn transmit(&mut self, fill: &impl Fill) -> io::Result<Burst> {
        fill.fill(&mut self.payload);
        let sent = if A::CONNECTED {
            self.wakeups
                .end(pin!(self.socket.send(&self.payload)))
                .await?
        } else {
            self.wakeups
                .end(pin!(self.socket.send_to(&self.payload, self.peer)))
                .await?
        };
        Ok(Burst::one(sent))
    }
}

pub(super) struct SmolReceiver<A> {
    socket: Async<UdpSocket>,
    buffer: Vec<u8>,
    recv_timeout: Option<Duration>,
    wakeups: Arc<Wakeups>,
    addressing: PhantomData<A>,
}

impl<A: Addressing> Receive for SmolReceiver<A> {
    #[inline]
    async fn receive<I: Check>(&mut self, check: &mut I) -> io::Result<Burst> {
        let (wakeups, recv_timeout) = (&self.wakeups, self.recv_timeout);
        let received = if A::CONNECTED {
            let receive = pin!(self.socket.recv(&mut self.buffer));
            within(
                recv_timeout,
                |limit| Some(Timer::after(limit)),
                pin!(wakeups.end(receive)),
            )
            .await?
        } else {
            let receive = pin!(self.socket.recv_from(&mut self.buffer));
            within(
                recv_timeout,
                |limit| Some(Timer::after(limit)),
                pin!(wakeups.end(receive)),
            )
            .await?
            .0
        };
        check.check_first(received, &self.buffer);
        Ok(Burst::one(received))
    }
}
