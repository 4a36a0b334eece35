//! `std`: blocking `std::net::UdpSocket`, one system call per datagram. The reference.

use std::io;
use std::marker::PhantomData;
use std::net::{SocketAddr, UdpSocket};

use crate::data::Group;
use crate::engine::payload::{Check, Fill};
use crate::engine::{
    About, Addressing, Burst, Engine, LaneBrief, Receive, ReceiveEnd, Selection, SendEnd, Transmit,
};

pub(super) struct Std;

impl Engine for Std {
    const ABOUT: About = About {
        name: "std",
        summary: "blocking std::net::UdpSocket, one call per datagram; the reference",
        group: Group::Blocking,
        selection: Selection::Default,
        spins: true,
        ..About::PLAIN
    };
    type Sender<A: Addressing> = StdSender<A>;
    type Receiver<A: Addressing> = StdReceiver<A>;

    fn start(_brief: &LaneBrief) -> io::Result<Self> {
        Ok(Self)
    }

    fn sender<A: Addressing>(&self, end: SendEnd) -> io::Result<StdSender<A>> {
        Ok(StdSender::new(end))
    }

    fn receiver<A: Addressing>(&self, end: ReceiveEnd) -> io::Result<StdReceiver<A>> {
        end.limit_wait()?;
        Ok(StdReceiver::new(end))
    }
}

pub(super) struct StdSender<A> {
    socket: UdpSocket,
    peer: SocketAddr,
    payload: Vec<u8>,
    addressing: PhantomData<A>,
}

impl<A> StdSender<A> {
    /// For engines that wait in their own way and then make the same calls.
    pub(super) fn new(end: SendEnd) -> Self {
        Self {
            payload: end.payload(),
            socket: end.socket,
            peer: end.peer,
            addressing: PhantomData,
        }
    }

    pub(super) fn socket(&self) -> &UdpSocket {
        &self.socket
    }
}

impl<A: Addressing> StdSender<A> {
    #[inline]
    pub(super) fn send(&mut self, fill: &impl Fill) -> io::Result<Burst> {
        fill.fill(&mut self.payload);
        let sent = if A::CONNECTED {
            self.socket.send(&self.payload)?
        } else {
            self.socket.send_to(&self.payload, self.peer)?
        };
        Ok(Burst::one(sent))
    }
}

impl<A: Addressing> Transmit for StdSender<A> {
    #[inline]
    async fn transmit(&mut self, fill: &impl Fill) -> io::Result<Burst> {
        self.send(fill)
    }
}

pub(super) struct StdReceiver<A> {
    socket: UdpSocket,
    buffer: Vec<u8>,
    addressing: PhantomData<A>,
}

impl<A> StdReceiver<A> {
    /// For engines that wait in their own way and then make the same calls.
    pub(super) fn new(end: ReceiveEnd) -> Self {
        Self {
            socket: end.socket,
            buffer: vec![0; end.payload_bytes],
            addressing: PhantomData,
        }
    }

    pub(super) fn socket(&self) -> &UdpSocket {
        &self.socket
    }
}

impl<A: Addressing> StdReceiver<A> {
    #[inline]
    pub(super) fn receive(&mut self, check: &mut impl Check) -> io::Result<Burst> {
        let received = if A::CONNECTED {
            self.socket.recv(&mut self.buffer)?
        } else {
            self.socket.recv_from(&mut self.buffer)?.0
        };
        check.check_first(received, &self.buffer);
        Ok(Burst::one(received))
    }
}

impl<A: Addressing> Receive for StdReceiver<A> {
    #[inline]
    async fn receive<I: Check>(&mut self, check: &mut I) -> io::Result<Burst> {
        StdReceiver::receive(self, check)
    }
}
