//! Sending: one payload for all, or one each.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

use libc::{c_void, iovec, mmsghdr, msghdr};
use socket2::{SockAddr, SockAddrStorage, SockRef};

use super::{empty_header, length};
use crate::engine::payload::Fill;
use crate::engine::{Addressing, Batched, Burst, Link, PortOptions};
use crate::engines::linux::stable::Stable;
use crate::sys::queues;

/// Datagrams to be sent many at a time.
pub struct SendBatch {
    headers: Stable<mmsghdr>,
    bytes_each: u64,
    /// What the headers point to.
    payloads: Stable<u8>,
    slices: Stable<iovec>,
    peer: Option<Stable<SockAddrStorage>>,
}

#[expect(unsafe_code, reason = "raw headers hold pointers")]
// SAFETY: they point to memory that it owns.
unsafe impl Send for SendBatch {}

impl SendBatch {
    /// What a port sends over `link` with one call; no datagrams if it does not send.
    pub fn of<A: Addressing>(options: &PortOptions, link: &Link) -> Self {
        let peer = (!A::CONNECTED).then(|| link.peer_or_unspecified());
        let payload = options.payload();
        let count = if options.direction.sends() {
            options.batch
        } else {
            0
        };
        Self::new(
            payload.repeat(if options.own_payloads { count } else { 1 }),
            payload.len(),
            count,
            peer,
        )
    }

    /// `count` datagrams of `bytes_each`, to `peer`, or to where the socket is connected. `payloads` holds
    /// one after the other, or a single one for all of them.
    ///
    /// # Panics
    /// If it holds neither.
    pub fn new(
        payloads: Vec<u8>,
        bytes_each: usize,
        count: usize,
        peer: Option<SocketAddr>,
    ) -> Self {
        assert!([bytes_each, bytes_each * count].contains(&payloads.len()));
        let payloads = Stable::new(payloads);
        let last = payloads.len().saturating_sub(bytes_each);
        // Those that share a payload share its description, too: the less memory for the kernel to read.
        let slice = |at: usize| iovec {
            iov_base: payloads.at(at).cast::<c_void>(),
            iov_len: bytes_each,
        };
        let slices = (0..=last).step_by(bytes_each.max(1)).map(slice);
        let slices = Stable::new(slices.collect::<Vec<_>>());
        let peer = peer.map(SockAddr::from);
        let peer_bytes = peer.as_ref().map_or(0, SockAddr::len);
        let peer = peer.map(|peer| Stable::one(peer.as_storage()));
        let header = |n: usize| {
            let mut header = empty_header();
            header.msg_hdr.msg_iov = slices.at(if slices.len() == 1 { 0 } else { n });
            header.msg_hdr.msg_iovlen = 1;
            if let Some(peer) = &peer {
                header.msg_hdr.msg_name = peer.at(0).cast::<c_void>();
                header.msg_hdr.msg_namelen = peer_bytes;
            }
            header
        };
        Self {
            headers: Stable::new((0..count).map(header).collect::<Vec<_>>()),
            bytes_each: bytes_each as u64,
            payloads,
            slices,
            peer,
        }
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.headers.len()
    }

    /// Payload of each, in bytes.
    pub fn bytes_each(&self) -> u64 {
        self.bytes_each
    }

    /// For each, what is handed to sendmsg(2), and where its payload starts: good for as long as `self` lives.
    pub fn messages(&self) -> impl Iterator<Item = (*const msghdr, *const u8)> {
        (0..self.count()).map(|n| {
            let slice = self.slices.get(n).unwrap_or(&self.slices[0]);
            // A header starts with its message (sendmmsg(2)).
            let message = self.headers.at(n).cast::<msghdr>().cast_const();
            (message, slice.iov_base.cast::<u8>().cast_const())
        })
    }

    /// Whether each says where it goes.
    pub fn names_peer(&self) -> bool {
        self.peer.is_some()
    }

    /// Prepares what the next burst holds.
    #[inline]
    pub fn fill(&mut self, fill: &impl Fill) {
        fill.fill(&mut self.payloads);
        if let Some(to) = fill.destination() {
            self.aim(to);
        }
    }

    /// Has all of them go to `to`, unless they go to where the socket is connected.
    #[inline(never)]
    fn aim(&mut self, to: SocketAddr) {
        let Some(peer) = &mut self.peer else { return };
        let to = SockAddr::from(to);
        for header in self.headers.iter_mut() {
            header.msg_hdr.msg_namelen = to.len();
        }
        peer[0] = to.as_storage();
    }

