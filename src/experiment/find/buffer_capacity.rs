//! Estimates how many datagrams the buffers hold.

use super::header::Header;
use crate::data::{Case, Direction, Ip};
use crate::host::facts::{Interface, InterfaceKind};

/// Returns how many datagrams of a case fit if nobody takes any out: into a token bucket at the sender's interface,
/// and into a receive buffer. `rcvbuf_bytes` counts the buffer in the kernel's way. The smaller known capacity
/// counts. `None`: neither is known.
pub(super) fn buffer_capacity(
    header: &Header,
    case: &Case,
    rcvbuf_bytes: Option<u64>,
) -> Option<u64> {
    let (sends, receives) = ends(header, case);
    let bucket = sends.and_then(|interface| interface.token_bucket);
    let headers = match case.ip {
        Ip::V4 => 14 + 20 + 8,
        Ip::V6 => 14 + 40 + 8,
    };
    let frame = u32::from(case.payload) + headers;
    let in_bucket = bucket.map(|bucket| bucket.frames(frame));
    // Other drivers may take more memory for a datagram than loopback does.
    let is_plain = |interface: &Interface| interface.kind == InterfaceKind::Veth;
    let is_known = header.wire.is_none() || receives.is_some_and(is_plain);
    let truesize = header.truesizes.get(&u32::from(case.payload));
    let in_socket = truesize.zip(rcvbuf_bytes).filter(|_| is_known);
    // Some kernels accept one more datagram while the buffer is not full (`__udp_enqueue_schedule_skb`).
    let in_socket = in_socket.map(|(truesize, bytes)| bytes / u64::from(*truesize).max(1));
    in_bucket.into_iter().chain(in_socket).min()
}

/// Returns the interfaces of a case across a wire: where its datagrams or requests leave, and where they arrive.
fn ends<'a>(header: &'a Header, case: &Case) -> (Option<&'a Interface>, Option<&'a Interface>) {
    let link = header.wire.as_ref().and_then(|wire| wire.link(case));
    let (local, remote) = (
        link.map(|link| &link.local.interface),
        link.map(|link| &link.remote.interface),
    );
    match case.direction {
        Some(Direction::Down) => (remote, local),
        _ => (local, remote),
    }
}
