//! UDP segmentation offload (UDP_SEGMENT, Linux 4.18) and its counterpart UDP_GRO (Linux 5.0): udp(7).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::{UdpGroSegment, UdpGsoSegment};

use crate::engine::{Endpoint, IoOptions};

/// Maximum number of bytes per call before segmentation: an IPv4 packet's payload.
const MOST_BYTES: usize = 65_507;
/// Maximum number of segments per call since Linux 6.9 (UDP_MAX_SEGMENTS).
const MOST_SEGMENTS: usize = 128;
/// Maximum number of segments per call before Linux 6.9 (UDP_MAX_SEGMENTS).
const FEWER_SEGMENTS: usize = 64;

/// Makes the kernel segment each send of this socket into datagrams of `payload_bytes`. 0 switches this off.
///
/// # Errors
/// Fails before Linux 4.18, and on kernels built without UDP_SEGMENT.
pub fn cut(socket: &impl AsFd, payload_bytes: usize) -> io::Result<()> {
    let segment = i32::try_from(payload_bytes).map_err(io::Error::other)?;
    Ok(setsockopt(socket, UdpGsoSegment, &segment)?)
}

/// Makes the kernel deliver GRO aggregates, each with a control message that tells the segment size.
///
/// # Errors
/// Fails before Linux 5.0, and on kernels built without UDP_GRO.
pub fn join(socket: &impl AsFd) -> io::Result<()> {
    Ok(setsockopt(socket, UdpGroSegment, &true)?)
}

/// Returns whether a train was refused because it cannot be segmented (`udp_send_skb`, net/ipv4/udp.c). The datagrams
/// are not lost: they are sent one by one. A single datagram that is refused, too, keeps the error of its own.
///
/// - EIO: the route is one of IPsec; before Linux 6.11 (commit 10154dbded6d), also an interface without checksum
///   offload.
/// - EMSGSIZE: a segment is longer than the MTU of the path, where single datagrams are fragmented. This was EINVAL
///   before "udp: gso: do not drop small packets when PMTU reduces" (Linux 6.14, and backported).
/// - EINVAL: also the answer of some drivers.
pub fn is_no_offload(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EIO | libc::EINVAL | libc::EMSGSIZE)
    )
}

/// Returns the number of datagrams of `payload_bytes` that fit one call: at least 1, and 1 if they are empty.
pub fn that_fit(payload_bytes: usize) -> usize {
    MOST_BYTES.checked_div(payload_bytes).unwrap_or(1).max(1)
}

/// Returns the number of datagrams of each call of a sender, and has the kernel cut its trains. 1: no trains.
///
/// # Errors
/// Fails as [`most_segments`] and [`cut`] do.
pub fn begin_trains(options: &IoOptions, endpoint: &Endpoint) -> io::Result<usize> {
    let bytes = options.payload_bytes;
    let count = match endpoint.peer {
        Some(peer) if options.direction.sends() => most_segments(bytes, peer)?.min(options.train),
        _ => 1,
    };
    if count > 1 {
        cut(&endpoint.socket, bytes)?;
    }
    Ok(count)
}

/// Returns the maximum number of datagrams of `payload_bytes` per call: limited by the bytes that fit and by this
/// kernel's maximum number of segments. 1: no segmentation.
///
/// # Errors
/// Fails if the kernel does not support UDP_SEGMENT, or if there is no loopback to try it on.
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
        assert!(is_no_offload(libc::EMSGSIZE), "since Linux 6.14");
        assert!(!is_no_offload(libc::ENOBUFS) && !is_no_offload(libc::EPERM));
    }
}
