//! Control messages of an I/O object (`--cmsg`): the bytes that senders add to each call, and the reader that receivers
//! hand theirs to.
//!
//! The reader compares each message with what was sent, as a program would use it. A message that is missing, cut off
//! or wrong makes the trial fail, whether or not the datagrams are verified.

mod reader;

use std::io;
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
