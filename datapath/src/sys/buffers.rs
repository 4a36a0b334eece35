//! Buffers of sockets: SO_RCVBUF and SO_SNDBUF, by force where that is permitted (socket(7)).

use std::io;
use std::os::fd::AsFd;

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::{RcvBuf, RcvBufForce, SndBuf, SndBufForce};

/// Whether this process may have a receive buffer of so many bytes, whatever the limits say.
pub fn may_force(socket: &impl AsFd, bytes: usize) -> bool {
    setsockopt(socket, RcvBufForce, &bytes).is_ok()
}

/// Asks for a receive buffer of so many bytes: beyond `net.core.rmem_max` with CAP_NET_ADMIN, else up to it.
///
/// # Errors
/// The error of the system call.
pub fn set_receive(socket: &impl AsFd, bytes: usize) -> io::Result<()> {
    let forced = setsockopt(socket, RcvBufForce, &bytes);
    Ok(forced.or_else(|_| setsockopt(socket, RcvBuf, &bytes))?)
}

/// Asks for a send buffer of so many bytes: beyond `net.core.wmem_max` with CAP_NET_ADMIN, else up to it.
///
/// # Errors
/// The error of the system call.
pub fn set_send(socket: &impl AsFd, bytes: usize) -> io::Result<()> {
    let forced = setsockopt(socket, SndBufForce, &bytes);
    Ok(forced.or_else(|_| setsockopt(socket, SndBuf, &bytes))?)
}
