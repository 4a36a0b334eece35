//! The error queue of a socket (ip(7), MSG_ERRQUEUE in recv(2)), which also holds completions of sends without a copy,
//! and transmit time stamps: the kernel's software stamps, taken where the driver hands a datagram to the device.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use libc::sock_extended_err;
use nix::cmsg_space;
use nix::sys::socket::sockopt::Timestamping;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, TimestampingFlag, Timestamps, recvmsg, setsockopt,
};

/// Memory for the control messages of a message of the queue.
#[derive(Debug)]
pub struct ErrorQueueMemory(Vec<u8>);

/// A message of the queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueuedMessage {
    /// What it says. `ee_origin` tells errors, stamps and completions apart.
    pub error: Option<sock_extended_err>,
    /// Time stamps.
    pub stamps: Option<Timestamps>,
}

impl Default for ErrorQueueMemory {
    fn default() -> Self {
        // A message includes the address of an error: room for either family.
        Self(cmsg_space!(
            Timestamps,
            sock_extended_err,
            libc::sockaddr_in6
        ))
    }
}

impl ErrorQueueMemory {
    /// Reads a message without waiting.
    ///
    /// # Errors
    /// Returns the error of recvmsg(2): `EAGAIN` if there is none.
    pub fn read(&mut self, socket: &impl AsRawFd) -> nix::Result<QueuedMessage> {
        let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
        let controls = Some(&mut self.0[..]);
        let message = recvmsg::<()>(socket.as_raw_fd(), &mut [], controls, flags)?;
        let mut read = QueuedMessage::default();
        for control in message.cmsgs()? {
            match control {
                ControlMessageOwned::ScmTimestampsns(stamps) => read.stamps = Some(stamps),
                ControlMessageOwned::Ipv4RecvErr(error, _)
                | ControlMessageOwned::Ipv6RecvErr(error, _) => read.error = Some(error),
                _ => {}
            }
        }
        Ok(read)
    }
}

/// `SO_EE_ORIGIN_TIMESTAMPING` (include/uapi/linux/errqueue.h): distinguishes stamps from errors in their common queue.
const ORIGIN_TIMESTAMPING: u8 = 4;

/// Time at which a datagram left, or a GSO train that is segmented later (UDP_SEGMENT).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransmitStamp {
    /// Index of the datagram among the stamped ones of its socket.
    pub number: u32,
    /// Time since 1970, in nanoseconds.
    pub ns: u64,
}

/// Switches the transmit stamps of a socket on and off, and reads them.
#[derive(Debug)]
pub struct TransmitStamps {
    socket: OwnedFd,
    /// True if the error queue has held stamps only. ICMP errors belong to the sender, whose next call they fail. An
    /// error that is read here fails no call, so reading stops for good at the first one.
    is_ours: bool,
    memory: ErrorQueueMemory,
}

impl TransmitStamps {
    /// Creates the stamps of a socket. `None`: the socket cannot be duplicated.
    pub fn of(socket: impl AsFd) -> Option<Self> {
        let socket = socket.as_fd().try_clone_to_owned().ok()?;
        Some(Self {
            socket,
            is_ours: true,
            memory: ErrorQueueMemory::default(),
        })
    }

    /// Switches stamps on for datagrams sent from now on, if the kernel makes any.
    pub fn begin(&self) {
        // If the kernel refuses, no stamps come.
        let _ = self.set(TimestampingFlag::SOF_TIMESTAMPING_TX_SOFTWARE);
    }

    /// Switches stamps off for datagrams sent from now on.
    pub fn end(&self) {
        let _ = self.set(TimestampingFlag::empty());
    }

    /// Sets the flags of the socket. Numbers continue while the flag for them stays set
    /// (Documentation/networking/timestamping.rst).
    fn set(&self, stamped: TimestampingFlag) -> nix::Result<()> {
        let always = TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE
            | TimestampingFlag::SOF_TIMESTAMPING_OPT_ID
            | TimestampingFlag::SOF_TIMESTAMPING_OPT_TSONLY;
        setsockopt(&self.socket, Timestamping, &(always | stamped))
    }
}

/// Yields the stamps in the queue, without waiting.
impl Iterator for TransmitStamps {
    type Item = TransmitStamp;

    fn next(&mut self) -> Option<TransmitStamp> {
        if !self.is_ours {
            return None;
        }
        let message = self.memory.read(&self.socket).ok()?;
        let stamp = message
            .error
            .filter(|error| error.ee_origin == ORIGIN_TIMESTAMPING);
        let number = stamp.map(|stamp| stamp.ee_data);
        let left = message.stamps.map(|stamps| Duration::from(stamps.system));
        let ns = left.and_then(|left| u64::try_from(left.as_nanos()).ok());
        self.is_ours = number.is_some();
        Some(TransmitStamp {
            number: number?,
            ns: ns.filter(|ns| *ns > 0)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;
    use crate::sys::clock;

    fn all(stamps: &mut TransmitStamps) -> Vec<TransmitStamp> {
        stamps.by_ref().collect()
    }

    #[test]
    fn what_is_sent_between_begin_and_end_has_stamps_in_its_order() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(receiver) = UdpSocket::bind(address) else {
                eprintln!("{address}: not here");
                continue;
            };
            let sender = UdpSocket::bind(address).expect("the receiver is there, too");
            let to = receiver.local_addr().expect("it is bound");
            sender.connect(to).expect("loopback works");
            let mut stamps = TransmitStamps::of(&sender).expect("a handle");
            let send = |count: usize| {
                for _ in 0..count {
                    sender.send(&[0; 20]).expect("loopback works");
                }
            };
            let begun = clock::realtime_ns();
            send(2);
            stamps.begin();
            send(3);
            stamps.end();
            send(2);
            stamps.begin();
            send(1);
            let found = all(&mut stamps);
            if found.is_empty() {
                eprintln!("{address}: this kernel does not stamp what leaves");
                continue;
            }
            let numbers: Vec<u32> = found.iter().map(|stamp| stamp.number).collect();
            assert_eq!(numbers, [0, 1, 2, 3]);
            assert!(found.is_sorted_by_key(|stamp| stamp.ns), "{found:?}");
            assert!(found[0].ns >= begun && found[3].ns <= clock::realtime_ns());
        }
    }

    #[test]
    fn an_error_is_no_stamp_and_ends_the_look() {
        let gone = UdpSocket::bind("127.0.0.1:0").expect("loopback works");
        let to = gone.local_addr().expect("it is bound");
        drop(gone);
        let sender = UdpSocket::bind("127.0.0.1:0").expect("loopback works");
        setsockopt(&sender, nix::sys::socket::sockopt::Ipv4RecvErr, &true).expect("it is known");
        sender.connect(to).expect("loopback works");
        let mut stamps = TransmitStamps::of(&sender).expect("a handle");
        // No socket has the port. On loopback the error arrives at once.
        sender.send(&[0]).expect("the first is sent");
        assert_eq!(stamps.next(), None);
        assert!(!stamps.is_ours);
    }
}
