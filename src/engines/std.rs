//! `std`: blocking `std::net::UdpSocket`, one system call per datagram. The reference.

use std::io;
use std::marker::PhantomData;
use std::net::{SocketAddr, UdpSocket};

use crate::engine::{
    About, Addressing, Burst, Engine, Receive, ReceiveEnd, Selection, SendEnd, Transmit,
};

/// See the module's words.
pub(super) struct Std;

impl Engine for Std {
    const ABOUT: About = About {
        name: "std",
        summary: "blocking std::net::UdpSocket, one call per datagram; the reference",
        selection: Selection::Default,
        one_thread: Ok(()),
        starves: None,
        moves_datagrams: true,
    };
    type Sender<A: Addressing> = StdSender<A>;
    type Receiver<A: Addressing> = StdReceiver<A>;

    fn start() -> io::Result<Self> {
        Ok(Self)
    }

    fn sender<A: Addressing>(&self, end: SendEnd) -> io::Result<StdSender<A>> {
        Ok(StdSender {
            payload: end.payload(),
            socket: end.socket,
            peer: end.peer,
            addressing: PhantomData,
        })
    }

    fn receiver<A: Addressing>(&self, end: ReceiveEnd) -> io::Result<StdReceiver<A>> {
        end.socket.set_read_timeout(end.patience)?;
        Ok(StdReceiver {
            socket: end.socket,
            buffer: vec![0; end.payload_bytes],
            addressing: PhantomData,
        })
    }
}

pub(super) struct StdSender<A> {
    socket: UdpSocket,
    peer: SocketAddr,
    payload: Vec<u8>,
    addressing: PhantomData<A>,
}

impl<A: Addressing> Transmit for StdSender<A> {
    #[inline]
    async fn transmit(&mut self) -> io::Result<Burst> {
        let sent = if A::CONNECTED {
            self.socket.send(&self.payload)?
        } else {
            self.socket.send_to(&self.payload, self.peer)?
        };
        Ok(Burst::one(sent))
    }
}

pub(super) struct StdReceiver<A> {
    socket: UdpSocket,
    buffer: Vec<u8>,
    addressing: PhantomData<A>,
}

impl<A: Addressing> Receive for StdReceiver<A> {
    #[inline]
    async fn receive(&mut self) -> io::Result<Burst> {
        let received = if A::CONNECTED {
            self.socket.recv(&mut self.buffer)?
        } else {
            self.socket.recv_from(&mut self.buffer)?.0
        };
        Ok(Burst::one(received))
    }
}
