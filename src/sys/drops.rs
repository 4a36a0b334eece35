//! How many datagrams the kernel has dropped at a socket.

use std::fs;
use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;

use libc::{c_void, socklen_t};

/// Index of the drop counter in the array that `SO_MEMINFO` fills (`include/uapi/linux/sock_diag.h`).
const SK_MEMINFO_DROPS: u8 = 8;
/// The array up to there, in bytes.
const MEMINFO_BYTES: socklen_t = 4 * (SK_MEMINFO_DROPS as socklen_t + 1);

/// Datagrams that this socket has dropped since it was made, for whatever reason.
///
/// The kernel keeps 32 bits: differences must be taken wrapping.
///
/// # Errors
/// When the kernel offers neither `SO_MEMINFO` (Linux 4.12) nor `/proc/net/udp`.
pub fn socket_drops(socket: &UdpSocket) -> io::Result<u32> {
    meminfo_drops(socket).or_else(|_| proc_drops(socket))
}

fn meminfo_drops(socket: &UdpSocket) -> io::Result<u32> {
    let mut meminfo = [0_u32; SK_MEMINFO_DROPS as usize + 1];
    let mut length = MEMINFO_BYTES;
    #[expect(unsafe_code, reason = "no wrapper knows SO_MEMINFO")]
    // SAFETY: `meminfo` is writable for `length` bytes, of which the kernel writes at most that many
    // (getsockopt(2)), and any bit pattern is a valid u32.
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
    if length < MEMINFO_BYTES {
        return Err(io::ErrorKind::Unsupported.into());
    }
    Ok(meminfo[usize::from(SK_MEMINFO_DROPS)])
}

/// The last column of the socket's line in `/proc/net/udp`, which is found by the inode (proc_net(5)).
fn proc_drops(socket: &UdpSocket) -> io::Result<u32> {
    let table = match socket.local_addr()? {
        address if address.is_ipv4() => "/proc/net/udp",
        _ => "/proc/net/udp6",
    };
    let inode = fs::metadata(format!("/proc/self/fd/{}", socket.as_raw_fd()))?.ino();
    let text = fs::read_to_string(table)?;
    drops_of_inode(&text, inode)
        .ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, format!("no drops in {table}")))
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
    use super::*;

    /// A socket whose queue has overflowed, so that both sources must say the same, and not 0.
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
    fn a_socket_that_is_not_in_the_table_has_no_drops() {
        assert_eq!(drops_of_inode("  sl  local_address rem_address\n", 7), None);
    }
}
