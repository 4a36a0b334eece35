//! UDP checksums of a socket (udp(7), `udp_lib_setsockopt` in net/ipv4/udp.c).

use std::ffi::c_int;
use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;

use super::switch::set;

/// `UDP_NO_CHECK6_TX` and `UDP_NO_CHECK6_RX` of include/uapi/linux/udp.h, which libc lacks.
const NO_CHECK6_TX: c_int = 101;
const NO_CHECK6_RX: c_int = 102;
const ON: c_int = 1;

/// Has a socket send datagrams without a checksum. `ip`: its own address.
///
/// # Errors
/// Returns the error of the system call.
pub fn leave_out(socket: &impl AsFd, ip: IpAddr) -> io::Result<()> {
    match ip {
        IpAddr::V4(_) => set(socket, libc::SOL_SOCKET, libc::SO_NO_CHECK, &ON),
        IpAddr::V6(_) => set(socket, libc::SOL_UDP, NO_CHECK6_TX, &ON),
    }
}

/// Has a socket accept datagrams without a checksum. Over IPv4 each does; over IPv6 the kernel drops them otherwise.
///
/// # Errors
/// Returns the error of the system call.
pub fn accept_none(socket: &impl AsFd, ip: IpAddr) -> io::Result<()> {
    match ip {
        IpAddr::V4(_) => Ok(()),
        IpAddr::V6(_) => set(socket, libc::SOL_UDP, NO_CHECK6_RX, &ON),
    }
}
