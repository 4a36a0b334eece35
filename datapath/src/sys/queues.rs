//! What waits in the queue of a connection.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use libc::{Ioctl, c_int};

/// Bytes that can be read: of a socket that keeps messages apart, those of the first (`SIOCINQ`, tcp(7), unix(7)).
///
/// # Errors
/// What the system said.
#[expect(unsafe_code, reason = "no wrapper knows this request")]
pub fn received(socket: &OwnedFd) -> io::Result<u64> {
    let mut bytes: c_int = 0;
    // SAFETY: the descriptor is open, and the kernel writes one int.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::FIONREAD as Ioctl, &raw mut bytes) };
    if done == 0 {
        Ok(bytes.try_into().unwrap_or(0))
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn what_was_written_and_not_read_is_in_the_queue() {
        let (mut here, mut there) = UnixStream::pair().expect("a pair");
        let into = OwnedFd::from(there.try_clone().expect("again"));
        assert_eq!(received(&into).ok(), Some(0));
        here.write_all(b"seven B").expect("there is room");
        assert_eq!(received(&into).ok(), Some(7));
        there.read_exact(&mut [0; 7]).expect("they are there");
        assert_eq!(received(&into).ok(), Some(0));
    }
}
