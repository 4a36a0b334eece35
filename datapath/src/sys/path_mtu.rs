//! Forbids the fragmentation of a socket's datagrams.

use std::io;
use std::os::fd::AsFd;

use super::switch::set;

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

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

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
}
