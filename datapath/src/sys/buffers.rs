//! Sizes of socket buffers: SO_RCVBUF and SO_SNDBUF, or their FORCE variants where that is permitted (socket(7)).

use std::io;
use std::os::fd::AsFd;

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::{RcvBuf, RcvBufForce, SndBuf, SndBufForce};

/// Returns whether this process may set a receive buffer of this size beyond the limits. Sets it if so.
pub fn may_force(socket: &impl AsFd, bytes: usize) -> bool {
    setsockopt(socket, RcvBufForce, &bytes).is_ok()
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
