//! Sends without a copy (MSG_ZEROCOPY, Linux 5.0 for UDP): the kernel reads a datagram from the program's memory until
//! a completion in the socket's error queue tells that the memory is free again (Documentation/networking/msg_zerocopy.rst).

use std::io::{self, IoSliceMut};
use std::mem;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use nix::cmsg_space;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
use socket2::{SockAddr, SockRef};

use crate::engine::payload::Fill;
use crate::sys::switch::switch_on;

/// `SO_ZEROCOPY` (include/uapi/asm-generic/socket.h), which libc lacks.
const SO_ZEROCOPY: libc::c_int = 60;
/// `SO_EE_ORIGIN_ZEROCOPY` (include/uapi/linux/errqueue.h): distinguishes completions from errors in their queue.
const ORIGIN_ZEROCOPY: u8 = 5;
/// `SO_EE_CODE_ZEROCOPY_COPIED` (include/uapi/linux/errqueue.h): the kernel copied the datagrams after all.
const COPIED: u8 = 1;

/// Maximum number of buffers. A power of two, like any smaller number of them: the numbers of calls wrap at 2^32.
const MOST_BUFFERS: usize = 256;
/// Minimum number of buffers.
const FEWEST_BUFFERS: usize = 16;
/// Memory of all buffers that is not exceeded unless there would be too few of them, in bytes: about what a second-level
/// cache holds.
const MOST_BYTES: usize = 1 << 20;
const PAGE_BYTES: usize = 4096;
/// Time for the last completions when the ring is dropped.
const PATIENCE: Duration = Duration::from_secs(1);

/// Lets calls of a socket send without a copy.
///
/// # Errors
/// Fails before Linux 5.0.
pub fn allow(socket: &impl AsFd) -> io::Result<()> {
    switch_on(socket, libc::SOL_SOCKET, SO_ZEROCOPY)
}

/// Completed calls, and how many of them the kernel copied.
///
/// The kernel joins the completions of consecutive calls and keeps the code of the first one, so a mixture is known
/// approximately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completed {
    /// Completed calls.
    pub calls: u64,
    /// Those of them that the kernel copied.
    pub copied: u64,
}

/// A socket and a ring of buffers, which are used one after the other, each again only after its completion.
pub struct ZeroCopyRing {
    socket: UdpSocket,
    /// Destination. `None`: the socket is connected.
    peer: Option<SockAddr>,
    /// All buffers. The first one starts at `start`, the others follow each `stride` bytes.
    memory: Vec<u8>,
    start: usize,
    stride: usize,
    /// Bytes that each call sends.
    bytes: usize,
    /// Which buffers the kernel may still read.
    in_flight: Box<[bool]>,
    /// Number that the kernel gives to the next call.
    next: u32,
    /// Calls until completions are read without need.
    until_read: u32,
    controls: Vec<u8>,
    completed: Completed,
}