    /// Sends as many as the kernel takes in one call. Fewer than all: the next one failed, and the kernel keeps the reason
    /// to itself (`__sys_sendmmsg`, net/socket.c). It was refused, unless the send buffer [is full](is_full).
    ///
    /// # Errors
    /// When not even the first one could be sent.
    #[inline]
    pub fn send(&mut self, socket: &UdpSocket) -> io::Result<Batched> {
        #[expect(unsafe_code, reason = "the call takes an array of raw headers")]
        // SAFETY: the headers are as many as it is told, and point to memory that `self` owns and that
        // does not move; the kernel reads it, and writes nothing but `msg_len` of each (sendmmsg(2)).
        let sent = unsafe {
            libc::sendmmsg(
                socket.as_raw_fd(),
                self.headers.at(0),
                length(&self.headers),
                0,
            )
        };
        let sent = u64::try_from(sent).map_err(|_| io::Error::last_os_error())?;
        Ok(Batched {
            moved: Burst::of(sent, sent * self.bytes_each),
            failed: u32::from(sent < self.count() as u64),
            errno: 0,
        })
    }
}

/// Returns whether a socket's send buffer is full: why a call sent only a part, if it may not wait for room, or if a signal
/// ended the wait.
pub fn is_full(socket: &UdpSocket) -> bool {
    let unsent = queues::unsent(socket).unwrap_or(0);
    let room = SockRef::from(socket).send_buffer_size();
    // It is full from `sk_sndbuf` bytes on (`sock_alloc_send_pskb`, net/core/sock.c). Meanwhile, some may have left.
    room.is_ok_and(|room| unsent >= room as u64 / 4 * 3)
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixDatagram;
    use std::slice;

    use super::*;
    use crate::engine::payload::tests::Numbered;

    const PEER: &str = "127.0.0.1:7";

    /// What the kernel would send: all that it finds on its way through the pointers.
    fn followed(message: *const msghdr) -> (Vec<u8>, Option<SocketAddr>) {
        #[expect(unsafe_code, reason = "the kernel's part")]
        // SAFETY: the batch that it belongs to lives.
        unsafe {
            let message = &*message;
            let slice = &*message.msg_iov;
            let payload = slice::from_raw_parts(slice.iov_base.cast::<u8>(), slice.iov_len);
            let name = message.msg_name.cast::<SockAddrStorage>();
            let peer = (!name.is_null()).then(|| SockAddr::new(name.read(), message.msg_namelen));
            (payload.to_vec(), peer.and_then(|peer| peer.as_socket()))
        }
    }

    #[test]
    fn the_pointers_of_a_batch_that_has_moved_lead_to_what_was_stamped() {
        let peer: SocketAddr = PEER.parse().expect("an address");
        for peer in [Some(peer), None] {
            let batch = SendBatch::new(vec![0; 4 * 3], 3, 4, peer);
            let mut batch = Box::new(batch);
            let messages: Vec<_> = batch.messages().collect();
            for first in [1, 50] {
                batch.fill(&Numbered { first, bytes: 3 });
                for (n, (message, payload)) in (first..).zip(&messages) {
                    assert_eq!(followed(*message), (vec![n; 3], peer));
                    #[expect(unsafe_code, reason = "the kernel's part")]
                    // SAFETY: the batch lives, and each payload has 3 bytes.
                    let payload = unsafe { slice::from_raw_parts(*payload, 3) };
                    assert_eq!(payload, [n; 3]);
                }
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no sockets")]
    fn a_part_is_all_that_there_is_room_for_or_all_before_one_that_is_refused() {
        // A local socket takes no more than fits its send buffer (unix(7)).
        let (near, far) = UnixDatagram::pair().expect("sockets");
        let least = SockRef::from(&near).set_send_buffer_size(1);
        least.expect("the kernel makes more of it");
        near.set_nonblocking(true).expect("fcntl works");
        let socket = UdpSocket::from(OwnedFd::from(near));
        let mut batch = SendBatch::new(vec![7; 300], 300, 64, None);
        let batched = batch.send(&socket).expect("there is room for one");
        assert!(batched.moved.packets < 64, "{batched:?}");
        assert!(is_full(&socket), "{batched:?}");
        drop(far);
        // Nobody listens: each datagram that goes has the next one refused.
        let bind = || UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        let (socket, nobody) = (bind(), bind());
        let address = nobody.local_addr().expect("bound");
        socket.connect(address).expect("an address of loopback");
        drop(nobody);
        let batched = batch.send(&socket).expect("the first one goes");
        assert_eq!(batched.failed, 1, "{batched:?}");
        assert!(!is_full(&socket), "{batched:?}");
    }

    #[test]
    fn datagrams_that_share_a_payload_share_its_memory() {
        let batch = SendBatch::new(vec![9; 5], 5, 3, None);
        let payloads: Vec<_> = batch.messages().map(|(_, payload)| payload).collect();
        assert_eq!(payloads, vec![payloads[0]; 3]);
        for (message, _) in batch.messages() {
            assert_eq!(followed(message), (vec![9; 5], None));
        }
    }
}
