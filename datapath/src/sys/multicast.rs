//! Membership in multicast groups, of any source or of one (SSM, RFC 4607).

use std::io;
use std::mem;
use std::net::{IpAddr, SocketAddr, UdpSocket};

use libc::{group_req, group_source_req, sockaddr_storage};
use nix::sys::socket::{SockaddrLike, SockaddrStorage};
use socket2::SockRef;

use super::switch::set;

/// Makes a socket a member of a group, at the interface with this number. 0: the kernel chooses the interface by its
/// routes. With a source, only datagrams of this sender come.
///
/// The kernel tells the network's routers (IGMP, MLD); the program sends nothing.
///
/// # Errors
/// Returns the error of the system call: `ENODEV` without an interface for the group.
pub fn join(
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
    use std::net::Ipv4Addr;

    use super::*;

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
            join(&socket, group.into(), source.map(IpAddr::V4), LOOPBACK).expect("lo is there");
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
        assert!(join(&socket, group, None, 1 << 30).is_err());
    }
}
