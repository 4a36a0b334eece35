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

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;
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
}
