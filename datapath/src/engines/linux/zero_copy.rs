//! Sends without a copy (MSG_ZEROCOPY, Linux 5.0 for UDP): the kernel reads a datagram from the program's memory until
//! a completion in the socket's error queue tells that the memory is free again
//! (Documentation/networking/msg_zerocopy.rst).

use std::io;
use std::mem;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use socket2::{SockAddr, SockRef};

use crate::engine::Remark;
use crate::engine::payload::Fill;
use crate::engines::linux::send_message;
use crate::sys::error_queue::ErrorQueueMemory;
use crate::sys::socket_options;

/// `SO_ZEROCOPY` (include/uapi/asm-generic/socket.h), which libc lacks.
const SO_ZEROCOPY: libc::c_int = 60;
/// `SO_EE_ORIGIN_ZEROCOPY` (include/uapi/linux/errqueue.h): distinguishes completions from errors in their queue.
const ORIGIN_ZEROCOPY: u8 = 5;
/// `SO_EE_CODE_ZEROCOPY_COPIED` (include/uapi/linux/errqueue.h): the kernel copied the datagrams after all.
const COPIED: u8 = 1;
/// Maximum number of buffers. A power of two, like any smaller number of them: the numbers of calls wrap at 2^32.
pub(super) const MOST_BUFFERS: usize = 256;
/// Minimum number of buffers.
const FEWEST_BUFFERS: usize = 16;
/// Memory of all buffers that is not exceeded unless there would be too few of them, in bytes: about what a
/// second-level cache holds.
pub(super) const MOST_BYTES: usize = 1 << 20;
pub(super) const PAGE_BYTES: usize = 4096;
/// Time for the last completions when the ring is dropped.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

/// Returns the distance of buffers for `bytes` bytes each. A buffer starts a page or does not cross one, so that it
/// takes few fragments of a packet.
pub(super) fn stride(bytes: usize) -> usize {
    if bytes <= PAGE_BYTES {
        bytes.next_power_of_two()
    } else {
        bytes.next_multiple_of(PAGE_BYTES)
    }
}

/// A socket and a ring of buffers, which are used one after the other, each again only after its completion.
pub struct ZeroCopyRing {
    socket: UdpSocket,
    /// Destination. `None`: the socket is connected.
    peer: Option<SockAddr>,
    /// Control messages of each call.
    controls: Vec<u8>,
    /// All buffers. The first one starts at `start`, the others follow each `stride` bytes.
    memory: Vec<u8>,
    start: usize,
    stride: usize,
    /// Bytes that each call sends.
    bytes: usize,
    /// Flag of each buffer: true if the kernel may still read it.
    in_flight: Box<[bool]>,
    /// Number that the kernel gives to the next call.
    next: u32,
    /// Calls until completions are read without need.
    until_read: u32,
    error_queue: ErrorQueueMemory,
    /// Counts of all completions that were read.
    pub completed: Completed,
}

impl ZeroCopyRing {
    /// Creates buffers for calls of `payload.len()` bytes to `peer` or, if `None`, over a connected socket. Each is
    /// filled with `payload`. `controls`: the bytes of the control messages of each call.
    ///
    /// # Errors
    /// Fails before Linux 5.0.
    pub fn new(
        socket: UdpSocket,
        payload: &[u8],
        peer: Option<SocketAddr>,
        controls: Vec<u8>,
    ) -> io::Result<Self> {
        socket_options::set(&socket, libc::SOL_SOCKET, SO_ZEROCOPY, &1_i32)?;
        let stride = stride(payload.len());
        let fit = (MOST_BYTES / stride + 1).next_power_of_two() / 2;
        let buffers = fit.clamp(FEWEST_BUFFERS, MOST_BUFFERS);
        let mut memory = vec![0; buffers * stride + PAGE_BYTES];
        let start = memory.as_ptr().align_offset(PAGE_BYTES).min(PAGE_BYTES);
        for buffer in memory[start..].chunks_exact_mut(stride).take(buffers) {
            buffer[..payload.len()].copy_from_slice(payload);
        }
        Ok(Self {
            socket,
            peer: peer.map(SockAddr::from),
            controls,
            memory,
            start,
            stride,
            bytes: payload.len(),
            in_flight: vec![false; buffers].into(),
            next: 0,
            until_read: 1,
            error_queue: ErrorQueueMemory::default(),
            completed: Completed::default(),
        })
    }