impl ZeroCopyRing {
    /// Creates buffers for calls of `payload.len()` bytes to `peer` or, if `None`, over a connected socket. Each is
    /// filled with `payload`.
    ///
    /// # Errors
    /// Fails before Linux 5.0.
    pub fn new(socket: UdpSocket, payload: &[u8], peer: Option<SocketAddr>) -> io::Result<Self> {
        allow(&socket)?;
        // A buffer starts a page or does not cross one, so that it takes few fragments of a packet.
        let stride = if payload.len() <= PAGE_BYTES {
            payload.len().next_power_of_two()
        } else {
            payload.len().next_multiple_of(PAGE_BYTES)
        };
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
            memory,
            start,
            stride,
            bytes: payload.len(),
            in_flight: vec![false; buffers].into(),
            next: 0,
            until_read: 1,
            // The message includes the address of an error: room for either family.
            controls: cmsg_space!(libc::sock_extended_err, libc::sockaddr_in6),
            completed: Completed::default(),
        })
    }

    /// Returns the socket.
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Returns the counts of all completions that were read.
    pub fn completed(&self) -> Completed {
        self.completed
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
    #[inline]
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
                let _ = self.poll(PollTimeout::from(10_u8));
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
        self.poll(PollTimeout::NONE)?;
        if self.read()? {
            return Ok(());
        }
        // An ICMP error also ends the wait.
        self.socket.take_error()?.map_or(Ok(()), Err)
    }

    /// Waits for POLLERR, of which poll(2) always tells.
    fn poll(&self, timeout: PollTimeout) -> io::Result<()> {
        let mut set = [PollFd::new(self.socket.as_fd(), PollFlags::empty())];
        Ok(poll(&mut set, timeout).map(drop)?)
    }

    /// Reads a message of the error queue without waiting. Returns whether there was one.
    fn read(&mut self) -> io::Result<bool> {
        let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
        let mut nothing: [IoSliceMut; 0] = [];
        let mut controls = mem::take(&mut self.controls);
        let message = recvmsg::<()>(
            self.socket.as_raw_fd(),
            &mut nothing,
            Some(&mut controls),
            flags,
        );
        let outcome = match message {
            Ok(message) => message.cmsgs().map(|mut all| all.find_map(completion)),
            Err(errno) => Err(errno),
        };
        self.controls = controls;
        match outcome {
            Ok(completion) => {
                if let Some((first, last, code)) = completion {
                    self.complete(first, last, code);
                }
                Ok(true)
            }
            Err(errno) if errno == nix::errno::Errno::EAGAIN => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Notes that the kernel no longer reads the buffers of the calls `first` to `last`.
    fn complete(&mut self, first: u32, last: u32, code: u8) {
        let calls = last.wrapping_sub(first).wrapping_add(1);
        for call in 0..calls.min(MOST_BUFFERS as u32) {
            let buffer = self.buffer(first.wrapping_add(call));
            self.in_flight[buffer] = false;
        }
        self.completed.calls += u64::from(calls);
        if code & COPIED != 0 {
            self.completed.copied += u64::from(calls);
        }
        // The call that has just failed had a number.
        if last.wrapping_sub(self.next) < u32::MAX / 2 {
            self.next = last.wrapping_add(1);
        }
    }
}

/// Returns the numbers of the first and the last completed call, and the code.
fn completion(control: ControlMessageOwned) -> Option<(u32, u32, u8)> {
    match control {
        ControlMessageOwned::Ipv4RecvErr(it, _) | ControlMessageOwned::Ipv6RecvErr(it, _) => {
            let is_completion = it.ee_origin == ORIGIN_ZEROCOPY;
            is_completion.then_some((it.ee_info, it.ee_data, it.ee_code))
        }
        _ => None,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::payload::NoFill;
    use crate::engine::payload::tests::Numbered;

    /// Returns a ring that sends `bytes` bytes to the socket beside it. `None`: this kernel lacks zero copy.
    fn ring_to_receiver(bytes: usize) -> Option<(ZeroCopyRing, UdpSocket)> {
        let bind = || UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        let (socket, receiver) = (bind(), bind());
        let peer = receiver.local_addr().expect("bound");
        socket.connect(peer).expect("loopback works");
        let ring = ZeroCopyRing::new(socket, &vec![7; bytes], None);
        ring.inspect_err(|why| eprintln!("SKIPPED: {why}"))
            .ok()
            .zip(Some(receiver))
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no sockets")]
    fn each_call_is_completed_once_and_over_loopback_copied() {
        let Some((mut ring, receiver)) = ring_to_receiver(100) else {
            return;
        };
        let calls = 3 * MOST_BUFFERS as u64 + 5;
        let mut memory = [0; 200];
        for n in 0..calls {
            let first = (n % 200) as u8;
            let sent = ring.send(&Numbered { first, bytes: 100 });
            assert_eq!(sent.ok(), Some(100));
            assert_eq!(receiver.recv(&mut memory).ok(), Some(100));
            assert_eq!(memory[..100], [first; 100]);
        }
        while ring.in_flight.contains(&true) {
            ring.wait().expect("completions come");
        }
        let copied = calls;
        assert_eq!(ring.completed(), Completed { calls, copied });
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no sockets")]
    fn a_buffer_is_free_only_after_its_completion_in_whatever_order_they_come() {
        let Some((mut ring, _)) = ring_to_receiver(100) else {
            return;
        };
        ring.next = u32::MAX - 1;
        for call in [u32::MAX - 1, u32::MAX, 0, 1] {
            let buffer = ring.buffer(call);
            ring.in_flight[buffer] = true;
        }
        ring.next = 2;
        let in_flight = |ring: &ZeroCopyRing| ring.in_flight.iter().filter(|it| **it).count();
        ring.complete(1, 1, 0);
        assert_eq!((in_flight(&ring), ring.in_flight[1]), (3, false));
        ring.complete(u32::MAX - 1, 0, COPIED);
        assert_eq!((in_flight(&ring), ring.next), (0, 2));
        let completed = Completed {
            calls: 4,
            copied: 3,
        };
        assert_eq!(ring.completed(), completed);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no sockets")]
    fn a_failed_call_with_a_number_is_skipped_and_one_without_is_repeated() {
        let Some((mut ring, receiver)) = ring_to_receiver(100) else {
            return;
        };
        let no_room = || io::Error::from_raw_os_error(libc::ENOBUFS);
        // Nothing is in flight: there is nothing to wait for.
        let refused = ring.recover(no_room()).expect_err("no memory at all");
        assert_eq!(refused.raw_os_error(), Some(libc::ENOMEM));
        // The kernel completes this call before it returns, as one that fails at the interface.
        ring.send(&NoFill).expect("loopback takes it");
        ring.recover(no_room()).expect("it is to be repeated");
        assert_eq!(ring.next, 1);
        ring.send(&NoFill).expect("loopback takes it");
        (ring.next, ring.in_flight) = (1, vec![false; MOST_BUFFERS].into());
        let dropped = ring.recover(no_room()).expect_err("it had a number");
        assert_eq!(dropped.raw_os_error(), Some(libc::ENOBUFS));
        assert_eq!(ring.next, 2);
        drop(receiver);
    }

    #[test]
    fn the_number_of_buffers_is_a_power_of_two_that_fits_the_cache() {
        let buffers = |bytes| {
            let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
            ZeroCopyRing::new(socket, &vec![0; bytes], None).map(|ring| ring.in_flight.len())
        };
        for (bytes, count) in [(0, 256), (26, 256), (1460, 256), (9000, 64), (65_507, 16)] {
            if let Ok(found) = buffers(bytes) {
                assert_eq!(found, count, "{bytes} B");
            }
        }
    }
}
