//! Socket options: those that no wrapper knows, and those that depend on permissions or on the version of IP.

use std::ffi::{c_int, c_void};
use std::io;
use std::mem;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::ptr;

use libc::{group_req, group_source_req, sockaddr_storage, socklen_t};
use nix::errno::Errno;
use nix::sys::socket::sockopt::{RcvBuf, RcvBufForce, SndBuf, SndBufForce};
use nix::sys::socket::{SockaddrLike, SockaddrStorage, getsockopt, setsockopt};
use socket2::SockRef;

/// Sets an option of a socket.
///
/// # Errors
/// Returns the error of setsockopt(2).
pub(crate) fn set<T>(socket: &impl AsFd, level: c_int, name: c_int, value: &T) -> io::Result<()> {
    let bytes = socklen_t::try_from(size_of::<T>()).map_err(io::Error::other)?;
    let (fd, value) = (socket.as_fd().as_raw_fd(), ptr::from_ref(value));
    #[expect(unsafe_code, reason = "no wrapper knows these options")]
    // SAFETY: the descriptor is open, and the kernel copies `bytes` bytes from a valid address.
    let outcome = unsafe { libc::setsockopt(fd, level, name, value.cast::<c_void>(), bytes) };
    Ok(Errno::result(outcome).map(drop)?)
}

/// Returns the number that an option of a socket has.
///
/// # Errors
/// Returns the error of getsockopt(2).
pub(crate) fn number_of(socket: &impl AsFd, level: c_int, name: c_int) -> io::Result<u32> {
    let [number] = numbers_of(socket, level, name)?;
    Ok(number)
}

/// Returns the numbers that an option of a socket has.
///
/// # Errors
/// Returns the error of getsockopt(2), or `Unsupported` if the kernel has fewer numbers.
pub(crate) fn numbers_of<const N: usize>(
    socket: &impl AsFd,
    level: c_int,
    name: c_int,
) -> io::Result<[u32; N]> {
    let mut numbers = [0; N];
    let most = socklen_t::try_from(size_of_val(&numbers)).map_err(io::Error::other)?;
    let mut bytes = most;
    let (fd, memory) = (socket.as_fd().as_raw_fd(), numbers.as_mut_ptr());
    #[expect(unsafe_code, reason = "no wrapper knows these options")]
    // SAFETY: the descriptor is open, and the kernel writes at most `bytes` bytes, which `numbers` has (getsockopt(2)).
    let outcome =
        unsafe { libc::getsockopt(fd, level, name, memory.cast::<c_void>(), &raw mut bytes) };
    Errno::result(outcome)?;
    if bytes < most {
        return Err(io::ErrorKind::Unsupported.into());
    }
    Ok(numbers)
}

/// Returns whether this process may set a receive buffer of this size beyond the limits. Sets it if so.
pub fn may_force_receive_buffer(socket: &impl AsFd, bytes: usize) -> bool {
    setsockopt(socket, RcvBufForce, &bytes).is_ok()
}

/// Returns the largest receive buffer that this socket is granted without privilege, in bytes. Sets it.
///
/// The kernel takes requests above `net.core.rmem_max` for that limit, and grants the double of it (socket(7)).
pub fn most_receive_buffer(socket: &impl AsFd) -> Option<u64> {
    /// More does not fit into the number that the kernel doubles.
    const MOST: usize = 1 << 30;
    setsockopt(socket, RcvBuf, &MOST).ok()?;
    let granted = getsockopt(socket, RcvBuf).ok()?;
    u64::try_from(granted / 2).ok()
}

/// Sets the receive buffer to this number of bytes: beyond `net.core.rmem_max` with CAP_NET_ADMIN, else up to it.
///
/// # Errors
/// Returns the error of the system call.
pub fn set_receive_buffer(socket: &impl AsFd, bytes: usize) -> io::Result<()> {
    let forced = setsockopt(socket, RcvBufForce, &bytes);
    Ok(forced.or_else(|_| setsockopt(socket, RcvBuf, &bytes))?)
}

/// Sets the send buffer to this number of bytes: beyond `net.core.wmem_max` with CAP_NET_ADMIN, else up to it.
///
/// # Errors
/// Returns the error of the system call.
pub fn set_send_buffer(socket: &impl AsFd, bytes: usize) -> io::Result<()> {
    let forced = setsockopt(socket, SndBufForce, &bytes);
    Ok(forced.or_else(|_| setsockopt(socket, SndBuf, &bytes))?)
}

/// `UDP_NO_CHECK6_TX` and `UDP_NO_CHECK6_RX` of include/uapi/linux/udp.h, which libc lacks.
const NO_CHECK6_TX: c_int = 101;
const NO_CHECK6_RX: c_int = 102;
const ON: c_int = 1;

/// Has a socket send datagrams without a checksum. `ip`: its own address.
///
/// # Errors
/// Returns the error of the system call.
pub fn leave_out_checksum(socket: &impl AsFd, ip: IpAddr) -> io::Result<()> {
    match ip {
        IpAddr::V4(_) => set(socket, libc::SOL_SOCKET, libc::SO_NO_CHECK, &ON),
        IpAddr::V6(_) => set(socket, libc::SOL_UDP, NO_CHECK6_TX, &ON),
    }
}

/// Has a socket accept datagrams without a checksum. Over IPv4 each does; over IPv6 the kernel drops them otherwise.
///
/// # Errors
/// Returns the error of the system call.
pub fn accept_no_checksum(socket: &impl AsFd, ip: IpAddr) -> io::Result<()> {
    match ip {
        IpAddr::V4(_) => Ok(()),
        IpAddr::V6(_) => set(socket, libc::SOL_UDP, NO_CHECK6_RX, &ON),
    }
}

