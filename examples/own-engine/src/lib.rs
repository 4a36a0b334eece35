//! An engine: blocking sockets with the calls of rustix, one per datagram.

use std::io;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use rustix::net::{RecvFlags, SendFlags, recv, recvfrom, send, sendto};
use udpbench::Entry;
use udpbench::engine::payload::{Check, Fill, Origin};
use udpbench::engine::{About, Addressing, BatchCount, DatagramIo, Engine};
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
    type DatagramIo<A: Addressing> = RustixIo<A>;

    fn start(_: &ThreadArgs) -> io::Result<Self> {
        Ok(Self)
    }

    fn open<A: Addressing>(&self, mut options: IoOptions) -> io::Result<RustixIo<A>> {
        let endpoint = options.only_endpoint()?;
        let peer = endpoint.peer_or_unspecified();
        let (payload, buffer) = (options.payload(), options.buffer());
        Ok(RustixIo(endpoint.socket, peer, payload, buffer, PhantomData))
    }
}

pub struct RustixIo<A>(OwnedFd, SocketAddr, Vec<u8>, Vec<u8>, PhantomData<A>);

impl<A: Addressing> DatagramIo for RustixIo<A> {
    async fn transmit(&mut self, _endpoint: usize, fill: &impl Fill) -> io::Result<BatchCount> {
        let Self(socket, peer, payload, ..) = self;
        fill.fill(payload);
        Ok(BatchCount::one(if A::CONNECTED {
            send(socket, payload, SendFlags::empty())?
        } else {
            let to = fill.destination().unwrap_or(*peer);
            sendto(socket, payload, SendFlags::empty(), &to)?
        }))
    }

    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
        let Self(socket, .., buffer, _) = self;
        let (bytes, source) = if A::CONNECTED {
            (recv(socket, &mut buffer[..], RecvFlags::empty())?.0, None)
        } else {
            let (_, bytes, source) = recvfrom(socket, &mut buffer[..], RecvFlags::empty())?;
            (bytes, source.and_then(|it| it.try_into().ok()))
        };
        check.check_received(bytes, buffer, || Origin::of(source));
        Ok(BatchCount::one(bytes))
    }
}
