//! Sizes of socket buffers: SO_RCVBUF and SO_SNDBUF, or their FORCE variants where that is permitted (socket(7)).

use std::io;
use std::os::fd::AsFd;

use nix::sys::socket::sockopt::{RcvBuf, RcvBufForce, SndBuf, SndBufForce};
use nix::sys::socket::{getsockopt, setsockopt};

/// Returns whether this process may set a receive buffer of this size beyond the limits. Sets it if so.
pub fn may_force(socket: &impl AsFd, bytes: usize) -> bool {
    setsockopt(socket, RcvBufForce, &bytes).is_ok()
}

/// Returns the largest receive buffer that this socket is granted without privilege, in bytes. Sets it.
///
/// The kernel takes requests above `net.core.rmem_max` for that limit, and grants the double of it (socket(7)).
pub fn most_receive(socket: &impl AsFd) -> Option<u64> {
    /// More does not fit into the number that the kernel doubles.
    const MOST: usize = 1 << 30;
    setsockopt(socket, RcvBuf, &MOST).ok()?;
    let granted = getsockopt(socket, RcvBuf).ok()?;
    u64::try_from(granted / 2).ok()
}

/// Sets the receive buffer to this number of bytes: beyond `net.core.rmem_max` with CAP_NET_ADMIN, else up to it.
///
/// # Errors
/// Returns the error of the system call.
pub fn set_receive(socket: &impl AsFd, bytes: usize) -> io::Result<()> {
    let forced = setsockopt(socket, RcvBufForce, &bytes);
    Ok(forced.or_else(|_| setsockopt(socket, RcvBuf, &bytes))?)
}

/// Sets the send buffer to this number of bytes: beyond `net.core.wmem_max` with CAP_NET_ADMIN, else up to it.
///
/// # Errors
/// Returns the error of the system call.
pub fn set_send(socket: &impl AsFd, bytes: usize) -> io::Result<()> {
    let forced = setsockopt(socket, SndBufForce, &bytes);
    Ok(forced.or_else(|_| setsockopt(socket, SndBuf, &bytes))?)
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    #[test]
    fn what_is_tried_is_what_the_file_of_the_limit_says() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let most = most_receive(&socket).expect("it is granted something");
        // Containers of some kernels have no such file.
        if let Ok(limit) = std::fs::read_to_string("/proc/sys/net/core/rmem_max") {
            let limit: u64 = limit.trim().parse().expect("a number");
            assert_eq!(most, limit.min((1 << 30) - 1));
        }
    }
}
