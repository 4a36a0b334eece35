//! Linux interfaces used only by engines: calls that move many datagrams, and functions that libraries do not offer.

use std::ffi::c_int;
use std::io::{self, IoSlice};
use std::net::UdpSocket;
use std::ops::{Deref, DerefMut};
use std::os::fd::AsFd;
use std::ptr::NonNull;

use socket2::{MsgHdr, SockAddr, SockRef};

use crate::engine::BatchCount;
use crate::engine::payload::Check;

pub mod coalesced;
pub mod gso;
pub mod receive_batch;
pub mod send_batch;
#[cfg(all(feature = "uring", target_pointer_width = "64"))]
pub mod uring;
pub mod zero_copy;

/// Receives many datagrams per call.
pub trait ReceiveMany: Send {
    /// Receives datagrams in one call, for the first of which it may wait.
    ///
    /// # Errors
    /// Returns the error of the system call if no datagram was received.
    fn receive<C: Check>(&mut self, socket: &UdpSocket, check: &mut C) -> io::Result<BatchCount>;

    /// Tells whether all control messages are as they were sent: see
    /// [`ControlReader::verdict`](crate::engine::ControlReader::verdict).
    ///
    /// # Errors
    /// Fails if one was missing, cut off or wrong.
    fn check_controls(&self) -> io::Result<()>;
}

/// Binds a socket to loopback, to try something.
///
/// # Errors
/// Fails if there is no loopback.
pub fn loopback_socket() -> io::Result<UdpSocket> {
    UdpSocket::bind("127.0.0.1:0").or_else(|_| UdpSocket::bind("[::1]:0"))
}

/// Sends `payload` with control messages to `peer` or, if `None`, over a connected socket. Returns the number of bytes.
///
/// # Errors
/// Returns the error of the system call.
#[inline(never)]
pub fn send_message(
    socket: &impl AsFd,
    payload: &[u8],
    peer: Option<&SockAddr>,
    controls: &[u8],
    flags: c_int,
) -> io::Result<usize> {
    let payload = [IoSlice::new(payload)];
    let mut message = MsgHdr::new().with_buffers(&payload);
    if let Some(peer) = peer {
        message = message.with_addr(peer);
    }
    // A pointer to no messages would be one to nothing.
    if !controls.is_empty() {
        message = message.with_control(controls);
    }
    SockRef::from(socket).sendmsg(&message, flags)
}

/// Memory at a fixed address: pointers into it stay valid when its owner moves.
///
/// By Rust's aliasing rules (Stacked Borrows, which Miri checks), each move of a `Box` and each `&mut` to it
/// invalidates earlier pointers into it. All pointers into this memory derive from one raw pointer, which is created
/// once and which nothing invalidates.
///
/// A fixed number of `T`. Pointers from [`FixedBuffer::at`] are valid while it lives.
struct FixedBuffer<T>(NonNull<[T]>);

impl<T> FixedBuffer<T> {
    fn new(items: impl Into<Box<[T]>>) -> Self {
        Self(NonNull::from(Box::leak(items.into())))
    }

    /// Returns a pointer to item `n`.
    #[inline]
    fn at(&self, n: usize) -> *mut T {
        self.0.as_ptr().cast::<T>().wrapping_add(n)
    }
}

impl<T> Deref for FixedBuffer<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        #[expect(unsafe_code, reason = "the memory is owned by hand")]
        // SAFETY: the memory comes from a leaked box and is freed only with `self`. The kernel writes through a
        // pointer of `at` only during a system call, which has returned.
        unsafe {
            self.0.as_ref()
        }
    }
}

impl<T> DerefMut for FixedBuffer<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        #[expect(unsafe_code, reason = "the memory is owned by hand")]
        // SAFETY: the memory comes from a leaked box and is freed only with `self`. The kernel accesses it only
        // during a system call, which has returned.
        unsafe {
            self.0.as_mut()
        }
    }
}

impl<T> Drop for FixedBuffer<T> {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "the memory is owned by hand")]
        // SAFETY: the memory comes from a leaked box, and nothing else frees it.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

#[expect(unsafe_code, reason = "it owns its memory by a raw pointer")]
// SAFETY: it owns the memory that it points to, like a box.
unsafe impl<T: Send> Send for FixedBuffer<T> {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    use crate::sys::control_messages::push_source;

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no sockets")]
    fn a_datagram_comes_from_the_address_in_its_message() {
        let bind = || UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        let (sender, receiver) = (bind(), bind());
        let to = receiver.local_addr().expect("bound").into();
        let mut source = sender.local_addr().expect("bound");
        let mut room = [0; 9];
        for (octets, has_message) in [([127, 0, 0, 1], false), ([127, 0, 0, 2], true)] {
            let mut controls = Vec::new();
            source.set_ip(octets.into());
            if has_message {
                push_source(&mut controls, source);
            }
            let sent = send_message(&sender, b"abc", Some(&to), &controls, 0);
            assert_eq!(sent.ok(), Some(3));
            assert_eq!(receiver.recv_from(&mut room).ok(), Some((3, source)));
        }
    }

    #[test]
    fn a_pointer_outlives_moves_and_borrows_of_its_owner() {
        let mut letters = FixedBuffer::new(*b"abc");
        let second = letters.at(1);
        letters[1] = b'x';
        let letters = Box::new(letters);
        #[expect(unsafe_code, reason = "the test is about it")]
        // SAFETY: `letters` lives.
        unsafe {
            assert_eq!(*second, b'x');
            *second = b'y';
        }
        assert_eq!(letters[..], *b"ayc");
    }

    #[test]
    fn empty_memory_has_an_address() {
        let nothing = FixedBuffer::<u8>::new([]);
        assert!(nothing.is_empty() && !nothing.at(0).is_null());
    }
}
