//! The engine `nix`: blocking calls of the nix crate.

use std::io;
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::AsRawFd;

use crate::engine::prelude::*;
use nix::sys::socket::{MsgFlags, SockaddrStorage, recv, recvfrom, send, sendto};

pub(super) struct Nix;

impl Engine for Nix {
    const ABOUT: About = About {
        name: "nix",
        summary: "blocking nix: send, recv, sendto, recvfrom, one call per datagram",
        group: Group::Blocking,
        ..About::PLAIN
    };
    type DatagramIo = NixIo;

    fn start(_brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self)
    }

    fn open(&self, mut options: IoOptions) -> io::Result<NixIo> {
        let endpoint = options.only_endpoint()?;
        Ok(NixIo {
            is_connected: options.is_connected(),
            peer: endpoint.peer_or_unspecified().into(),
            socket: endpoint.socket.into(),
            payload: options.payload(),
            buffer: options.buffer(),
        })
    }
}

pub(super) struct NixIo {
    is_connected: bool,
    socket: UdpSocket,
    peer: SockaddrStorage,
    payload: Vec<u8>,
    buffer: Vec<u8>,
}

impl NixIo {
    #[inline(always)]
    fn send(&mut self, fill: &impl Fill) -> io::Result<BatchCount> {
        fill.fill(&mut self.payload);
        let socket = self.socket.as_raw_fd();
        let sent = if self.is_connected {
            send(socket, &self.payload, MsgFlags::empty())?
        } else {
            let to = fill.destination().map(SockaddrStorage::from);
            let to = to.as_ref().unwrap_or(&self.peer);
            sendto(socket, &self.payload, to, MsgFlags::empty())?
        };
        Ok(BatchCount::one(sent))
    }

    #[inline(always)]
    fn take<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        let socket = self.socket.as_raw_fd();
        if self.is_connected {
            let received = recv(socket, &mut self.buffer, MsgFlags::empty())?;
            check.check_received(received, &self.buffer, || Origin::PEER);
            Ok(BatchCount::one(received))
        } else {
            // The address is matched by reference: to move it costs 15 instructions.
            match recvfrom::<SockaddrStorage>(socket, &mut self.buffer) {
                Ok((received, ref source)) => {
                    let origin = || Origin::of(source.as_ref().and_then(address));
                    check.check_received(received, &self.buffer, origin);
                    Ok(BatchCount::one(received))
                }
                Err(errno) => Err(errno.into()),
            }
        }
    }
}

impl DatagramIo for NixIo {
    #[inline(always)]
    fn transmit(&mut self, _endpoint: usize, fill: &impl Fill) -> impl BatchFuture {
        ready(self.send(fill))
    }

    #[inline(always)]
    fn receive<C: Check>(&mut self, check: &mut C) -> impl BatchFuture {
        ready(self.take(check))
    }
}

/// Converts an address from the kernel's format, in which nix keeps it.
fn address(storage: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = || Some(SocketAddrV4::from(*storage.as_sockaddr_in()?).into());
    let v6 = || Some(SocketAddrV6::from(*storage.as_sockaddr_in6()?).into());
    v4().or_else(v6)
}
