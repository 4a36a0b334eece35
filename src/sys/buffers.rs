//! Buffers of sockets: SO_RCVBUF and SO_SNDBUF, by force where that is permitted (socket(7)).

use std::io;
use std::os::fd::AsFd;

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::{RcvBuf, RcvBufForce, SndBuf, SndBufForce};

use crate::case::Buffer;

/// Whether this process may exceed the limits.
pub fn may_force(socket: &impl AsFd) -> bool {
    setsockopt(socket, RcvBufForce, &Buffer::DEFAULT.bytes()).is_ok()
}

/// Asks for a receive buffer: beyond `net.core.rmem_max` with CAP_NET_ADMIN, else up to it.
///
/// # Errors
/// What the system said.
pub fn set_receive(socket: &impl AsFd, buffer: Buffer) -> io::Result<()> {
    let forced = setsockopt(socket, RcvBufForce, &buffer.bytes());
    Ok(forced.or_else(|_| setsockopt(socket, RcvBuf, &buffer.bytes()))?)
}

/// Asks for a send buffer: beyond `net.core.wmem_max` with CAP_NET_ADMIN, else up to it.
///
/// # Errors
/// What the system said.
pub fn set_send(socket: &impl AsFd, buffer: Buffer) -> io::Result<()> {
    let forced = setsockopt(socket, SndBufForce, &buffer.bytes());
    Ok(forced.or_else(|_| setsockopt(socket, SndBuf, &buffer.bytes()))?)
}