    /// Returns the socket.
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Makes each further call send only the first `bytes` of a buffer.
    pub fn shorten(&mut self, bytes: usize) {
        self.bytes = bytes.min(self.bytes);
    }

    /// Fills the next buffer and sends it. Waits for its completion before, if the kernel still reads it. Returns the
    /// number of bytes.
    ///
    /// # Errors
    /// Returns the error of the system call.
    #[inline(always)]
    pub fn send(&mut self, fill: &impl Fill) -> io::Result<usize> {
        self.until_read -= 1;
        if self.until_read == 0 {
            self.read_in_time()?;
        }
        let buffer = self.buffer(self.next);
        while self.in_flight[buffer] {
            self.wait()?;
        }
        let start = self.start + buffer * self.stride;
        let datagram = start..start + self.bytes;
        fill.fill(&mut self.memory[datagram.clone()]);
        loop {
            match self.hand_over(&self.memory[datagram.clone()]) {
                Ok(sent) => {
                    // The kernel does not number calls that send nothing.
                    if sent > 0 {
                        self.in_flight[buffer] = true;
                        self.next = self.next.wrapping_add(1);
                    }
                    return Ok(sent);
                }
                Err(error) => self.recover(error)?,
            }
        }
    }

    /// Waits up to a second until every call is completed. Returns whether it is.
    pub fn settle(&mut self) -> bool {
        let until = Instant::now() + PATIENCE;
        while self.in_flight.contains(&true) {
            if Instant::now() > until {
                return false;
            }
            if !self.read().unwrap_or(false) {
                let _ = wait_for_message(&self.socket, PollTimeout::from(10_u8));
            }
        }
        true
    }

    #[inline]
    fn buffer(&self, call: u32) -> usize {
        call as usize & (self.in_flight.len() - 1)
    }

    #[inline]
    fn hand_over(&self, datagram: &[u8]) -> io::Result<usize> {
        if !self.controls.is_empty() {
            let (peer, controls) = (self.peer.as_ref(), &self.controls);
            return send_message(&self.socket, datagram, peer, controls, libc::MSG_ZEROCOPY);
        }
        let socket = SockRef::from(&self.socket);
        match &self.peer {
            None => socket.send_with_flags(datagram, libc::MSG_ZEROCOPY),
            Some(peer) => socket.send_to_with_flags(datagram, peer, libc::MSG_ZEROCOPY),
        }
    }

    /// Reads one completion, which is usually that of all calls since the last one.
    ///
    /// Soon after the start it reads more often, so that a slow sender also learns whether the kernel copies.
    #[inline(never)]
    fn read_in_time(&mut self) -> io::Result<()> {
        let quarter = self.in_flight.len() / 4;
        self.until_read = self.next.clamp(1, u32::try_from(quarter).unwrap_or(1));
        self.read().map(drop)
    }

    /// Decides after a failed call whether to repeat it: after ENOBUFS, if the reason is the memory for completions
    /// (`net.core.optmem_max`) or for locked pages (RLIMIT_MEMLOCK), of which completions free some.
    ///
    /// A datagram that was dropped later, at the queue of the interface, has a number and a completion, which comes
    /// before the call returns.
    #[cold]
    fn recover(&mut self, error: io::Error) -> io::Result<()> {
        let number = self.next;
        let mut has_read = false;
        while self.read()? {
            has_read = true;
        }
        if error.raw_os_error() != Some(libc::ENOBUFS) || self.next != number {
            return Err(error);
        }
        if has_read {
            return Ok(());
        }
        if !self.in_flight.contains(&true) {
            // ENOBUFS would count as dropped by the interface's queue.
            return Err(io::Error::from_raw_os_error(libc::ENOMEM));
        }
        self.wait()
    }

