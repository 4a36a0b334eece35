//! Sends many datagrams per call, with one payload for all or one for each.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use libc::{c_void, iovec, mmsghdr, msghdr};
use socket2::{SockAddr, SockAddrStorage, SockRef};

use crate::engine::payload::Fill;
use crate::engine::{BatchCount, BatchOutcome, Endpoint, IoOptions};
use crate::engines::linux::FixedBuffer;
use crate::sys::{messages, socket_queues};

/// Datagrams to send in one call.
pub struct SendBatch {
    /// The headers point into the buffers below.
    headers: FixedBuffer<mmsghdr>,
    bytes_each: u64,
    payloads: FixedBuffer<u8>,
    iovecs: FixedBuffer<iovec>,
    peer: Option<FixedBuffer<SockAddrStorage>>,
    /// Control messages, the same for all datagrams. Empty: none.
    controls: FixedBuffer<u8>,
}

#[expect(unsafe_code, reason = "raw headers hold pointers")]
// SAFETY: the pointers lead to memory that `self` owns.
unsafe impl Send for SendBatch {}

impl SendBatch {
    /// Creates the datagrams that one call sends to the peer of an endpoint; none if nothing is sent.
    ///
    /// # Errors
    /// Fails if control messages need the socket's address and it has none.
    pub fn from_options(options: &IoOptions, endpoint: &Endpoint) -> io::Result<Self> {
        let peer = (!options.is_connected()).then(|| endpoint.peer_or_unspecified());
        let payload = options.payload();
        let count = if options.direction.sends() {
            options.batch
        } else {
            0
        };
        let payloads = payload.repeat(if options.own_payloads { count } else { 1 });
        let controls = options.controls.outgoing(&endpoint.socket)?;
        Ok(Self::new(payloads, payload.len(), count, peer, controls))
    }

    /// Creates `count` datagrams of `bytes_each` bytes, to `peer` or, if `None`, to the peer of a connected socket.
    /// `payloads` holds all payloads one after the other, or a single one for all datagrams. `controls` holds the bytes
    /// of the control messages of each.
    ///
    /// # Panics
    /// Panics if the length of `payloads` fits neither.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "musl counts these few bytes in 32 bits"
    )]
    fn new(
        payloads: Vec<u8>,
        bytes_each: usize,
        count: usize,
        peer: Option<SocketAddr>,
        controls: Vec<u8>,
    ) -> Self {
        assert!([bytes_each, bytes_each * count].contains(&payloads.len()));
        let payloads = FixedBuffer::new(payloads);
        let last = payloads.len().saturating_sub(bytes_each);
        // Datagrams with a shared payload also share its `iovec`, so that the kernel reads less memory.
        let iovec = |at: usize| iovec {
            iov_base: payloads.at(at).cast::<c_void>(),
            iov_len: bytes_each,
        };
        let iovecs = (0..=last).step_by(bytes_each.max(1)).map(iovec);
        let iovecs = FixedBuffer::new(iovecs.collect::<Vec<_>>());
        let peer = peer.map(SockAddr::from);
        let peer_bytes = peer.as_ref().map_or(0, SockAddr::len);
        let peer = peer.map(|peer| FixedBuffer::new([peer.as_storage()]));
        let controls = FixedBuffer::new(controls);
        let header = |n: usize| {
            let mut header = messages::zeroed();
            header.msg_hdr.msg_iov = iovecs.at(if iovecs.len() == 1 { 0 } else { n });
            header.msg_hdr.msg_iovlen = 1;
            if let Some(peer) = &peer {
                header.msg_hdr.msg_name = peer.at(0).cast::<c_void>();
                header.msg_hdr.msg_namelen = peer_bytes;
            }
            if !controls.is_empty() {
                header.msg_hdr.msg_control = controls.at(0).cast::<c_void>();
                header.msg_hdr.msg_controllen = controls.len() as _;
            }
            header
        };
        Self {
            headers: FixedBuffer::new((0..count).map(header).collect::<Vec<_>>()),
            bytes_each: bytes_each as u64,
            payloads,
            iovecs,
            peer,
            controls,
        }
    }

    /// Returns the number of datagrams.
    pub fn count(&self) -> usize {
        self.headers.len()
    }

    /// Returns the payload of each datagram, in bytes.
    pub fn bytes_each(&self) -> u64 {
        self.bytes_each
    }

    /// Returns for each datagram the argument of sendmsg(2) and the start of its payload. The pointers are valid
    /// while `self` lives.
    pub fn messages(&self) -> impl Iterator<Item = (*const msghdr, *const u8)> {
        (0..self.count()).map(|n| {
            let iovec = self.iovecs.get(n).unwrap_or(&self.iovecs[0]);
            // A header starts with its message (sendmmsg(2)).
            let message = self.headers.at(n).cast::<msghdr>().cast_const();
            (message, iovec.iov_base.cast::<u8>().cast_const())
        })
    }

    /// Returns whether each datagram names its destination or has control messages, for which sendmsg(2) is needed.
    pub fn needs_message(&self) -> bool {
        self.peer.is_some() || !self.controls.is_empty()
    }

    /// Prepares the payloads and the destination of the next batch.
    #[inline]
    pub fn prepare(&mut self, content: &impl Fill) {
        content.fill(&mut self.payloads);
        if let Some(to) = content.destination() {
            self.set_destination(to);
        }
    }

    /// Sets the destination of all datagrams to `to`, unless the socket is connected.
    #[inline(never)]
    fn set_destination(&mut self, to: SocketAddr) {
        let Some(peer) = &mut self.peer else { return };
        let to = SockAddr::from(to);
        for header in self.headers.iter_mut() {
            header.msg_hdr.msg_namelen = to.len();
        }
        peer[0] = to.as_storage();
    }

    /// Sends the datagrams that the kernel takes in one call. If it takes only a part, the next datagram failed, and
    /// the kernel does not report the reason (`__sys_sendmmsg`, net/socket.c). That datagram was refused, unless the
    /// send buffer [is full](is_full).
    ///
    /// # Errors
    /// Returns the error of the system call if not even the first datagram could be sent.
    #[inline]
    pub fn send(&mut self, socket: &UdpSocket) -> io::Result<BatchOutcome> {
        #[expect(unsafe_code, reason = "the call takes an array of raw headers")]
        // SAFETY: the count is that of the headers. They point to memory that `self` owns and that does not move. The
        // kernel reads this memory and writes only `msg_len` of each header (sendmmsg(2)).
        let sent = unsafe { messages::send_many(socket, self.headers.at(0), self.headers.len()) }?;
        let sent = sent as u64;
        Ok(BatchOutcome {
            moved: BatchCount::of(sent, sent * self.bytes_each),
            failed: u32::from(sent < self.count() as u64),
            errno: 0,
        })
    }
}

