//! Receives datagrams with what the kernel knows of each: its source, its interface, its full length, its arrival, and
//! the drops of the socket before it.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::ptr;

use libc::{c_void, iovec, mmsghdr};
use nix::sys::socket::{setsockopt, sockopt};

use super::control_messages::{ControlMemory, ControlMessages, request_destinations};
use super::messages::{self, SourceMemory};

/// Buffers for the datagrams of one recvmmsg(2).
pub struct StampedBatch {
    bytes_each: usize,
    payloads: Vec<u8>,
    sources: Vec<SourceMemory>,
    controls: Vec<ControlMemory>,
    iovecs: Vec<iovec>,
    /// Written anew before each call: no pointer in them is used after it.
    headers: Vec<mmsghdr>,
}

/// A datagram, and what the kernel says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamped<'a> {
    /// Address of the sender. `None`: the kernel did not tell.
    pub source: Option<SocketAddr>,
    /// Number of the interface on which it came in. 0: the kernel did not tell.
    pub interface: u32,
    /// Length of the payload in bytes.
    pub bytes: u32,
    /// First bytes of the payload.
    pub payload: &'a [u8],
    /// Time of arrival since 1970, in nanoseconds. `None`: the kernel did not stamp it.
    pub arrived_ns: Option<u64>,
    /// Datagrams that the socket dropped before it queued this one, since the socket was made. The kernel keeps 32
    /// bits. `None`: it dropped none, or the kernel does not tell.
    pub dropped_before: Option<u32>,
}

/// Makes the kernel tell arrivals, drops and interfaces with each datagram of a socket. Where it does not, they are
/// missing. `ip`: an address of the socket's IP version. Call it before the socket is bound: a datagram that is queued
/// earlier has no drops.
pub fn ask_for_stamps(socket: &impl AsFd, ip: IpAddr) {
    let _ = setsockopt(socket, sockopt::ReceiveTimestampns, &true);
    let _ = setsockopt(socket, sockopt::RxqOvfl, &1);
    let _ = request_destinations(socket, ip);
}

impl StampedBatch {
    /// Creates buffers for `count` datagrams, and for the first `bytes_each` bytes of each payload.
    pub fn new(count: usize, bytes_each: usize) -> Self {
        let no_iovec = iovec {
            iov_base: ptr::null_mut(),
            iov_len: 0,
        };
        Self {
            bytes_each,
            payloads: vec![0; count * bytes_each],
            sources: vec![SourceMemory::EMPTY; count],
            controls: vec![ControlMemory::EMPTY; count],
            iovecs: vec![no_iovec; count],
            headers: vec![messages::zeroed(); count],
        }
    }

    /// Returns the number of datagrams that fit.
    pub fn capacity(&self) -> usize {
        self.headers.len()
    }

    /// Takes the datagrams that are there, without waiting, and returns their number.
    ///
    /// # Errors
    /// Returns the error of the system call: `EAGAIN` if there are none.
    pub fn receive(&mut self, socket: &UdpSocket) -> io::Result<usize> {
        self.write_headers();
        // MSG_TRUNC: the length is that of the datagram, even if it does not fit (udp(7)).
        let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
        let (headers, count) = (self.headers.as_mut_ptr(), self.headers.len());
        #[expect(unsafe_code, reason = "the call takes an array of raw headers")]
        // SAFETY: the count is that of the headers. They point to memory that `self` owns, that does not move during
        // the call and that has the stated lengths; any bytes are valid there (recvmmsg(2)).
        unsafe {
            messages::receive_many(socket, headers, count, flags)
        }
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "musl counts these few bytes in 32 bits"
    )]
    fn write_headers(&mut self) {
        let payloads = self.payloads.chunks_exact_mut(self.bytes_each);
        let buffers = payloads.zip(&mut self.sources).zip(&mut self.controls);
        let headers = self.headers.iter_mut().zip(&mut self.iovecs);
        for ((header, iovec), ((payload, source), control)) in headers.zip(buffers) {
            iovec.iov_base = payload.as_mut_ptr().cast::<c_void>();
            iovec.iov_len = payload.len();
            let header = &mut header.msg_hdr;
            header.msg_iov = iovec;
            header.msg_iovlen = 1;
            header.msg_name = ptr::from_mut(source).cast::<c_void>();
            header.msg_namelen = SourceMemory::BYTES;
            header.msg_control = control.0.as_mut_ptr().cast::<c_void>();
            header.msg_controllen = control.0.len() as _;
        }
    }

    /// Returns a datagram of the last call by its number in it.
    pub fn datagram(&self, n: usize) -> Stamped<'_> {
        let header = &self.headers[n];
        let bytes = header.msg_len;
        let kept = (bytes as usize).min(self.bytes_each);
        #[allow(
            clippy::unnecessary_cast,
            reason = "its type differs between C libraries"
        )]
        let control_bytes = header.msg_hdr.msg_controllen as usize;
        let control = &self.controls[n].0;
        let mut stamped = Stamped {
            source: self.sources[n].address(),
            interface: 0,
            bytes,
            payload: &self.payloads[n * self.bytes_each..][..kept],
            arrived_ns: None,
            dropped_before: None,
        };
        stamped.read_control(&control[..control_bytes.min(control.len())]);
        stamped
    }
}

impl Stamped<'_> {
    /// Reads control messages (cmsg(3)).
    fn read_control(&mut self, control: &[u8]) {
        for message in ControlMessages(control) {
            self.arrived_ns = message.arrived_ns().or(self.arrived_ns);
            self.dropped_before = message.dropped_before().or(self.dropped_before);
            self.interface = message.interface().unwrap_or(self.interface);
        }
    }
}

#[cfg(test)]
mod tests;
