//! Reads the drops and the queue of a receiving endpoint from outside of its bench thread.

use std::cell::Cell;
use std::io::{self, IoSliceMut};
use std::iter;
use std::net::UdpSocket;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};

use crate::sys::busy_poll::{self, SocketState};
use crate::sys::socket_queues;
use crate::sys::socket_queues::{receive_queue, socket_drops};

/// The coordinator thread's handle on a receiving endpoint.
pub trait QueueProbe {
    /// Returns the datagrams dropped so far. Must be called at least once in 2^32 drops, since the kernel's counter
    /// has 32 bits.
    ///
    /// # Errors
    /// Fails if the kernel does not report the drops.
    fn drops(&self) -> io::Result<u64>;

    /// Returns whether the receive queue is known to be empty; `false` if that is unknown.
    fn is_empty(&self) -> bool;

    /// Returns how the socket busy-polls. `None`: it cannot, or the kernel does not say.
    fn busy_poll(&self) -> Option<SocketState> {
        None
    }

    /// Discards the datagrams left in the receive queue, and returns their number. Called after the receivers have
    /// stopped.
    fn discard_unread(&self) -> u64;
}

/// Probe of an endpoint that drops nothing and leaves nothing unread.
#[derive(Debug)]
pub struct LosslessProbe;

impl QueueProbe for LosslessProbe {
    fn drops(&self) -> io::Result<u64> {
        Ok(0)
    }

    fn is_empty(&self) -> bool {
        true
    }

    fn discard_unread(&self) -> u64 {
        0
    }
}

/// Probe of a UDP socket.
#[derive(Debug)]
pub struct UdpProbe {
    socket: UdpSocket,
    /// The kernel's drop counter when it was last read. It has 32 bits and wraps after some minutes of a flood that
    /// is lost.
    drops_then: Cell<u32>,
    /// Drops since the first reading.
    drops: Cell<u64>,
}

impl UdpProbe {
    /// Creates a probe that counts drops from now on.
    ///
    /// # Errors
    /// Fails if the kernel does not report the drops of the socket.
    pub fn new(socket: &UdpSocket) -> io::Result<Self> {
        Ok(Self {
            drops_then: Cell::new(socket_drops(socket)?),
            drops: Cell::new(0),
            socket: socket.try_clone()?,
        })
    }
}

impl QueueProbe for UdpProbe {
    fn drops(&self) -> io::Result<u64> {
        let now = socket_drops(&self.socket)?;
        let more = now.wrapping_sub(self.drops_then.replace(now));
        self.drops.set(self.drops.get() + u64::from(more));
        Ok(self.drops.get())
    }

    fn is_empty(&self) -> bool {
        receive_queue(&self.socket).is_ok_and(|queue| queue.queued_bytes == 0)
    }

    fn busy_poll(&self) -> Option<SocketState> {
        busy_poll::state(&self.socket).ok()
    }

    fn discard_unread(&self) -> u64 {
        let (mut datagrams, mut failed) = (0, false);
        loop {
            match take_message(&self.socket) {
                Ok(count) => (datagrams, failed) = (datagrams + count, false),
                // A pending error of the socket: reading the socket clears it (udp(7)).
                Err(error) if error != Errno::EAGAIN && !failed => failed = true,
                Err(_) => return datagrams,
            }
        }
    }
}

/// Probe of either end of a connection, which loses nothing.
#[derive(Debug)]
pub struct ConnectionProbe {
    socket: OwnedFd,
    /// Bytes of each message in a stream. `None`: the socket keeps messages apart.
    message_bytes: Option<u64>,
}

impl ConnectionProbe {
    /// Creates a probe of a stream with `message_bytes` per message, or of a socket that keeps messages apart (`None`).
    ///
    /// # Errors
    /// Fails if no file descriptor is left.
    pub fn new(socket: &impl AsFd, message_bytes: Option<u64>) -> io::Result<Self> {
        Ok(Self {
            socket: socket.as_fd().try_clone_to_owned()?,
            message_bytes,
        })
    }
}

impl QueueProbe for ConnectionProbe {
    fn drops(&self) -> io::Result<u64> {
        Ok(0)
    }

    fn is_empty(&self) -> bool {
        socket_queues::receive_queue_bytes(&self.socket).is_ok_and(|bytes| bytes == 0)
    }

    fn discard_unread(&self) -> u64 {
        match self.message_bytes {
            Some(each) => {
                socket_queues::receive_queue_bytes(&self.socket).unwrap_or(0) / each.max(1)
            }
            None => iter::from_fn(|| take_message(&self.socket).ok()).sum(),
        }
    }
}

/// Takes one datagram, or one GRO aggregate (several datagrams, with UDP_GRO), and returns the number of
/// datagrams.
fn take_message(socket: &impl AsRawFd) -> nix::Result<u64> {
    // MSG_TRUNC: recvmsg(2) returns the full length of the aggregate, however small the buffer is (udp(7)).
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_TRUNC;
    // Room for other control messages that a library may have enabled (IP_PKTINFO, IP_RECVTOS).
    let mut controls = vec![0; 256];
    let mut byte = [0];
    let mut buffer = [IoSliceMut::new(&mut byte)];
    let message = recvmsg::<()>(socket.as_raw_fd(), &mut buffer, Some(&mut controls), flags)?;
    let each = message.cmsgs().ok().and_then(|mut controls| {
        controls.find_map(|control| match control {
            ControlMessageOwned::UdpGroSegments(bytes) => usize::try_from(bytes).ok(),
            _ => None,
        })
    });
    let datagrams = each.map_or(1, |each| message.bytes.div_ceil(each.max(1)));
    Ok(datagrams.max(1) as u64)
}

#[cfg(test)]
mod tests {
    use nix::sys::socket::setsockopt;
    use nix::sys::socket::sockopt::{UdpGroSegment, UdpGsoSegment};

    use super::*;

    #[test]
    fn an_aggregate_left_unread_counts_as_the_datagrams_in_it() {
        let receiver = UdpSocket::bind("127.0.0.1:0").expect("loopback works");
        let sender = UdpSocket::bind("127.0.0.1:0").expect("loopback works");
        let peer = receiver.local_addr().expect("it is bound");
        let probe = UdpProbe::new(&receiver).expect("the kernel says its drops");
        for payload in [0, 1, 1000] {
            sender.send_to(&vec![0; payload], peer).expect("it is sent");
        }
        assert_eq!(probe.discard_unread(), 3);
        let outcome = setsockopt(&receiver, UdpGroSegment, &true);
        if outcome.is_err() || setsockopt(&sender, UdpGsoSegment, &100).is_err() {
            return; // an old kernel, or an emulated one
        }
        // Ten segments and a shorter one; then a single datagram.
        for payload in [1050, 100] {
            sender.send_to(&vec![0; payload], peer).expect("it is sent");
        }
        assert_eq!(probe.discard_unread(), 12);
    }

    #[test]
    fn drops_go_on_where_the_kernels_counter_begins_anew() {
        let receiver = UdpSocket::bind("127.0.0.1:0").expect("loopback works");
        let probe = UdpProbe::new(&receiver).expect("the kernel says its drops");
        // The state after 2^32 - 5 drops that have been read.
        probe.drops_then.set(probe.drops_then.get().wrapping_sub(5));
        probe.drops.set((1 << 32) - 5);
        assert_eq!(probe.drops().expect("as before"), 1 << 32);
        assert_eq!(probe.drops().expect("as before"), 1 << 32);
    }
}
