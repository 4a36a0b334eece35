//! The engine `socket2`: blocking calls of the socket2 crate. It receives into uninitialised memory and keeps
//! addresses in the kernel's format.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;

use crate::engine::prelude::*;
use socket2::{SockAddr, Socket};

pub(super) struct Socket2;

impl Engine for Socket2 {
    const ABOUT: About = About {
        name: "socket2",
        summary: "blocking socket2, one call per datagram, into uninitialised memory",
        group: Group::Blocking,
        ..About::PLAIN
    };
    type DatagramIo = Socket2Io;

    fn start(_brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self)
    }

    fn open(&self, mut options: IoOptions) -> io::Result<Socket2Io> {
        let endpoint = options.only_endpoint()?;
        Ok(Socket2Io {
            is_connected: options.is_connected(),
            peer: endpoint.peer_or_unspecified().into(),
            socket: endpoint.socket.into(),
            payload: options.payload(),
            buffer: vec![MaybeUninit::uninit(); options.buffer().len()],
        })
    }
}

pub(super) struct Socket2Io {
    is_connected: bool,
    socket: Socket,
    peer: SockAddr,
    payload: Vec<u8>,
    buffer: Vec<MaybeUninit<u8>>,
}

/// Returns memory that the kernel has written as bytes.
fn initialised(memory: &[MaybeUninit<u8>]) -> &[u8] {
    #[expect(
        unsafe_code,
        reason = "MaybeUninit::assume_init_ref of slices came with Rust 1.93"
    )]
    // SAFETY: the caller passes only the bytes that the kernel reported as received, so the kernel wrote them
    // (recv(2)).
    unsafe {
        &*(ptr::from_ref(memory) as *const [u8])
    }
}

impl Socket2Io {
    #[inline]
    fn send(&mut self, fill: &impl Fill) -> io::Result<BatchCount> {
        fill.fill(&mut self.payload);
        let sent = if self.is_connected {
            self.socket.send(&self.payload)?
        } else {
            let to = fill.destination().map(SockAddr::from);
            let to = to.as_ref().unwrap_or(&self.peer);
            self.socket.send_to(&self.payload, to)?
        };
        Ok(BatchCount::one(sent))
    }

    #[inline]
    fn take<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        let (received, source) = if self.is_connected {
            (self.socket.recv(&mut self.buffer)?, None)
        } else {
            let (received, source) = self.socket.recv_from(&mut self.buffer)?;
            (received, Some(source))
        };
        if C::READS_PAYLOAD {
            let source = source.and_then(|source| source.as_socket());
            check.check(initialised(&self.buffer[..received]), Origin::of(source));
        }
        Ok(BatchCount::one(received))
    }
}

impl DatagramIo for Socket2Io {
    #[inline]
    fn transmit(&mut self, _endpoint: usize, fill: &impl Fill) -> impl BatchFuture {
        ready(self.send(fill))
    }

    #[inline]
    fn receive<C: Check>(&mut self, check: &mut C) -> impl BatchFuture {
        ready(self.take(check))
    }
}
