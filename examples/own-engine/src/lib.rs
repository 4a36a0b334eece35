//! An engine: blocking sockets with the calls of rustix, one per datagram.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use rustix::net::{RecvFlags, SendFlags, recv, recvfrom, send, sendto};
use udpbench::Entry;
use udpbench::engine::payload::{Check, Fill, Origin};
use udpbench::engine::{About, BatchCount, DatagramIo, Engine};
use udpbench::engine::{IoOptions, Selection, ThreadArgs};

/// What the programs of this crate add to udpbench.
pub static ENGINES: &[Entry] = &[Entry::of::<Rustix>()];

pub struct Rustix;

impl Engine for Rustix {
    const ABOUT: About = About {
        name: "rustix",
        summary: "blocking rustix: send, recv, sendto, recvfrom, one call per datagram",
        selection: Selection::Default,
        ..About::PLAIN
    };
    type DatagramIo = RustixIo;

    fn start(_: &ThreadArgs) -> io::Result<Self> {
        Ok(Self)
    }

    fn open(&self, mut options: IoOptions) -> io::Result<RustixIo> {
        let endpoint = options.only_endpoint()?;
        let peer = endpoint.peer_or_unspecified();
        let (payload, buffer) = (options.payload(), options.buffer());
        let peer = (!options.is_connected()).then_some(peer);
        Ok(RustixIo(endpoint.socket, peer, payload, buffer))
    }
}

/// A socket, its peer unless it is connected, what it sends, and room for what it receives.
pub struct RustixIo(OwnedFd, Option<SocketAddr>, Vec<u8>, Vec<u8>);

impl DatagramIo for RustixIo {
    async fn transmit(&mut self, _endpoint: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        let Self(socket, peer, payload, ..) = self;
        fill.fill(payload);
        Ok(BatchCount::one(match *peer {
            None => send(socket, payload, SendFlags::empty())?,
            Some(peer) => {
                let to = fill.destination().unwrap_or(peer);
                sendto(socket, payload, SendFlags::empty(), &to)?
            }
        }))
    }

    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        let Self(socket, peer, _, buffer) = self;
        let (bytes, source) = if peer.is_none() {
            (recv(socket, &mut buffer[..], RecvFlags::empty())?.0, None)
        } else {
            let (_, bytes, source) = recvfrom(socket, &mut buffer[..], RecvFlags::empty())?;
            (bytes, source.and_then(|it| it.try_into().ok()))
        };
        check.check_received(bytes, buffer, || Origin::of(source));
        Ok(BatchCount::one(bytes))
    }
}
