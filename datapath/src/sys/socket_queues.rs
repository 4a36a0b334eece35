//! Receive and send queues of a socket: their fill, their memory, and the datagrams that the kernel dropped.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::MetadataExt;

use libc::{Ioctl, c_int};
use nix::errno::Errno;

use super::socket_options::numbers_of;
use super::udp_sockets;

/// Receive queue of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveQueue {
    /// Memory that it takes up, in bytes.
    pub queued_bytes: u32,
    /// Limit of `queued_bytes`: twice the `SO_RCVBUF` that was set.
    pub buffer_bytes: u32,
    /// Datagrams that the socket has dropped since it was made. The kernel keeps 32 bits.
    pub drops: u32,
}

/// Returns the receive queue of a socket, by one system call.
///
/// # Errors
/// Fails before Linux 4.12.
pub fn receive_queue(socket: &UdpSocket) -> io::Result<ReceiveQueue> {
    // The array of `SO_MEMINFO` (`include/uapi/linux/sock_diag.h`), up to the drops.
    let [queued_bytes, buffer_bytes, .., drops]: [u32; 9] =
        numbers_of(socket, libc::SOL_SOCKET, libc::SO_MEMINFO)?;
    Ok(ReceiveQueue {
        queued_bytes,
        buffer_bytes,
        drops,
    })
}

/// Returns the datagrams that this socket has dropped since it was made, for any reason.
///
/// The kernel keeps 32 bits: differences must be taken wrapping.
///
/// # Errors
/// Fails if the kernel offers neither `SO_MEMINFO` (Linux 4.12) nor `/proc/net/udp`.
pub fn socket_drops(socket: &UdpSocket) -> io::Result<u32> {
    let queue = receive_queue(socket);
    queue
        .map(|queue| queue.drops)
        .or_else(|_| proc_drops(socket))
}

/// Returns whether the drops of a single socket can be read (`SO_MEMINFO`). Otherwise the list of all sockets is read
/// for each socket (`/proc/net/udp`).
pub fn can_read_socket_drops() -> bool {
    UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).is_ok_and(|socket| receive_queue(&socket).is_ok())
}

/// Measures the memory that a datagram of this payload takes up in the receive queue of a socket on loopback, in bytes
/// (`truesize` in the kernel). Drivers of other interfaces may allocate more.
///
/// # Errors
/// Fails before Linux 4.12, or if a socket fails.
fn truesize(payload_bytes: usize) -> io::Result<u32> {
    let receiver = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    sender.connect(receiver.local_addr()?)?;
    sender.send(&vec![0; payload_bytes])?;
    Ok(receive_queue(&receiver)?.queued_bytes)
}

/// Measures the memory per datagram for each of these payloads, in bytes (`truesize` in the kernel). A payload is left
/// out if its measurement fails.
pub fn truesizes(payloads: impl IntoIterator<Item = u32>) -> BTreeMap<u32, u32> {
    let known = |payload: u32| Some((payload, truesize(payload as usize).ok()?));
    payloads.into_iter().filter_map(known).collect()
}

/// Number of lists after which a socket that is in none of them is taken to be in another table.
const READS: u32 = 25;

/// Returns the drops of the socket in the table of all sockets, where it is found by its inode (proc_net(5)).
fn proc_drops(socket: &UdpSocket) -> io::Result<u32> {
    let inode = fs::metadata(format!("/proc/self/fd/{}", socket.as_raw_fd()))?.ino();
    for _ in 0..READS {
        let mut all = udp_sockets::of_process("thread-self")?.into_iter();
        if let Some(found) = all.find(|it| u64::from(it.inode) == inode) {
            return Ok(found.drops);
        }
    }
    let missing = "/proc/net/udp does not list the socket or its drops";
    Err(io::Error::new(io::ErrorKind::Unsupported, missing))
}

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
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// Compares both sources for a socket whose queue has overflowed: they must agree on a number above 0.
    #[test]
    fn both_sources_agree() {
        for loopback in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(receiver) = UdpSocket::bind(loopback) else {
                continue; // no IPv6 here
            };
            let sender = UdpSocket::bind(loopback).expect("as the first");
            let peer = receiver.local_addr().expect("bound");
            for _ in 0..2000 {
                sender.send_to(&[0; 1400], peer).expect("loopback takes it");
            }
            let dropped = proc_drops(&receiver).expect("/proc/net/udp lists it");
            assert!(dropped > 0);
            if let Ok(queue) = receive_queue(&receiver) {
                assert_eq!(queue.drops, dropped);
            }
        }
    }

    #[test]
    fn sockets_that_come_and_go_hide_none_that_stays() {
        let stays = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let bind = |_| UdpSocket::bind("127.0.0.1:0").expect("a port is free");
                    drop((0..200).map(bind).collect::<Vec<_>>());
                }
            });
            let found = (0..300).all(|_| proc_drops(&stays).is_ok());
            over.store(true, Ordering::Relaxed);
            assert!(found);
        });
    }

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
