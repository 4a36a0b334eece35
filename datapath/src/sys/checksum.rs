//! UDP checksums of a socket (udp(7), `udp_lib_setsockopt` in net/ipv4/udp.c).

use std::ffi::{c_int, c_void};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd};

/// `UDP_NO_CHECK6_TX` and `UDP_NO_CHECK6_RX` of include/uapi/linux/udp.h, which libc lacks.
const NO_CHECK6_TX: c_int = 101;
const NO_CHECK6_RX: c_int = 102;

/// Has a socket send datagrams without a checksum. `ip`: its own address.
///
/// # Errors
/// Returns the error of the system call.
pub fn leave_out(socket: &impl AsFd, ip: IpAddr) -> io::Result<()> {
    match ip {
        IpAddr::V4(_) => switch_on(socket, libc::SOL_SOCKET, libc::SO_NO_CHECK),
        IpAddr::V6(_) => switch_on(socket, libc::SOL_UDP, NO_CHECK6_TX),
    }
}

/// Has a socket accept datagrams without a checksum. Over IPv4 each does; over IPv6 the kernel drops them otherwise.
///
/// # Errors
/// Returns the error of the system call.
pub fn accept_none(socket: &impl AsFd, ip: IpAddr) -> io::Result<()> {
    match ip {
        IpAddr::V4(_) => Ok(()),
        IpAddr::V6(_) => switch_on(socket, libc::SOL_UDP, NO_CHECK6_RX),
    }
}

/// Length of an `int`.
const INT_BYTES: libc::socklen_t = 4;

#[expect(unsafe_code, reason = "no wrapper knows these options")]
fn switch_on(socket: &impl AsFd, level: c_int, name: c_int) -> io::Result<()> {
    let on: c_int = 1;
    // SAFETY: the descriptor is open, and the kernel reads an `int` at a valid address.
    let outcome = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            std::ptr::from_ref(&on).cast::<c_void>(),
            INT_BYTES,
        )
    };
    if outcome == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
