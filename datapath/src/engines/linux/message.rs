//! Sends one message with control messages (sendmsg(2)).

use std::ffi::c_int;
use std::io::{self, IoSlice};
use std::os::fd::AsFd;

use socket2::{MsgHdr, SockAddr, SockRef};

/// Sends `payload` with control messages to `peer` or, if `None`, over a connected socket. Returns the number of bytes.
///
/// # Errors
/// Returns the error of the system call.
#[inline]
pub fn send_message(
    socket: &impl AsFd,
    payload: &[u8],
    peer: Option<&SockAddr>,
    controls: &[u8],
    flags: c_int,
) -> io::Result<usize> {
    let payload = [IoSlice::new(payload)];
    let message = MsgHdr::new().with_buffers(&payload);
    let message = match peer {
        Some(peer) => message.with_addr(peer),
        None => message,
    };
    // A pointer to no messages would be one to nothing.
    let message = if controls.is_empty() {
        message
    } else {
        message.with_control(controls)
    };
    SockRef::from(socket).sendmsg(&message, flags)
}
