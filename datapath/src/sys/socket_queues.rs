//! Fill of a socket's receive and send queue.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use libc::{Ioctl, c_int};
use nix::errno::Errno;

/// Returns the bytes that can be read from a socket. If the socket keeps messages apart, these are the bytes of the
/// first message (`FIONREAD`, which tcp(7) and unix(7) call `SIOCINQ`).
///
/// # Errors
/// Returns the error of the system call.
pub fn receive_queue_bytes(socket: &impl AsFd) -> io::Result<u64> {
    bytes(socket, libc::FIONREAD as Ioctl)
}

/// Returns the bytes of the send buffer that are in use (`TIOCOUTQ`, which udp(7) and tcp(7) call `SIOCOUTQ`). For
/// datagrams, they include the kernel's overhead.
///
/// # Errors
/// Returns the error of the system call.
pub fn send_queue_bytes(socket: &impl AsFd) -> io::Result<u64> {
    bytes(socket, libc::TIOCOUTQ as Ioctl)
}

/// Returns the count of bytes that a request writes.
#[expect(
    unsafe_code,
    reason = "the ioctl macros of nix make unsafe functions as well"
)]
fn bytes(socket: &impl AsFd, request: Ioctl) -> io::Result<u64> {
    let mut bytes: c_int = 0;
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the descriptor is open, and the kernel writes one int for both requests.
    let done = unsafe { libc::ioctl(fd, request, &raw mut bytes) };
    Errno::result(done)?;
    Ok(bytes.try_into().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::{UnixDatagram, UnixStream};

    use super::*;

    #[test]
    fn what_was_written_and_not_read_is_in_the_queue() {
        let (mut here, mut there) = UnixStream::pair().expect("a pair");
        let into = OwnedFd::from(there.try_clone().expect("again"));
        assert_eq!(receive_queue_bytes(&into).ok(), Some(0));
        here.write_all(b"seven B").expect("there is room");
        assert_eq!(receive_queue_bytes(&into).ok(), Some(7));
        there.read_exact(&mut [0; 7]).expect("they are there");
        assert_eq!(receive_queue_bytes(&into).ok(), Some(0));
    }

    #[test]
    fn what_the_other_end_has_not_read_is_not_sent() {
        let (near, _far) = UnixDatagram::pair().expect("a pair");
        assert_eq!(send_queue_bytes(&near).ok(), Some(0));
        near.send(&[0; 500]).expect("there is room");
        assert!(send_queue_bytes(&near).is_ok_and(|bytes| bytes >= 500));
    }
}
