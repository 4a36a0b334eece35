//! A port: what one thread moves datagrams through. An engine opens it on a list of links.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::{Index, IndexMut};
use std::os::fd::OwnedFd;

use socket2::SockRef;

use super::Burst;
use super::null_link::NullLink;
use super::payload::{Check, Fill};

/// What an engine moves datagrams through. `Send`, with its futures, as `--tokio-workers` has other threads run
/// them.
pub trait Port: Send {
    /// Moves one burst out over `link`, after [`Fill::fill`] has seen its memory.
    ///
    /// # Errors
    /// What the system call said. `Interrupted` and `WouldBlock` are normal: the workload looks at its
    /// stop flag and calls again. With anything else, datagrams were handed to the kernel and are lost: as many as
    /// [`Port::packets_per_failure`] says. It ends the lane only when it persists and speaks of a mistake.
    fn transmit(
        &mut self,
        link: usize,
        fill: &impl Fill,
    ) -> impl Future<Output = io::Result<Burst>> + Send;

    /// Moves one burst in, from whichever link has one, and shows each datagram to `check`. May wait for it, but
    /// must return `Interrupted` when a signal ends the wait: else the thread never sees that it is to stop.
    ///
    /// # Errors
    /// As for [`Port::transmit`].
    fn receive<C: Check>(
        &mut self,
        check: &mut C,
    ) -> impl Future<Output = io::Result<Burst>> + Send;

    /// Returns how many datagrams were refused by the last call of [`Port::transmit`], which failed as a whole.
    fn packets_per_failure(&self) -> u64 {
        1
    }

    /// Anything that the row should say about how it went. Asked once, after the loop.
    fn remark(&self) -> Remark {
        None
    }
}

/// What an engine has to say about how it went, if anything.
pub type Remark = Option<&'static str>;

/// One socket of a port, and who is at the other end.
#[derive(Debug)]
pub struct Link {
    /// The socket, of the transport that the engine is to use: bound, blocking, and in a connected case connected if it
    /// has one peer only.
    pub socket: OwnedFd,
    /// Where the datagrams go that are sent over it. `None`: none are.
    pub peer: Option<SocketAddr>,
    /// Whether it is the end of a connection that has connected.
    pub is_client: bool,
    /// Stands in for the socket in the one engine that moves nothing (`null`).
    pub null: NullLink,
}

impl Link {
    /// A socket of the kernel's.
    pub fn of(socket: impl Into<OwnedFd>, peer: Option<SocketAddr>) -> Self {
        Self {
            socket: socket.into(),
            peer,
            is_client: false,
            null: NullLink::default(),
        }
    }

    /// The same, as the end that has connected.
    pub fn of_client(socket: impl Into<OwnedFd>, peer: Option<SocketAddr>) -> Self {
        Self {
            is_client: true,
            ..Self::of(socket, peer)
        }
    }

    /// Has it never wait, neither for what comes nor for room.
    ///
    /// # Errors
    /// What the system said.
    pub fn set_nonblocking(&self) -> io::Result<()> {
        SockRef::from(&self.socket).set_nonblocking(true)
    }

    /// [`Link::peer`], for a port that keeps an address whether it sends or not: 0.0.0.0:0, to which nothing can be
    /// sent.
    pub fn peer_or_unspecified(&self) -> SocketAddr {
        self.peer
            .unwrap_or_else(|| (Ipv4Addr::UNSPECIFIED, 0).into())
    }
}

/// Which ways datagrams go through a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Out.
    Sends,
    /// In.
    Receives,
    /// Out and in, over the same sockets.
    Both,
}

impl Direction {
    /// Whether datagrams go out.
    pub fn sends(self) -> bool {
        self != Self::Receives
    }

    /// Whether datagrams come in.
    pub fn receives(self) -> bool {
        self != Self::Sends
    }
}

