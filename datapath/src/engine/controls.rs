//! Control messages of an I/O object (`--cmsg`): the bytes that senders add to each call, and the reader that receivers
//! hand theirs to.
//!
//! The reader compares each message with what was sent, as a program would use it. A message that is missing, cut off or
//! wrong makes the trial fail, whether or not the datagrams are verified.

use std::ffi::c_int;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;

use socket2::SockRef;

use super::IoOptions;
use crate::data::Cmsg;
use crate::sys::clock;
use crate::sys::control_messages::{self, ControlMessages};

/// Bits of the traffic class that hold ECN (RFC 3168).
const ECN_BITS: u8 = 0b11;
/// ECN of datagrams of a transport that understands it: ECT(0).
const ECT_0: u8 = 0b10;
/// Largest time by which the clock may be set back during a trial without making arrivals wrong, in nanoseconds.
const CLOCK_STEP_NS: u64 = 3_600_000_000_000;

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

/// Memory for the control messages of one datagram. All kinds and that of UDP_GRO take 120 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub struct ControlMemory(pub [u8; Self::BYTES]);

impl ControlMemory {
    /// Length in bytes.
    pub const BYTES: usize = 128;
    /// Memory without messages.
    pub const EMPTY: Self = Self([0; Self::BYTES]);
}

/// What control messages tell of a received datagram.
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

    /// Requests the messages that `options` name at a socket, if it receives.
    ///
    /// # Errors
    /// Fails if the kernel lacks one.
    fn open(socket: &impl AsFd, options: &IoOptions) -> io::Result<Self>;

    /// Reads the messages of one datagram or GRO aggregate. `flags`: the `msg_flags` of the call. Returns the segment
    /// size of the aggregate in bytes, if the messages have it.
    fn read(&mut self, flags: c_int, messages: &[u8]) -> Option<usize>;

    /// Compares what a library has read already.
    fn compare(&mut self, arrived: &Arrived);

    /// Notes that messages were cut off (MSG_CTRUNC).
    fn cut_off(&mut self);

    /// Returns what was wrong with messages so far.
    ///
    /// # Errors
    /// Fails if a message was missing, cut off or wrong.
    fn verdict(&self) -> io::Result<()>;
}

/// A [`ReadControls`] for calls without control messages.
#[derive(Clone, Copy, Debug)]
pub struct NoControls;

impl ReadControls for NoControls {
    const READS: bool = false;

    fn open(_socket: &impl AsFd, _options: &IoOptions) -> io::Result<Self> {
        Ok(Self)
    }

    fn read(&mut self, _flags: c_int, _messages: &[u8]) -> Option<usize> {
        None
    }

    fn compare(&mut self, _arrived: &Arrived) {}

    fn cut_off(&mut self) {}

    fn verdict(&self) -> io::Result<()> {
        Ok(())
    }
}

/// A [`ReadControls`] that compares each message with what was sent.
#[derive(Debug)]
pub struct ControlReader {
    kinds: Cmsg,
    /// Own address of the socket. `None`: any.
    own: Option<IpAddr>,
    ecn: Option<u8>,
    /// Earliest arrival that is right, in nanoseconds since 1970.
    earliest_ns: u64,
    /// Datagrams and aggregates with something wrong.
    wrong: u64,
    first: Option<Fault>,
}

/// What was wrong with the messages of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    CutOff,
    Missing(Cmsg),
    Destination(IpAddr),
    Ecn(u8),
    Arrival(u64),
}

impl ReadControls for ControlReader {
    const READS: bool = true;

    fn open(socket: &impl AsFd, options: &IoOptions) -> io::Result<Self> {
        let kinds = options.controls.kinds;
        let own = own_address(socket)?.ip();
        if options.direction.receives() {
            request(socket, own, kinds)?;
        }
        Ok(Self {
            kinds,
            own: Some(own).filter(|own| !own.is_unspecified()),
            ecn: options.controls.arriving_ecn,
            earliest_ns: clock::realtime_ns().saturating_sub(CLOCK_STEP_NS),
            wrong: 0,
            first: None,
        })
    }

    #[inline]
    fn read(&mut self, flags: c_int, messages: &[u8]) -> Option<usize> {
        let mut arrived = Arrived::default();
        let mut segment_bytes = None;
        for message in ControlMessages(messages) {
            if let Some(ip) = message.destination() {
                arrived.destination = Some(ip);
            } else if let Some(class) = message.traffic_class() {
                arrived.traffic_class = Some(class);
            } else if let Some(ns) = message.arrived_ns() {
                arrived.at_ns = Some(ns);
            } else if let Some(bytes) = message.segment_bytes() {
                segment_bytes = Some(bytes);
            }
        }
        if flags & libc::MSG_CTRUNC == 0 {
            self.compare(&arrived);
        } else {
            self.cut_off();
        }
        segment_bytes
    }

