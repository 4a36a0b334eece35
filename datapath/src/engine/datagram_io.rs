//! The interface through which a bench thread sends and receives datagrams. An engine opens it on a list of
//! endpoints.

use std::future::Future;
pub use std::future::ready;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::{Index, IndexMut};
use std::os::fd::{AsFd, OwnedFd};

use socket2::SockRef;

use super::BatchCount;
use super::controls::{ControlReader, Controls};
use super::null_endpoint::NullEndpoint;
use super::payload::{Check, Fill};
use crate::data::{BusyPoll, Cmsg, Connection};

/// An object that sends and receives datagrams. It and its futures are `Send`, since `--tokio-workers` lets other
/// threads run them.
pub trait DatagramIo: Send {
    /// Sends one batch over an endpoint, after [`Fill::fill`] has seen its memory.
    ///
    /// # Errors
    /// Returns the error of the system call. `Interrupted` and `WouldBlock` are normal: the workload checks its stop
    /// flag and calls again. With any other error, datagrams were handed to the kernel and are lost;
    /// [`DatagramIo::packets_per_failure`] returns their number. Such an error ends the bench thread only if it
    /// persists and indicates a mistake.
    fn transmit(&mut self, endpoint: usize, fill: &impl Fill) -> impl BatchFuture;

    /// Receives one batch from any endpoint that has one, and shows each datagram to `check`. May wait for the batch,
    /// but must return `Interrupted` when a signal ends the wait: otherwise the thread never sees that it must stop.
    ///
    /// # Errors
    /// Returns the error of the system call. `Interrupted` and `WouldBlock` are normal: the workload checks its stop
    /// flag and calls again.
    fn receive<C: Check>(&mut self, check: &mut C) -> impl BatchFuture;

    /// Returns the number of datagrams refused by the last call of [`DatagramIo::transmit`], which failed as a whole.
    fn packets_per_failure(&self) -> u64 {
        1
    }

    /// Tells whether all control messages that were received are as they were sent. Called once, after the loop.
    ///
    /// # Errors
    /// Fails if one was missing, cut off or wrong. The trial then fails.
    fn check_controls(&self) -> io::Result<()> {
        Ok(())
    }

    /// Returns a remark on the run for the results row. Called once, after the loop.
    fn remark(&self) -> Remark {
        None
    }
}

/// Future of a call: that of an `async fn`, or [`ready`] where the call blocks the thread.
pub trait BatchFuture: Future<Output = io::Result<BatchCount>> + Send {}

impl<F: Future<Output = io::Result<BatchCount>> + Send> BatchFuture for F {}

/// Remark of an engine on its run, if any.
pub type Remark = Option<&'static str>;

/// An endpoint: one socket and its peer.
#[derive(Debug)]
pub struct Endpoint {
    /// The socket, of the case's transport: bound and blocking. In a connected case, it is also connected if it has
    /// only one peer.
    pub socket: OwnedFd,
    /// Destination of the datagrams sent over this endpoint. `None`: it sends none.
    pub peer: Option<SocketAddr>,
    /// True if this end opened the connection.
    pub is_client: bool,
    /// Replacement for the socket in the `null` engine, which moves nothing.
    #[doc(hidden)]
    pub null: NullEndpoint,
}

impl Endpoint {
    /// Creates an endpoint with a kernel socket.
    pub fn of(socket: impl Into<OwnedFd>, peer: Option<SocketAddr>) -> Self {
        Self {
            socket: socket.into(),
            peer,
            is_client: false,
            null: NullEndpoint::default(),
        }
    }

    /// Creates an endpoint with a kernel socket that opened the connection.
    pub fn of_client(socket: impl Into<OwnedFd>, peer: Option<SocketAddr>) -> Self {
        Self {
            is_client: true,
            ..Self::of(socket, peer)
        }
    }

    /// Makes the socket non-blocking.
    ///
    /// # Errors
    /// Returns the error of the system call.
    pub fn set_nonblocking(&self) -> io::Result<()> {
        SockRef::from(&self.socket).set_nonblocking(true)
    }

    /// Returns the peer, or 0.0.0.0:0 if there is none. Nothing can be sent to that address. It suits engines that
    /// keep an address whether they send or not.
    pub fn peer_or_unspecified(&self) -> SocketAddr {
        self.peer
            .unwrap_or_else(|| (Ipv4Addr::UNSPECIFIED, 0).into())
    }
}

/// Transmit, receive, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Sends only.
    Sends,
    /// Receives only.
    Receives,
    /// Sends and receives over the same sockets.
    Both,
}

impl Direction {
    /// Returns whether datagrams are sent.
    pub fn sends(self) -> bool {
        self != Self::Receives
    }

    /// Returns whether datagrams are received.
    pub fn receives(self) -> bool {
        self != Self::Sends
    }
}