/// Makes each datagram of a socket leave whole or not at all. The path MTU that the kernel knows is ignored: a datagram
/// is refused (`EMSGSIZE`) only if it is longer than the MTU of the interface (`IP_PMTUDISC_PROBE`, ip(7), ipv6(7)).
///
/// # Errors
/// Returns the error of the system call.
pub fn forbid_fragmentation(socket: &impl AsFd, is_ipv4: bool) -> io::Result<()> {
    let (level, option, value) = if is_ipv4 {
        (
            libc::IPPROTO_IP,
            libc::IP_MTU_DISCOVER,
            libc::IP_PMTUDISC_PROBE,
        )
    } else {
        (
            libc::IPPROTO_IPV6,
            libc::IPV6_MTU_DISCOVER,
            libc::IPV6_PMTUDISC_PROBE,
        )
    };
    set(socket, level, option, &value)
}

/// Makes a socket a member of a group, at the interface with this number. 0: the kernel chooses the interface by its
/// routes. With a source, only datagrams of this sender come.
///
/// The kernel tells the network's routers (IGMP, MLD); the program sends nothing.
///
/// # Errors
/// Returns the error of the system call: `ENODEV` without an interface for the group.
pub fn join_group(
    socket: &UdpSocket,
    group: IpAddr,
    source: Option<IpAddr>,
    interface: u32,
) -> io::Result<()> {
    // Both requests are the same for both IP versions (ip(7)), and no wrapper has them so.
    let level = match group {
        IpAddr::V4(_) => libc::IPPROTO_IP,
        IpAddr::V6(_) => libc::IPPROTO_IPV6,
    };
    match source {
        None => {
            let request = group_req {
                gr_interface: interface,
                gr_group: storage(group),
            };
            set(socket, level, libc::MCAST_JOIN_GROUP, &request)
        }
        Some(source) => {
            let request = group_source_req {
                gsr_interface: interface,
                gsr_group: storage(group),
                gsr_source: storage(source),
            };
            set(socket, level, libc::MCAST_JOIN_SOURCE_GROUP, &request)
        }
    }
}

/// Makes a socket receive only from groups that it joined itself. By default, it also gets those that other programs
/// joined (`IP_MULTICAST_ALL`, ip(7)).
pub fn only_own_groups(socket: &UdpSocket, group: IpAddr) {
    let socket = SockRef::from(socket);
    // IPv6 has it from Linux 4.20 on.
    let _ = match group {
        IpAddr::V4(_) => socket.set_multicast_all_v4(false),
        IpAddr::V6(_) => socket.set_multicast_all_v6(false),
    };
}

/// Returns an address as the kernel's structures have it.
fn storage(ip: IpAddr) -> sockaddr_storage {
    let address = SockaddrStorage::from(SocketAddr::new(ip, 0));
    #[expect(unsafe_code, reason = "no wrapper copies an address into a structure")]
    // SAFETY: the structure holds integers only. The address has `len` bytes, which fit any such structure.
    unsafe {
        let mut storage: sockaddr_storage = mem::zeroed();
        let bytes = (&raw mut storage).cast::<u8>();
        bytes.copy_from_nonoverlapping(address.as_ptr().cast::<u8>(), address.len() as usize);
        storage
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, UdpSocket};

    use super::*;

    #[test]
    fn what_is_tried_is_what_the_file_of_the_limit_says() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let most = most_receive_buffer(&socket).expect("it is granted something");
        // Containers of some kernels have no such file.
        if let Ok(limit) = std::fs::read_to_string("/proc/sys/net/core/rmem_max") {
            let limit: u64 = limit.trim().parse().expect("a number");
            assert_eq!(most, limit.min((1 << 30) - 1));
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback is there");
        forbid_fragmentation(&socket, true).expect("every kernel has it");
        let to = socket.local_addr().expect("bound");
        assert!(socket.send_to(&[0; 1000], to).is_ok());
        if let Ok(socket) = UdpSocket::bind("[::1]:0") {
            forbid_fragmentation(&socket, false).expect("every kernel has it");
        }
    }

    /// Number of the loopback interface.
    const LOOPBACK: u32 = 1;

    #[test]
    fn a_member_gets_what_is_sent_to_its_group_by_its_source_only() {
        let group = Ipv4Addr::new(232, 1, 2, 3);
        for (source, comes) in [
            (None, true),
            (Some(Ipv4Addr::LOCALHOST), true),
            (Some(Ipv4Addr::new(127, 0, 0, 9)), false),
        ] {
            let socket = UdpSocket::bind((group, 0)).expect("a port is free");
            join_group(&socket, group.into(), source.map(IpAddr::V4), LOOPBACK)
                .expect("lo is there");
            only_own_groups(&socket, group.into());
            socket.set_nonblocking(true).expect("a socket can");
            let sender = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
            SockRef::from(&sender)
                .set_multicast_if_v4(&Ipv4Addr::LOCALHOST)
                .expect("lo is there");
            let port = socket.local_addr().expect("bound").port();
            sender.send_to(&[0], (group, port)).expect("lo takes it");
            assert_eq!(socket.recv(&mut [0]).is_ok(), comes, "{source:?}");
        }
    }

    #[test]
    fn an_interface_that_is_not_there_is_an_error() {
        let socket = UdpSocket::bind("0.0.0.0:0").expect("a port is free");
        let group = Ipv4Addr::new(239, 1, 2, 3).into();
        assert!(join_group(&socket, group, None, 1 << 30).is_err());
    }
}
