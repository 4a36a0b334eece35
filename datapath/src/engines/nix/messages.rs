//! Calls of the nix crate with control messages.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, RawFd};

use libc::{in_addr, in_pktinfo, in6_addr, in6_pktinfo};
use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, sendmsg,
};

use crate::engine::{Arrived, ControlMemory, IoOptions, ReadControls};

/// Control messages of each call.
pub(super) struct Messages<R> {
    source: Option<Source>,
    class: Option<Class>,
    memory: ControlMemory,
    reader: R,
}

/// Source address of sent datagrams.
enum Source {
    V4(in_pktinfo),
    V6(in6_pktinfo),
}

/// Traffic class of sent datagrams.
enum Class {
    V4(u8),
    V6(i32),
}

impl<R: ReadControls> Messages<R> {
    pub(super) fn open(socket: &impl AsFd, options: &IoOptions) -> io::Result<Self> {
        let own = socket2::SockRef::from(socket).local_addr()?.as_socket();
        let class = options.controls.sent_class().map(|class| match own {
            Some(SocketAddr::V6(_)) => Class::V6(class.into()),
            _ => Class::V4(class),
        });
        Ok(Self {
            source: options.controls.source(socket)?.map(Source::of),
            class,
            memory: ControlMemory::EMPTY,
            reader: R::open(socket, options.received_controls())?,
        })
    }

    #[inline]
    pub(super) fn send(
        &self,
        socket: RawFd,
        payload: &[u8],
        to: Option<&SockaddrStorage>,
    ) -> nix::Result<usize> {
        let source = self.source.as_ref().map(Source::message);
        let class = self.class.as_ref().map(Class::message);
        let payload = [IoSlice::new(payload)];
        let send = |messages: &[ControlMessage<'_>]| {
            sendmsg(socket, &payload, messages, MsgFlags::empty(), to)
        };
        match (source, class) {
            (Some(source), Some(class)) => send(&[source, class]),
            (Some(message), None) | (None, Some(message)) => send(&[message]),
            (None, None) => send(&[]),
        }
    }

    #[inline]
    pub(super) fn receive(
        &mut self,
        socket: RawFd,
        buffer: &mut [u8],
    ) -> nix::Result<(usize, Option<SockaddrStorage>)> {
        let mut buffers = [IoSliceMut::new(buffer)];
        let memory = Some(&mut self.memory.0[..]);
        let message = recvmsg(socket, &mut buffers, memory, MsgFlags::empty())?;
        match message.cmsgs() {
            Ok(messages) => self.reader.compare(&arrived(messages)),
            Err(Errno::ENOBUFS) => self.reader.cut_off(),
            Err(errno) => return Err(errno),
        }
        Ok((message.bytes, message.address))
    }

    pub(super) fn check(&self) -> io::Result<()> {
        self.reader.verdict()
    }
}

/// Collects what control messages tell.
#[inline]
fn arrived(messages: impl Iterator<Item = ControlMessageOwned>) -> Arrived {
    let mut arrived = Arrived::default();
    for message in messages {
        match message {
            ControlMessageOwned::Ipv4PacketInfo(info) => {
                let ip = Ipv4Addr::from(info.ipi_addr.s_addr.to_ne_bytes());
                arrived.destination = Some(ip.into());
            }
            ControlMessageOwned::Ipv6PacketInfo(info) => {
                let ip = Ipv6Addr::from(info.ipi6_addr.s6_addr);
                arrived.destination = Some(IpAddr::V6(ip));
            }
            ControlMessageOwned::Ipv4Tos(class) => arrived.traffic_class = Some(class),
            ControlMessageOwned::Ipv6TClass(class) => {
                arrived.traffic_class = u8::try_from(class).ok();
            }
            ControlMessageOwned::ScmTimestampns(time) => {
                let seconds = u64::try_from(time.tv_sec()).ok();
                let ns = u64::try_from(time.tv_nsec()).ok();
                let at_ns = seconds.zip(ns);
                arrived.at_ns = at_ns.map(|(seconds, ns)| seconds * 1_000_000_000 + ns);
            }
            _ => {}
        }
    }
    arrived
}

impl Source {
    fn of(own: SocketAddr) -> Self {
        match own {
            SocketAddr::V4(own) => Self::V4(in_pktinfo {
                ipi_ifindex: 0,
                ipi_spec_dst: in_addr {
                    s_addr: u32::from_ne_bytes(own.ip().octets()),
                },
                ipi_addr: in_addr { s_addr: 0 },
            }),
            SocketAddr::V6(own) => Self::V6(in6_pktinfo {
                ipi6_addr: in6_addr {
                    s6_addr: own.ip().octets(),
                },
                #[allow(
                    clippy::useless_conversion,
                    reason = "its type differs between C libraries"
                )]
                ipi6_ifindex: own.scope_id().into(),
            }),
        }
    }

    #[inline]
    fn message(&self) -> ControlMessage<'_> {
        match self {
            Self::V4(info) => ControlMessage::Ipv4PacketInfo(info),
            Self::V6(info) => ControlMessage::Ipv6PacketInfo(info),
        }
    }
}

impl Class {
    #[inline]
    fn message(&self) -> ControlMessage<'_> {
        match self {
            Self::V4(class) => ControlMessage::Ipv4Tos(class),
            Self::V6(class) => ControlMessage::Ipv6TClass(class),
        }
    }
}