/// Arguments of [`Engine::open`](super::Engine::open).
#[derive(Debug)]
pub struct IoOptions {
    /// The endpoints: at least one, and only one unless the engine serves [many](super::ManyEndpoints::OneIo).
    pub endpoints: Vec<Endpoint>,
    /// Directions that are used. The engine need not prepare the others.
    pub direction: Direction,
    /// Connected sockets (`send`, `recv`), or unconnected ones (`send_to`, `recv_from`).
    pub connection: Connection,
    /// Payload of each sent datagram, in bytes.
    pub payload_bytes: usize,
    /// Buffer for each received datagram, in bytes.
    pub buffer_bytes: usize,
    /// Maximum number of datagrams per call, for engines that batch.
    pub batch: usize,
    /// Maximum number of datagrams per train, for engines that send trains. `usize::MAX`: as many as the kernel takes.
    pub train: usize,
    /// Control messages of the calls, for engines that [carry](super::About::control_messages) them.
    pub controls: Controls,
    /// True if a receive must not wait, but return `WouldBlock` or an empty batch. Only for engines that [support
    /// it](super::About::can_spin).
    pub spins: bool,
    /// Time for which the engine's own epoll instance or ring busy-polls. `None`: it does not, or the end only sends.
    /// The sockets poll already.
    pub busy_poll: Option<BusyPoll>,
    /// True if each datagram of a call needs its own memory, since they differ (`--verify`).
    pub own_payloads: bool,
}

impl IoOptions {
    /// Returns options for the usual case: sockets are unconnected, receives wait, and each call moves one datagram of
    /// `payload_bytes`, always with the same content.
    pub fn of(endpoints: Vec<Endpoint>, direction: Direction, payload_bytes: usize) -> Self {
        Self {
            endpoints,
            direction,
            connection: Connection::Unconnected,
            payload_bytes,
            buffer_bytes: payload_bytes,
            batch: 1,
            train: usize::MAX,
            controls: Controls::default(),
            spins: false,
            busy_poll: None,
            own_payloads: false,
        }
    }

    /// Returns a copy of the options with other endpoints.
    pub fn over(&self, endpoints: Vec<Endpoint>) -> Self {
        Self { endpoints, ..*self }
    }

    /// Takes the only endpoint, for engines that serve no more than one.
    ///
    /// # Errors
    /// Fails with `InvalidInput` if there is no endpoint, or more than one.
    pub fn only_endpoint(&mut self) -> io::Result<Endpoint> {
        match (self.endpoints.pop(), self.endpoints.is_empty()) {
            (Some(endpoint), true) => Ok(endpoint),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "this engine serves one socket per thread",
            )),
        }
    }

    /// Returns whether the sockets are connected.
    pub fn is_connected(&self) -> bool {
        self.connection == Connection::Connected
    }

    /// Requests the control messages that received datagrams must have. `None`: there are none, or nothing is received.
    ///
    /// # Errors
    /// Fails if the kernel lacks one.
    pub fn control_reader(&self, socket: &impl AsFd) -> io::Result<Option<ControlReader>> {
        let reads = self.direction.receives() && self.controls.kinds != Cmsg::NONE;
        let open = || ControlReader::open(socket, self.controls);
        reads.then(open).transpose()
    }

    /// Returns the payload that is sent again and again; empty if nothing is sent. It is not zeros: an allocator that
    /// gets zeroed pages from the kernel, such as musl's, would back all of them with the same page of memory.
    pub fn payload(&self) -> Vec<u8> {
        let sends = self.direction.sends();
        vec![0xA5; if sends { self.payload_bytes } else { 0 }]
    }

    /// Returns a buffer for one received datagram; empty if nothing is received.
    pub fn buffer(&self) -> Vec<u8> {
        let receives = self.direction.receives();
        vec![0; if receives { self.buffer_bytes } else { 0 }]
    }

    /// Makes a socket blocking, or non-blocking if [`IoOptions::spins`] is set.
    ///
    /// # Errors
    /// Returns the error of the system call.
    pub fn apply_wait(&self, socket: &OwnedFd) -> io::Result<()> {
        SockRef::from(socket).set_nonblocking(self.spins)
    }
}

/// One `T` for each endpoint. The first is stored inline, so that access with a single endpoint costs nothing.
#[derive(Debug)]
pub struct PerEndpoint<T> {
    first: T,
    others: Vec<T>,
}

impl<T> PerEndpoint<T> {
    /// Collects one item per endpoint.
    ///
    /// # Errors
    /// Fails with `InvalidInput` if there is no item. Otherwise returns the first error in `items`.
    pub fn collect(mut items: impl Iterator<Item = io::Result<T>>) -> io::Result<Self> {
        let first = items.next().ok_or(io::ErrorKind::InvalidInput)??;
        let others = items.collect::<io::Result<_>>()?;
        Ok(Self { first, others })
    }

    /// Returns the number of endpoints, at least 1.
    #[inline]
    pub fn count(&self) -> usize {
        1 + self.others.len()
    }
}

impl<T> Index<usize> for PerEndpoint<T> {
    type Output = T;

    #[inline]
    fn index(&self, endpoint: usize) -> &T {
        match endpoint {
            0 => &self.first,
            n => &self.others[n - 1],
        }
    }
}

impl<T> IndexMut<usize> for PerEndpoint<T> {
    #[inline]
    fn index_mut(&mut self, endpoint: usize) -> &mut T {
        match endpoint {
            0 => &mut self.first,
            n => &mut self.others[n - 1],
        }
    }
}
