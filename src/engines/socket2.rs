//! `socket2`: blocking, socket2's own calls. It receives into uninitialised memory, and keeps
//! addresses as the kernel writes them.

use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

use socket2::{SockAddr, Socket};

use crate::data::Group;
use crate::engine::payload::{Check, Fill};
use crate::engine::{
    About, Addressing, Burst, Engine, LaneBrief, Receive, ReceiveEnd, Selection, SendEnd, Transmit,
};

pub(super) struct Socket2;

impl Engine for Socket2 {
    const ABOUT: About = About {
        name: "socket2",
        summary: "blocking socket2, one call per datagram, into uninitialised memory",
        group: Group::Blocking,
        selection: Selection::ByName,
        ..About::PLAIN
    };
    type Sender<A: Addressing> = Socket2Sender<A>;
    type Receiver<A: Addressing> = Socket2Receiver<A>;

    fn start(_brief: &LaneBrief) -> io::Result<Self> {
        Ok(Self)
    }

    fn sender<A: Addressing>(&self, end: SendEnd) -> io::Result<Socket2Sender<A>> {
        Ok(Socket2Sender {
            payload: end.payload(),
            socket: end.socket.into(),
            peer: end.peer.into(),
            addressing: PhantomData,
        })
    }

    fn receiver<A: Addressing>(&self, end: ReceiveEnd) -> io::Result<Socket2Receiver<A>> {
        end.socket.set_read_timeout(end.recv_timeout)?;
        Ok(Socket2Receiver {
            socket: end.socket.into(),
            buffer: vec![MaybeUninit::uninit(); end.payload_bytes],
            addressing: PhantomData,
        })
    }
}

pub(super) struct Socket2Sender<A> {
    socket: Socket,
    peer: SockAddr,
    payload: Vec<u8>,
    addressing: PhantomData<A>,
}

impl<A: Addressing> Transmit for Socket2Sender<A> {
    #[inline]
    async fn transmit(&mut self, fill: &impl Fill) -> io::Result<Burst> {
        fill.fill(&mut self.payload);
        let sent = if A::CONNECTED {
            self.socket.send(&self.payload)?
        } else {
            self.socket.send_to(&self.payload, &self.peer)?
        };
        Ok(Burst::one(sent))
    }
}

pub(super) struct Socket2Receiver<A> {
    socket: Socket,
    buffer: Vec<MaybeUninit<u8>>,
    addressing: PhantomData<A>,
}

/// What the kernel has written.
fn initialised(memory: &[MaybeUninit<u8>]) -> &[u8] {
    #[expect(
        unsafe_code,
        reason = "MaybeUninit::assume_init_ref of slices came with Rust 1.93"
    )]
    // SAFETY: the kernel wrote so many bytes as it says that it received (recv(2)), and these are they.
    unsafe {
        &*(ptr::from_ref(memory) as *const [u8])
    }
}

impl<A: Addressing> Receive for Socket2Receiver<A> {
    #[inline]
    async fn receive<I: Check>(&mut self, check: &mut I) -> io::Result<Burst> {
        let received = if A::CONNECTED {
            self.socket.recv(&mut self.buffer)?
        } else {
            self.socket.recv_from(&mut self.buffer)?.0
        };
        if I::LOOKS {
            check.check(initialised(&self.buffer[..received]));
        }
        Ok(Burst::one(received))
    }
}
