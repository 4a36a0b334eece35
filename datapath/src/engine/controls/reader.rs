//! Compares control messages with what was sent.

use std::ffi::c_int;
use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;

use super::{Arrived, Controls, ECN_BITS, own_address};
use crate::data::Cmsg;
use crate::sys::clock;
use crate::sys::control_messages::{
    ControlMessages, request_arrivals, request_destinations, request_traffic_classes,
};

/// Largest time by which the clock may be set back during a trial without making arrivals wrong, in nanoseconds.
const CLOCK_STEP_NS: u64 = 3_600_000_000_000;

/// Compares each message of received datagrams with what was sent.
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
    /// What was wrong first.
    first: Option<String>,
}

impl ControlReader {
    /// Requests the expected messages at a socket.
    ///
    /// # Errors
    /// Fails if the kernel lacks one.
    pub(crate) fn open(socket: &impl AsFd, expected: Controls) -> io::Result<Self> {
        let kinds = expected.kinds;
        let own = own_address(socket)?.ip();
        request(socket, own, kinds)?;
        Ok(Self {
            kinds,
            own: Some(own).filter(|own| !own.is_unspecified()),
            ecn: expected.arriving_ecn,
            earliest_ns: clock::realtime_ns().saturating_sub(CLOCK_STEP_NS),
            wrong: 0,
            first: None,
        })
    }

    /// Reads the messages of one datagram or GRO aggregate. `flags`: the `msg_flags` of the call. Returns the segment
    /// size of the aggregate in bytes, if the messages have it.
    #[inline]
    pub fn read(&mut self, flags: c_int, messages: &[u8]) -> Option<usize> {
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
            self.note("cut off (MSG_CTRUNC)".to_owned());
        }
        segment_bytes
    }

    /// Compares what a library has read already.
    #[inline]
    pub fn compare(&mut self, arrived: &Arrived) {
        let kinds = self.kinds;
        let is_destination = |it| self.own.is_none_or(|own| own == it);
        let is_ecn = |it| self.ecn.is_none_or(|ecn| ecn == it & ECN_BITS);
        let is_arrival = |it| it >= self.earliest_ns;
        let is_right = (!kinds.has(Cmsg::PKTINFO)
            || arrived.destination.is_some_and(is_destination))
            && (!kinds.has(Cmsg::ECN) || arrived.traffic_class.is_some_and(is_ecn))
            && (!kinds.has(Cmsg::TIMESTAMP) || arrived.at_ns.is_some_and(is_arrival));
        if !is_right {
            self.is_wrong(arrived);
        }
    }

    /// Returns what was wrong with messages so far.
    ///
    /// # Errors
    /// Fails if a message was missing, cut off or wrong.
    pub fn verdict(&self) -> io::Result<()> {
        let Some(first) = &self.first else {
            return Ok(());
        };
        Err(io::Error::other(format!(
            "--cmsg {}: messages of {} receives were wrong, the first one: {first}",
            self.kinds, self.wrong
        )))
    }

    /// Notes that messages are not as they were sent.
    #[cold]
    fn is_wrong(&mut self, arrived: &Arrived) {
        let (own, ecn) = (self.own, self.ecn);
        self.note(format!(
            "{arrived:?} instead of the destination {own:?}, the ECN bits {ecn:?} and an arrival now"
        ));
    }

    #[cold]
    fn note(&mut self, fault: String) {
        self.wrong += 1;
        self.first.get_or_insert(fault);
    }
}

/// Requests kinds of control messages at a socket with the address `own`.
fn request(socket: &impl AsFd, own: IpAddr, kinds: Cmsg) -> io::Result<()> {
    let requested = |kind, request: &dyn Fn() -> io::Result<()>| {
        let lacks =
            |error| io::Error::other(format!("--cmsg {kind}: the kernel lacks it: {error}"));
        let requested = kinds.has(kind).then(request).transpose();
        requested.map(drop).map_err(lacks)
    };
    requested(Cmsg::PKTINFO, &|| request_destinations(socket, own))?;
    requested(Cmsg::ECN, &|| request_traffic_classes(socket, own))?;
    requested(Cmsg::TIMESTAMP, &|| request_arrivals(socket))
}

#[cfg(test)]
mod tests;
