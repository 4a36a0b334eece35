//! Types that choose the calls of a case, and control messages of an I/O object (`--cmsg`): the bytes that senders add
//! to each call, and the reader that receivers hand theirs to.
//!
//! The reader compares each message with what was sent, as a program would use it. A message that is missing, cut off
//! or wrong makes the trial fail, whether or not the datagrams are verified.

mod reader;

use std::ffi::c_int;
use std::io;
use std::marker::PhantomData;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;

use socket2::SockRef;

pub use self::reader::ControlReader;
use crate::data::Cmsg;
use crate::sys::control_messages;
pub use crate::sys::control_messages::ControlMemory;

/// Bits of the traffic class that hold ECN (RFC 3168).
const ECN_BITS: u8 = 0b11;
/// ECN of datagrams of a transport that understands it: ECT(0).
const ECT_0: u8 = 0b10;

/// Control messages of the calls of an I/O object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Controls {
    /// Kinds that calls carry.
    pub kinds: Cmsg,
    /// Traffic class of sent datagrams, in which `ecn` sets the ECN bits.
    pub traffic_class: u8,
    /// ECN bits of received datagrams. `None`: the path between two hosts may change them.
    pub arriving_ecn: Option<u8>,
}

impl Controls {
    /// Creates the control messages of one end. `kinds_sent`: those that the other end's engine sends.
    pub fn new(kinds: Cmsg, kinds_sent: Cmsg, traffic_class: u8) -> Self {
        Self {
            kinds,
            traffic_class,
            arriving_ecn: Some(if kinds_sent.has(Cmsg::ECN) {
                ECT_0
            } else {
                traffic_class & ECN_BITS
            }),
        }
    }

    /// Returns the ECN bits that calls set, if they do.
    pub fn ecn(&self) -> Option<u8> {
        self.kinds.has(Cmsg::ECN).then_some(ECT_0)
    }

    /// Returns the source address that calls name, if they do: the own address of `socket`.
    ///
    /// # Errors
    /// Returns the error of getsockname(2).
    pub fn source(&self, socket: &impl AsFd) -> io::Result<Option<SocketAddr>> {
        let has_source = self.kinds.has(Cmsg::PKTINFO);
        has_source.then(|| own_address(socket)).transpose()
    }

    /// Returns the traffic class that calls set, if they do.
    pub fn sent_class(&self) -> Option<u8> {
        let ecn = self.ecn()?;
        Some(self.traffic_class & !ECN_BITS | ecn)
    }

    /// Returns the bytes of the messages that each call of `socket` sends. Empty if there are none.
    ///
    /// # Errors
    /// Returns the error of getsockname(2).
    pub fn outgoing(&self, socket: &impl AsFd) -> io::Result<Vec<u8>> {
        let mut messages = Vec::new();
        if let Some(source) = self.source(socket)? {
            control_messages::push_source(&mut messages, source);
        }
        if let Some(class) = self.sent_class() {
            let own = own_address(socket)?.ip();
            control_messages::push_traffic_class(&mut messages, own, class);
        }
        Ok(messages)
    }
}

fn own_address(socket: &impl AsFd) -> io::Result<SocketAddr> {
    let address = SockRef::from(socket).local_addr()?.as_socket();
    address.ok_or_else(|| io::Error::other("control messages are for IP sockets"))
}

/// Facts about a received datagram from its control messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrived {
    /// Destination in its IP header.
    pub destination: Option<IpAddr>,
    /// Traffic class, or at least its ECN bits.
    pub traffic_class: Option<u8>,
    /// Time of arrival since 1970, in nanoseconds.
    pub at_ns: Option<u64>,
}

/// Reads the control messages of received datagrams, or none. A type for each, so that calls without control messages
/// do not even compare.
pub trait ReadControls: Send + Sized + 'static {
    /// True if there are messages to read.
    const READS: bool;

    /// Requests the expected messages at a socket.
    ///
    /// # Errors
    /// Fails if the kernel lacks one.
    fn open(socket: &impl AsFd, expected: Controls) -> io::Result<Self>;

    /// Reads the messages of one datagram or GRO aggregate. `_flags`: the `msg_flags` of the call. Returns the segment
    /// size of the aggregate in bytes, if the messages have it.
    fn read(&mut self, _flags: c_int, _messages: &[u8]) -> Option<usize> {
        None
    }

    /// Compares what a library has read already.
    fn compare(&mut self, _arrived: &Arrived) {}

    /// Returns what was wrong with messages so far.
    ///
    /// # Errors
    /// Fails if a message was missing, cut off or wrong.
    fn verdict(&self) -> io::Result<()> {
        Ok(())
    }
}

/// A [`ReadControls`] for calls without control messages.
#[derive(Clone, Copy, Debug)]
pub struct NoControls;

impl ReadControls for NoControls {
    const READS: bool = false;

    fn open(_socket: &impl AsFd, _expected: Controls) -> io::Result<Self> {
        Ok(Self)
    }
}

/// Connected or unconnected sockets, with or without control messages: chosen once per case as a type, outside every
/// loop.
pub trait Addressing: Send + 'static {
    /// True if the sockets are connected (`send`/`recv`), false if not (`send_to`/`recv_from`).
    const CONNECTED: bool;
    /// Reader of the control messages of each call.
    type Controls: ReadControls;
}

/// Addressing of connected sockets: after `connect(2)`, calls carry no address. See [`Addressing`].
pub enum Connected {}
/// Addressing of unconnected sockets: each call names the destination or returns the source. See [`Addressing`].
pub enum Unconnected {}
/// Addressing of `A` by calls with control messages. See [`Addressing`].
pub struct WithControls<A>(PhantomData<A>);

impl Addressing for Connected {
    const CONNECTED: bool = true;
    type Controls = NoControls;
}
impl Addressing for Unconnected {
    const CONNECTED: bool = false;
    type Controls = NoControls;
}
impl<A: Addressing> Addressing for WithControls<A> {
    const CONNECTED: bool = A::CONNECTED;
    type Controls = ControlReader;
}
