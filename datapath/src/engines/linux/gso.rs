//! UDP segmentation offload (UDP_SEGMENT, Linux 4.18) and its counterpart UDP_GRO (Linux 5.0): udp(7).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::{UdpGroSegment, UdpGsoSegment};

/// The most that one call may hand over: an IPv4 packet's payload, before it is cut.
const MOST_BYTES: usize = 65_507;
/// UDP_MAX_SEGMENTS of Linux 6.9 and newer.
const MOST_SEGMENTS: usize = 128;
/// The same before that.
const FEWER_SEGMENTS: usize = 64;

/// Makes the kernel cut what this socket sends into datagrams of `payload_bytes`; 0: no longer.
///
/// # Errors
/// Before Linux 4.18; and where the kernel was built without.
pub fn cut(socket: &impl AsFd, payload_bytes: usize) -> io::Result<()> {
    let segment = i32::try_from(payload_bytes).map_err(io::Error::other)?;
    Ok(setsockopt(socket, UdpGsoSegment, &segment)?)
}

/// Makes the kernel hand over what belongs together in one piece, with a control message about its parts.
///
/// # Errors
/// Before Linux 5.0; and where the kernel was built without.
pub fn join(socket: &impl AsFd) -> io::Result<()> {
    Ok(setsockopt(socket, UdpGroSegment, &true)?)
}

/// Whether a train was refused since it cannot be cut: EIO from an interface without checksum offload (`udp_send_skb`,
/// net/ipv4/udp.c), EINVAL from some drivers and where the path takes no datagram of that size whole. The datagrams are
/// not lost: they are sent one by one.
pub fn is_no_offload(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EIO | libc::EINVAL))
}

/// How many datagrams of `payload_bytes` fit what one call may hand over; at least one, and one if they are
/// empty.
pub fn that_fit(payload_bytes: usize) -> usize {
    MOST_BYTES.checked_div(payload_bytes).unwrap_or(1).max(1)
}

/// How many datagrams of `payload_bytes` one call may hand over: by the bytes that fit, and by what this
/// kernel takes. 1: it cannot cut.
///
/// # Errors
/// When the kernel cannot cut at all, or there is no loopback to try it on.
pub fn most_segments(payload_bytes: usize, peer: SocketAddr) -> io::Result<usize> {
    let fit = that_fit(payload_bytes);
    if fit == 1 {
        return Ok(1);
    }
    let loopback = if peer.is_ipv4() {
        IpAddr::from(Ipv4Addr::LOCALHOST)
    } else {
        IpAddr::from(Ipv6Addr::LOCALHOST)
    };
    let any_port = SocketAddr::new(loopback, 0);
    let (sender, receiver) = (UdpSocket::bind(any_port)?, UdpSocket::bind(any_port)?);
    sender.connect(receiver.local_addr()?)?;
    cut(&sender, 1)?;
    let takes = |segments: &usize| sender.send(&[0; MOST_SEGMENTS][..*segments]).is_ok();
    let most = [MOST_SEGMENTS, FEWER_SEGMENTS].into_iter().find(takes);
    Ok(most.unwrap_or(1).min(fit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_train_that_cannot_be_cut_is_told_from_one_that_is_lost() {
        let is_no_offload = |errno| is_no_offload(&io::Error::from_raw_os_error(errno));
        assert!(is_no_offload(libc::EIO) && is_no_offload(libc::EINVAL));
        assert!(!is_no_offload(libc::ENOBUFS) && !is_no_offload(libc::EPERM));
    }
}
