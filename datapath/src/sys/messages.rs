//! sendmmsg(2), recvmmsg(2) and recvmsg(2) as the kernel has them, without the C library's functions of these names,
//! and source addresses in the bytes that the kernel writes.
//!
//! Static programs use musl, whose functions do something else:
//!
//! - On 64 bits its `sendmmsg` is a loop over sendmsg(2): POSIX has `msg_iovlen` and `msg_controllen` in 32 bits, the
//!   kernel in 64, so musl would have to change the caller's headers (musl, `src/network/sendmmsg.c`). Here both halves
//!   of each field are zero from the start ([`zeroed`]), and the kernel reads the headers as they are.
//! - On 64 bits its `recvmmsg` writes that padding again at each call, and its `recvmsg` copies the header twice.
//! - On 32 bits its `recvmmsg` tries a call that only Linux 5.1 has, and makes a second one before that.
//!
//! The functions of glibc make the same calls as these. Other calls of the timed loops are left to the libraries that
//! are measured: theirs are one system call each, in musl, too (`scripts/system_calls.py` counts them). musl has no
//! `sched_setscheduler` and `sched_getparam` (ENOSYS): see [`super::scheduling`].

use std::ffi::{c_int, c_long};
use std::io;
use std::mem;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};
use std::os::fd::AsRawFd;
use std::ptr;

use libc::{mmsghdr, msghdr};

/// Returns a header of zeros, padding included. A literal is not possible, since musl's type has private padding.
pub fn zeroed() -> mmsghdr {
    #[expect(unsafe_code, reason = "padding differs between C libraries")]
    // SAFETY: the structure holds integers and pointers, for which zeros are valid.
    unsafe {
        mem::zeroed()
    }
}

/// Sends `count` messages in one call, the kernel at most 1024 (UIO_MAXIOV). Returns how many were sent.
///
/// # Errors
/// Returns the error of the system call if not even the first message could be sent.
///
/// # Safety
/// `headers` leads to `count` headers made by [`zeroed`], which point to memory as sendmmsg(2) describes. The kernel
/// writes `msg_len` of each header.
#[expect(unsafe_code, reason = "the call takes an array of raw headers")]
#[inline]
pub unsafe fn send_many(
    socket: &UdpSocket,
    headers: *mut mmsghdr,
    count: usize,
) -> io::Result<usize> {
    let socket = c_long::from(socket.as_raw_fd());
    // SAFETY: the caller's promise.
    checked(unsafe { libc::syscall(libc::SYS_sendmmsg, socket, headers, count, NO_FLAGS) })
}

/// Receives up to `count` messages in one call, and returns their number. `flags` as in recvmmsg(2); no time-out.
///
/// # Errors
/// Returns the error of the system call if nothing was received.
///
/// # Safety
/// `headers` leads to `count` headers made by [`zeroed`], which point to memory of the stated lengths, in which any
/// bytes are valid (recvmmsg(2)).
#[expect(unsafe_code, reason = "the call takes an array of raw headers")]
#[inline]
pub unsafe fn receive_many(
    socket: &UdpSocket,
    headers: *mut mmsghdr,
    count: usize,
    flags: c_int,
) -> io::Result<usize> {
    let socket = c_long::from(socket.as_raw_fd());
    // The old call, which every kernel has: without a time-out, the size of its time does not matter.
    let call = libc::SYS_recvmmsg;
    let (flags, no_timeout) = (c_long::from(flags), ptr::null_mut::<libc::timespec>());
    // SAFETY: the caller's promise.
    checked(unsafe { libc::syscall(call, socket, headers, count, flags, no_timeout) })
}

/// Receives one message, and returns its length in bytes.
///
/// # Errors
/// Returns the error of the system call.
///
/// # Safety
/// `header` is part of one made by [`zeroed`], and points to memory of the stated lengths, in which any bytes are valid
/// (recvmsg(2)).
#[expect(unsafe_code, reason = "the call takes a raw header")]
#[inline]
pub unsafe fn receive_one(socket: &UdpSocket, header: *mut msghdr) -> io::Result<usize> {
    let socket = c_long::from(socket.as_raw_fd());
    // SAFETY: the caller's promise.
    checked(unsafe { libc::syscall(libc::SYS_recvmsg, socket, header, NO_FLAGS) })
}

const NO_FLAGS: c_long = 0;

#[inline]
fn checked(returned: c_long) -> io::Result<usize> {
    usize::try_from(returned).map_err(|_| io::Error::last_os_error())
}

/// Memory for any socket address (struct sockaddr_storage, sockaddr(3type)).
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub struct SourceMemory([u8; SourceMemory::BYTES as usize]);

impl SourceMemory {
    /// Size in bytes.
    pub const BYTES: u32 = 128;
    /// Memory into which nothing has been written yet.
    pub const EMPTY: Self = Self([0; Self::BYTES as usize]);

    /// Returns the address that the kernel wrote. `None`: it is neither IPv4 nor IPv6.
    pub fn address(&self) -> Option<SocketAddr> {
        read_address(&self.0)
    }
}

/// Returns the address in a `sockaddr_in` (ip(7)) or a `sockaddr_in6` (ipv6(7)).
pub fn read_address(name: &[u8]) -> Option<SocketAddr> {
    let family = u16::from_ne_bytes(field(name, 0)?);
    let port = u16::from_be_bytes(field(name, 2)?);
    match i32::from(family) {
        libc::AF_INET => Some((Ipv4Addr::from(field::<4>(name, 4)?), port).into()),
        libc::AF_INET6 => {
            let flow = u32::from_ne_bytes(field(name, 4)?);
            let scope = u32::from_ne_bytes(field(name, 24)?);
            let ip = Ipv6Addr::from(field::<16>(name, 8)?);
            Some(SocketAddrV6::new(ip, port, flow, scope).into())
        }
        _ => None,
    }
}

/// Reads `N` bytes from byte `at` on. `None`: there are fewer.
pub(super) fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use socket2::{SockAddr, SockAddrStorage};

    use super::*;

    #[test]
    fn an_address_is_read_as_the_kernel_writes_it() {
        for text in ["127.0.0.1:7", "[::1]:7", "[fe80::1%3]:65535"] {
            let address: SocketAddr = text.parse().expect("an address");
            let storage = SockAddr::from(address).as_storage();
            let mut source = SourceMemory::EMPTY;
            #[expect(unsafe_code, reason = "the kernel's part")]
            // SAFETY: both types have the same size, and any bytes are valid.
            unsafe {
                let room = std::ptr::from_mut(&mut source).cast::<SockAddrStorage>();
                room.write(storage);
            }
            assert_eq!(source.address(), Some(address));
        }
        assert_eq!(SourceMemory::EMPTY.address(), None);
        assert_eq!(read_address(&[2, 0, 0, 7, 127]), None, "cut off");
    }
}