    /// Waits until there is a completion, and reads it.
    ///
    /// # Errors
    /// Returns the error of poll(2), which includes `EINTR`, or an error of the socket.
    #[cold]
    fn wait(&mut self) -> io::Result<()> {
        if self.read()? {
            return Ok(());
        }
        wait_for_message(&self.socket, PollTimeout::NONE)?;
        if self.read()? {
            return Ok(());
        }
        // An ICMP error also ends the wait.
        self.socket.take_error()?.map_or(Ok(()), Err)
    }

    /// Reads a message of the error queue without waiting. Returns whether there was one.
    fn read(&mut self) -> io::Result<bool> {
        let message = match self.error_queue.read(&self.socket) {
            Err(Errno::EAGAIN) => return Ok(false),
            read => read?,
        };
        // Another origin: an error of the network, such as an ICMP message.
        if let Some(it) = message.error.filter(|it| it.ee_origin == ORIGIN_ZEROCOPY) {
            self.completed.count(it.ee_info, it.ee_data, it.ee_code);
            self.complete(it.ee_info, it.ee_data);
        }
        Ok(true)
    }

    /// Notes that the kernel no longer reads the buffers of the calls `first` to `last`.
    fn complete(&mut self, first: u32, last: u32) {
        let (buffers, first) = (self.in_flight.len(), self.buffer(first));
        let others = self.buffer(last).wrapping_sub(first) & (buffers - 1);
        for n in 0..=others {
            self.in_flight[(first + n) & (buffers - 1)] = false;
        }
        // The call that has just failed had a number.
        if last.wrapping_sub(self.next) < u32::MAX / 2 {
            self.next = last.wrapping_add(1);
        }
    }
}

/// Datagrams that are still on their way must not change: waits for their completions, and if they do not come, leaves
/// the memory behind.
impl Drop for ZeroCopyRing {
    fn drop(&mut self) {
        if !self.settle() {
            mem::forget(mem::take(&mut self.memory));
        }
    }
}

/// Waits until the error queue has a message or the socket an error: for POLLERR, of which poll(2) always tells.
///
/// # Errors
/// Returns the error of poll(2), which includes `EINTR`.
fn wait_for_message(socket: &UdpSocket, timeout: PollTimeout) -> io::Result<()> {
    let mut set = [PollFd::new(socket.as_fd(), PollFlags::empty())];
    Ok(poll(&mut set, timeout).map(drop)?)
}

/// Completed calls, and how many of them the kernel copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completed {
    /// Completed calls.
    pub calls: u64,
    /// Completed calls that the kernel copied.
    pub copied: u64,
}

impl Completed {
    /// Counts the calls with the numbers `first` to `last`. The kernel joins the completions of consecutive calls and
    /// keeps the code of the first one, so a mixture is known approximately.
    fn count(&mut self, first: u32, last: u32, code: u8) {
        let calls = u64::from(last.wrapping_sub(first)) + 1;
        self.calls += calls;
        if code & COPIED != 0 {
            self.copied += calls;
        }
    }

    /// Says in the results row whether the kernel copied. `None`: it copied nothing.
    pub fn remark(self) -> Remark {
        match self {
            Self { copied: 0, .. } => None,
            Self { calls, copied } if calls == copied => Some(
                "zero copy: the kernel copied all datagrams after all, as it does over loopback, veth and interfaces \
                 without checksum offload",
            ),
            Self { .. } => Some("zero copy: the kernel copied some of the datagrams after all"),
        }
    }
}

#[cfg(test)]
mod tests;
