//! When datagrams really left: the kernel's software time stamps, taken where its driver hands them to the device.

use std::io::IoSliceMut;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::cmsg_space;
use nix::sys::socket::sockopt::Timestamping;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, TimestampingFlag, Timestamps, recvmsg, setsockopt,
};

/// `SO_EE_ORIGIN_TIMESTAMPING` (include/uapi/linux/errqueue.h): what tells stamps from errors in the queue of both.
const ORIGIN_TIMESTAMPING: u8 = 4;

/// When one datagram left, or one train of them that is cut later (UDP_SEGMENT).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransmitStamp {
    /// Which of those of its socket that were to have a stamp it is.
    pub number: u32,
    /// Time since 1970, in nanoseconds.
    pub ns: u64,
}

/// Has the kernel stamp what a socket sends, now and then, and reads the stamps.
#[derive(Debug)]
pub struct TransmitStamps {
    socket: OwnedFd,
    /// Whether the queue of stamps has only had such: ICMP errors are for the sender, whose call they fail, and one that is
    /// taken from here fails none. So it is not looked at again.
    is_ours: bool,
    controls: Vec<u8>,
}

impl TransmitStamps {
    /// Of that socket. `None`: no further handle on it can be had.
    pub fn of(socket: impl AsFd) -> Option<Self> {
        let socket = socket.as_fd().try_clone_to_owned().ok()?;
        Some(Self {
            socket,
            is_ours: true,
            // The error's address is in its message, too: room for either family.
            controls: cmsg_space!(Timestamps, libc::sock_extended_err, libc::sockaddr_in6),
        })
    }

    /// What is sent from now on has stamps, if the kernel makes any.
    pub fn begin(&self) {
        // What the kernel refuses shows in that no stamps come.
        let _ = self.set(TimestampingFlag::SOF_TIMESTAMPING_TX_SOFTWARE);
    }

    /// It has none any more.
    pub fn end(&self) {
        let _ = self.set(TimestampingFlag::empty());
    }

    /// Numbers go on as long as their flag stays set (Documentation/networking/timestamping.rst).
    fn set(&self, stamped: TimestampingFlag) -> nix::Result<()> {
        let always = TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE
            | TimestampingFlag::SOF_TIMESTAMPING_OPT_ID
            | TimestampingFlag::SOF_TIMESTAMPING_OPT_TSONLY;
        setsockopt(&self.socket, Timestamping, &(always | stamped))
    }
}

/// Those that are there. Does not wait.
impl Iterator for TransmitStamps {
    type Item = TransmitStamp;

    fn next(&mut self) -> Option<TransmitStamp> {
        if !self.is_ours {
            return None;
        }
        let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
        let mut nothing = [0; 1];
        let mut buffer = [IoSliceMut::new(&mut nothing)];
        let descriptor = self.socket.as_raw_fd();
        let message =
            recvmsg::<()>(descriptor, &mut buffer, Some(&mut self.controls), flags).ok()?;
        let (mut ns, mut number) = (None, None);
        for control in message.cmsgs().ok()? {
            match control {
                ControlMessageOwned::ScmTimestampsns(stamps) => {
                    let seconds = u64::try_from(stamps.system.tv_sec()).ok();
                    let rest = u64::try_from(stamps.system.tv_nsec()).ok();
                    ns = seconds.zip(rest).map(|(s, ns)| s * 1_000_000_000 + ns);
                }
                ControlMessageOwned::Ipv4RecvErr(error, _)
                | ControlMessageOwned::Ipv6RecvErr(error, _) => {
                    let is_stamp = error.ee_origin == ORIGIN_TIMESTAMPING;
                    number = Some(error.ee_data).filter(|_| is_stamp);
                }
                _ => {}
            }
        }
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
        // Nobody is there, which is said at once on loopback.
        sender.send(&[0]).expect("the first is sent");
        assert_eq!(stamps.next(), None);
        assert!(!stamps.is_ours);
    }
}