/// What a port is opened with.
#[derive(Debug)]
pub struct PortOptions {
    /// Its sockets: one at least, and no more unless the engine serves [many](super::ManyLinks::OnePort).
    pub links: Vec<Link>,
    /// What it is for. The rest need not be built.
    pub direction: Direction,
    /// Payload of each datagram that it sends, in bytes.
    pub payload_bytes: usize,
    /// Room for each datagram that it receives, in bytes.
    pub buffer_bytes: usize,
    /// Datagrams that one call may move, for engines that batch.
    pub batch: usize,
    /// Whether a receive is not to wait at all, but to return `WouldBlock` or an empty burst. Only where the engine
    /// [can](super::About::can_spin).
    pub spins: bool,
    /// With `--verify`: the datagrams of one call differ, so each needs memory of its own.
    pub own_payloads: bool,
}

impl PortOptions {
    /// For the usual way to use `links`: one datagram of `payload_bytes` at a time, all alike, waited for.
    pub fn of(links: Vec<Link>, direction: Direction, payload_bytes: usize) -> Self {
        Self {
            links,
            direction,
            payload_bytes,
            buffer_bytes: payload_bytes,
            batch: 1,
            spins: false,
            own_payloads: false,
        }
    }

    /// The same over other links.
    pub fn over(&self, links: Vec<Link>) -> Self {
        Self { links, ..*self }
    }

    /// Its only link, for engines that serve no more.
    ///
    /// # Errors
    /// `InvalidInput` if there is none, or more than one.
    pub fn only_link(&mut self) -> io::Result<Link> {
        match (self.links.pop(), self.links.is_empty()) {
            (Some(link), true) => Ok(link),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "this engine serves one socket per thread",
            )),
        }
    }

    /// The datagram that is sent again and again; nothing if it does not send. Not zeros: where the allocator
    /// gets zeroed pages from the kernel, as musl's does, all of them would be one and the same page of memory.
    pub fn payload(&self) -> Vec<u8> {
        let sends = self.direction.sends();
        vec![0xA5; if sends { self.payload_bytes } else { 0 }]
    }

    /// Room for one datagram; none if it does not receive.
    pub fn buffer(&self) -> Vec<u8> {
        let receives = self.direction.receives();
        vec![0; if receives { self.buffer_bytes } else { 0 }]
    }

    /// Has a socket wait for what it receives, or not.
    ///
    /// # Errors
    /// What the system said.
    pub fn apply_wait(&self, socket: &OwnedFd) -> io::Result<()> {
        SockRef::from(socket).set_nonblocking(self.spins)
    }
}

/// One `T` for each link of a port. The first lies within: a port of one link reaches it at no cost.
#[derive(Debug)]
pub struct PerLink<T> {
    first: T,
    others: Vec<T>,
}

impl<T> PerLink<T> {
    /// What `make` makes of each link.
    ///
    /// # Errors
    /// `InvalidInput` if there is no link, else those of `make`.
    pub fn of(links: Vec<Link>, make: impl FnMut(Link) -> io::Result<T>) -> io::Result<Self> {
        Self::made(links.into_iter().map(make))
    }

    /// What was made of each link.
    ///
    /// # Errors
    /// `InvalidInput` if there is no link, else the first of those in `made`.
    pub fn made(mut made: impl Iterator<Item = io::Result<T>>) -> io::Result<Self> {
        let first = made.next().ok_or(io::ErrorKind::InvalidInput)??;
        let others = made.collect::<io::Result<_>>()?;
        Ok(Self { first, others })
    }

    /// How many there are, 1 or more.
    #[inline]
    pub fn count(&self) -> usize {
        1 + self.others.len()
    }
}

impl<T> Index<usize> for PerLink<T> {
    type Output = T;

    #[inline]
    fn index(&self, link: usize) -> &T {
        match link {
            0 => &self.first,
            n => &self.others[n - 1],
        }
    }
}

impl<T> IndexMut<usize> for PerLink<T> {
    #[inline]
    fn index_mut(&mut self, link: usize) -> &mut T {
        match link {
            0 => &mut self.first,
            n => &mut self.others[n - 1],
        }
    }
}
