//! The engine `std`, the reference: blocking `std::net::UdpSocket`, one system call per datagram.

use std::io;
use std::marker::PhantomData;
use std::net::{SocketAddr, UdpSocket};

use crate::data::Group;
use crate::engine::payload::{Check, Fill, Origin};
use crate::engine::{
    About, Addressing, Burst, Engine, Link, PerLink, Port, PortOptions, Selection, ThreadArgs,
};

pub(super) struct Std;

impl Engine for Std {
    const ABOUT: About = About {
        name: "std",
        summary: "blocking std::net::UdpSocket, one call per datagram; the reference",
        group: Group::Blocking,
        selection: Selection::Default,
        can_spin: true,
        ..About::PLAIN
    };
    type Port<A: Addressing> = StdPort<A>;

    fn start(_brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self)
    }

    fn open<A: Addressing>(&self, mut options: PortOptions) -> io::Result<StdPort<A>> {
        let link = options.only_link()?;
        options.apply_wait(&link.socket)?;
        StdPort::new(&options, vec![link])
    }
}

/// Sockets with the calls of std. Engines that wait in their own way also use them.
pub(super) struct StdPort<A> {
    links: PerLink<(UdpSocket, SocketAddr)>,
    payload: Vec<u8>,
    buffer: Vec<u8>,
    addressing: PhantomData<A>,
}

impl<A: Addressing> StdPort<A> {
    pub(super) fn new(options: &PortOptions, links: Vec<Link>) -> io::Result<Self> {
        Ok(Self {
            payload: options.payload(),
            buffer: options.buffer(),
            links: PerLink::of(links, |link| {
                let peer = link.peer_or_unspecified();
                Ok((link.socket.into(), peer))
            })?,
            addressing: PhantomData,
        })
    }

    pub(super) fn socket(&self, link: usize) -> &UdpSocket {
        &self.links[link].0
    }

    /// Returns the sockets of all endpoints.
    pub(super) fn sockets(&self) -> impl Iterator<Item = &UdpSocket> {
        (0..self.links()).map(|link| self.socket(link))
    }

    pub(super) fn links(&self) -> usize {
        self.links.count()
    }

    #[inline]
    pub(super) fn send(&mut self, link: usize, fill: &impl Fill) -> io::Result<Burst> {
        fill.fill(&mut self.payload);
        let (socket, peer) = &self.links[link];
        let sent = if A::CONNECTED {
            socket.send(&self.payload)?
        } else {
            socket.send_to(&self.payload, fill.destination().as_ref().unwrap_or(peer))?
        };
        Ok(Burst::one(sent))
    }

    #[inline]
    pub(super) fn take(&mut self, link: usize, check: &mut impl Check) -> io::Result<Burst> {
        let (socket, _) = &self.links[link];
        let (received, source) = if A::CONNECTED {
            (socket.recv(&mut self.buffer)?, None)
        } else {
            let (received, source) = socket.recv_from(&mut self.buffer)?;
            (received, Some(source))
        };
        check.check_received(received, &self.buffer, || Origin { link, source });
        Ok(Burst::one(received))
    }
}

impl<A: Addressing> Port for StdPort<A> {
    #[inline]
    async fn transmit(&mut self, link: usize, fill: &impl Fill) -> io::Result<Burst> {
        self.send(link, fill)
    }

    #[inline]
    async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<Burst> {
        self.take(0, check)
    }
}