    #[inline]
    fn compare(&mut self, arrived: &Arrived) {
        let kinds = self.kinds;
        let is_destination = |it| self.own.is_none_or(|own| own == it);
        let is_ecn = |it| self.ecn.is_none_or(|ecn| ecn == it & ECN_BITS);
        let is_arrival = |it| it >= self.earliest_ns;
        let is_right = (!kinds.has(Cmsg::PKTINFO)
            || arrived.destination.is_some_and(is_destination))
            && (!kinds.has(Cmsg::ECN) || arrived.traffic_class.is_some_and(is_ecn))
            && (!kinds.has(Cmsg::TIMESTAMP) || arrived.at_ns.is_some_and(is_arrival));
        if !is_right {
            self.note(self.fault_of(arrived));
        }
    }

    #[cold]
    fn cut_off(&mut self) {
        self.note(Fault::CutOff);
    }

    fn verdict(&self) -> io::Result<()> {
        let Some(first) = self.first else {
            return Ok(());
        };
        let expected = match (first, self.own, self.ecn) {
            (Fault::Destination(_), Some(own), _) => format!(" instead of {own}"),
            (Fault::Ecn(_), _, Some(ecn)) => format!(" instead of {ecn:02b}"),
            _ => String::new(),
        };
        Err(io::Error::other(format!(
            "--cmsg {}: messages of {} receives were wrong, the first one: {first}{expected}",
            self.kinds, self.wrong
        )))
    }
}

impl ControlReader {
    /// Returns what is wrong, if messages are not as they were sent.
    #[cold]
    fn fault_of(&self, arrived: &Arrived) -> Fault {
        let is_missing = [
            (Cmsg::PKTINFO, arrived.destination.is_none()),
            (Cmsg::ECN, arrived.traffic_class.is_none()),
            (Cmsg::TIMESTAMP, arrived.at_ns.is_none()),
        ];
        let mut missing = is_missing.iter().filter(|(_, is_missing)| *is_missing);
        if let Some((kind, _)) = missing.find(|(kind, _)| self.kinds.has(*kind)) {
            return Fault::Missing(*kind);
        }
        let is_own = |it: &IpAddr| self.own.is_none_or(|own| own == *it);
        let is_sent = |it: &u8| self.ecn.is_none_or(|ecn| ecn == *it);
        let destination = arrived.destination.filter(|it| !is_own(it));
        let ecn = arrived.traffic_class.map(|class| class & ECN_BITS);
        match (destination, ecn.filter(|it| !is_sent(it))) {
            (Some(ip), _) if self.kinds.has(Cmsg::PKTINFO) => Fault::Destination(ip),
            (_, Some(ecn)) if self.kinds.has(Cmsg::ECN) => Fault::Ecn(ecn),
            _ => Fault::Arrival(arrived.at_ns.unwrap_or(0)),
        }
    }

    fn note(&mut self, fault: Fault) {
        self.wrong += 1;
        self.first.get_or_insert(fault);
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CutOff => write!(f, "cut off (MSG_CTRUNC)"),
            Self::Missing(kind) => write!(f, "no {kind}"),
            Self::Destination(ip) => write!(f, "the destination {ip}"),
            Self::Ecn(ecn) => write!(f, "the ECN bits {ecn:02b}"),
            Self::Arrival(ns) => write!(f, "the arrival {ns} ns after 1970"),
        }
    }
}

/// Requests kinds of control messages at a socket with the address `own`.
fn request(socket: &impl AsFd, own: IpAddr, kinds: Cmsg) -> io::Result<()> {
    let lacks = |kind: Cmsg| {
        move |error: io::Error| {
            io::Error::other(format!("--cmsg {kind}: the kernel lacks it: {error}"))
        }
    };
    if kinds.has(Cmsg::PKTINFO) {
        let requested = control_messages::request_destinations(socket, own);
        requested.map_err(lacks(Cmsg::PKTINFO))?;
    }
    if kinds.has(Cmsg::ECN) {
        let requested = control_messages::request_traffic_classes(socket, own);
        requested.map_err(lacks(Cmsg::ECN))?;
    }
    if kinds.has(Cmsg::TIMESTAMP) {
        let requested = control_messages::request_arrivals(socket);
        requested.map_err(lacks(Cmsg::TIMESTAMP))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
