//! `nix`: blocking, the calls of the nix crate.

use std::io;
use std::marker::PhantomData;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use nix::sys::socket::{MsgFlags, SockaddrStorage, recv, recvfrom, send, sendto};

use crate::data::Group;
use crate::engine::payload::{Check, Fill};
use crate::engine::{
    About, Addressing, Burst, Engine, LaneBrief, Receive, ReceiveEnd, Selection, SendEnd, Transmit,
};

pub(super) struct Nix;

impl Engine for Nix {
    const ABOUT: About = About {
        name: "nix",
        summary: "blocking nix: send, recv, sendto, recvfrom, one call per datagram",
        group: Group::Blocking,
        selection: Selection::ByName,
        ..About::PLAIN
    };
    type Sender<A: Addressing> = NixSender<A>;
    type Receiver<A: Addressing> = NixReceiver<A>;

    fn start(_brief: &LaneBrief) -> io::Result<Self> {
        Ok(Self)
    }

    fn sender<A: Addressing>(&self, end: SendEnd) -> io::Result<NixSender<A>> {
        Ok(NixSender {
            payload: end.payload(),
            socket: end.socket,
            peer: end.peer.into(),
            addressing: PhantomData,
        })
    }

    fn receiver<A: Addressing>(&self, end: ReceiveEnd) -> io::Result<NixReceiver<A>> {
        end.socket.set_read_timeout(end.recv_timeout)?;
        Ok(NixReceiver {
            socket: end.socket,
            buffer: vec![0; end.payload_bytes],
            addressing: PhantomData,
        })
    }
}

pub(super) struct NixSender<A> {
    socket: UdpSocket,
    peer: SockaddrStorage,
    payload: Vec<u8>,
    addressing: PhantomData<A>,
}

impl<A: Addressing> Transmit for NixSender<A> {
    #[inline]
    async fn transmit(&mut self, fill: &impl Fill) -> io::Result<Burst> {
        fill.fill(&mut self.payload);
        let socket = self.socket.as_raw_fd();
        let sent = if A::CONNECTED {
            send(socket, &self.payload, MsgFlags::empty())?
        } else {
            sendto(socket, &self.payload, &self.peer, MsgFlags::empty())?
        };
        Ok(Burst::one(sent))
    }
}

pub(super) struct NixReceiver<A> {
    socket: UdpSocket,
    buffer: Vec<u8>,
    addressing: PhantomData<A>,
}

impl<A: Addressing> Receive for NixReceiver<A> {
    #[inline]
    async fn receive<I: Check>(&mut self, check: &mut I) -> io::Result<Burst> {
        let socket = self.socket.as_raw_fd();
        let received = if A::CONNECTED {
            recv(socket, &mut self.buffer, MsgFlags::empty())?
        } else {
            recvfrom::<SockaddrStorage>(socket, &mut self.buffer)?.0
        };
        check.check_first(received, &self.buffer);
        Ok(Burst::one(received))
    }
}