/// Returns whether a socket's send buffer is full. A call then sends only a part, if it may not wait for room or if a
/// signal ends the wait.
pub fn is_full(socket: &UdpSocket) -> bool {
    let unsent = socket_queues::send_queue_bytes(socket).unwrap_or(0);
    let room = SockRef::from(socket).send_buffer_size();
    // It is full from `sk_sndbuf` bytes on (`sock_alloc_send_pskb`, net/core/sock.c). Since the call, some datagrams
    // may have left. Much less than all is what fills a queueing discipline, which then refuses. So a thread that loses
    // the CPU here while a quarter of the buffer leaves counts a refused datagram too many.
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

    /// Returns the payload and the destination that the kernel finds by following the pointers.
    fn followed(message: *const msghdr) -> (Vec<u8>, Option<SocketAddr>) {
        #[expect(unsafe_code, reason = "the kernel's part")]
        // SAFETY: the batch that the message belongs to lives.
        unsafe {
            let message = &*message;
            let iovec = &*message.msg_iov;
            let payload = slice::from_raw_parts(iovec.iov_base.cast::<u8>(), iovec.iov_len);
            let name = message.msg_name.cast::<SockAddrStorage>();
            let peer = (!name.is_null()).then(|| SockAddr::new(name.read(), message.msg_namelen));
            (payload.to_vec(), peer.and_then(|peer| peer.as_socket()))
        }
    }

    #[test]
    fn the_pointers_of_a_batch_that_has_moved_lead_to_what_was_stamped() {
        let peer: SocketAddr = PEER.parse().expect("an address");
        for peer in [Some(peer), None] {
            let batch = SendBatch::new(vec![0; 4 * 3], 3, 4, peer, Vec::new());
            let mut batch = Box::new(batch);
            let messages: Vec<_> = batch.messages().collect();
            for first in [1, 50] {
                batch.prepare(&Numbered { first, bytes: 3 });
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
        // A Unix socket accepts no more than fits its send buffer (unix(7)).
        let (near, far) = UnixDatagram::pair().expect("sockets");
        let least = SockRef::from(&near).set_send_buffer_size(1);
        least.expect("the kernel makes more of it");
        near.set_nonblocking(true).expect("fcntl works");
        let socket = UdpSocket::from(OwnedFd::from(near));
        let mut batch = SendBatch::new(vec![7; 300], 300, 64, None, Vec::new());
        let outcome = batch.send(&socket).expect("there is room for one");
        assert!(outcome.moved.packets < 64, "{outcome:?}");
        assert!(is_full(&socket), "{outcome:?}");
        for _ in 0..outcome.moved.packets / 5 {
            far.recv(&mut [0; 300]).expect("it is there");
        }
        assert!(is_full(&socket), "it was, before a fifth has left");
        drop(far);
        // Nobody listens: after each datagram that is sent, the next one is refused.
        let bind = || UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        let (socket, nobody) = (bind(), bind());
        let address = nobody.local_addr().expect("bound");
        socket.connect(address).expect("an address of loopback");
        drop(nobody);
        let outcome = batch.send(&socket).expect("the first one goes");
        assert_eq!(outcome.failed, 1, "{outcome:?}");
        assert!(!is_full(&socket), "{outcome:?}");
    }

    #[test]
    fn datagrams_that_share_a_payload_share_its_memory() {
        let batch = SendBatch::new(vec![9; 5], 5, 3, None, Vec::new());
        let payloads: Vec<_> = batch.messages().map(|(_, payload)| payload).collect();
        assert_eq!(payloads, vec![payloads[0]; 3]);
        for (message, _) in batch.messages() {
            assert_eq!(followed(message), (vec![9; 5], None));
        }
    }
}
