//! Counts datagrams that the kernel dropped at a socket, and the memory of its receive queue.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;

use libc::{c_void, socklen_t};

/// Indices in the array that `SO_MEMINFO` fills (`include/uapi/linux/sock_diag.h`).
const SK_MEMINFO_RMEM_ALLOC: u8 = 0;
const SK_MEMINFO_RCVBUF: u8 = 1;
const SK_MEMINFO_DROPS: u8 = 8;
/// The array, up to `SK_MEMINFO_DROPS`.
type Meminfo = [u32; SK_MEMINFO_DROPS as usize + 1];

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
    let meminfo = meminfo(socket)?;
    Ok(ReceiveQueue {
        queued_bytes: meminfo[usize::from(SK_MEMINFO_RMEM_ALLOC)],
        buffer_bytes: meminfo[usize::from(SK_MEMINFO_RCVBUF)],
        drops: meminfo[usize::from(SK_MEMINFO_DROPS)],
    })
}

/// Returns the datagrams that this socket has dropped since it was made, for any reason.
///
/// The kernel keeps 32 bits: differences must be taken wrapping.
///
/// # Errors
/// Fails if the kernel offers neither `SO_MEMINFO` (Linux 4.12) nor `/proc/net/udp`.
pub fn socket_drops(socket: &UdpSocket) -> io::Result<u32> {
    meminfo_drops(socket).or_else(|_| proc_drops(socket))
}

/// Returns whether the drops of a single socket can be read (`SO_MEMINFO`). Otherwise the list of all sockets is read
/// for each socket (`/proc/net/udp`).
pub fn can_read_socket_drops() -> bool {
    UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).is_ok_and(|socket| meminfo(&socket).is_ok())
}

/// Returns the memory that the receive queue of this socket takes up, in bytes. 0 once everything has been received.
///
/// # Errors
/// Fails before Linux 4.12.
pub fn queued_bytes(socket: &UdpSocket) -> io::Result<u32> {
    Ok(meminfo(socket)?[usize::from(SK_MEMINFO_RMEM_ALLOC)])
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
    queued_bytes(&receiver)
}

/// Measures the memory per datagram for each of these payloads, in bytes (`truesize` in the kernel). A payload is left
/// out if its measurement fails.
pub fn truesizes(payloads: impl IntoIterator<Item = u32>) -> BTreeMap<u32, u32> {
    let known = |payload: u32| Some((payload, truesize(payload as usize).ok()?));
    payloads.into_iter().filter_map(known).collect()
}

fn meminfo_drops(socket: &UdpSocket) -> io::Result<u32> {
    Ok(meminfo(socket)?[usize::from(SK_MEMINFO_DROPS)])
}

fn meminfo(socket: &UdpSocket) -> io::Result<Meminfo> {
    const BYTES: socklen_t = 4 * (SK_MEMINFO_DROPS as socklen_t + 1);
    let mut meminfo = Meminfo::default();
    let mut length = BYTES;
    #[expect(unsafe_code, reason = "no wrapper knows SO_MEMINFO")]
    // SAFETY: `meminfo` is writable for `length` bytes, the kernel writes no more (getsockopt(2)), and any bit pattern
    // is a valid u32.
    let outcome = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            meminfo.as_mut_ptr().cast::<c_void>(),
            &raw mut length,
        )
    };
    if outcome == -1 {
        return Err(io::Error::last_os_error());
    }
    if length < BYTES {
        return Err(io::ErrorKind::Unsupported.into());
    }
    Ok(meminfo)
}

/// Number of reads of the table after which a socket that none of them lists is taken to be in another table.
const READS: u32 = 100;

/// Returns the last column of the socket's line in `/proc/net/udp`. The line is found by the inode (proc_net(5)).
///
/// The kernel writes the table page by page and finds its place again by counting lines (`udp_get_idx`,
/// net/ipv4/udp.c). If other sockets go away meanwhile, it skips some that are there.
fn proc_drops(socket: &UdpSocket) -> io::Result<u32> {
    let table = match socket.local_addr()? {
        address if address.is_ipv4() => "/proc/net/udp",
        _ => "/proc/net/udp6",
    };
    let inode = fs::metadata(format!("/proc/self/fd/{}", socket.as_raw_fd()))?.ino();
    for _ in 0..READS {
        if let Some(drops) = drops_of_inode(&fs::read_to_string(table)?, inode) {
            return Ok(drops);
        }
    }
    let missing = format!("{table} does not list the socket or its drops");
    Err(io::Error::new(io::ErrorKind::Unsupported, missing))
}

fn drops_of_inode(table: &str, inode: u64) -> Option<u32> {
    const INODE: usize = 9;
    let inode = inode.to_string();
    let line = table
        .lines()
        .find(|line| line.split_whitespace().nth(INODE) == Some(inode.as_str()))?;
    line.split_whitespace().last()?.parse().ok()
}

#[cfg(test)]
mod tests {
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
            if let Ok(meminfo) = meminfo_drops(&receiver) {
                assert_eq!(meminfo, dropped);
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
    fn a_socket_that_is_not_in_the_table_has_no_drops() {
        assert_eq!(drops_of_inode("  sl  local_address rem_address\n", 7), None);
    }
}
