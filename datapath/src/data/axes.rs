//! Types of the parameters that span the matrix of cases. Parsing refuses impossible values.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::bounded::{bounded, choice, text_form};
use crate::sys::interface_addresses;
use crate::sys::scheduling::{Class, MOST_PRIORITY};

bounded! {
    /// Number of threads. One thread sends and receives in turn. More are divided between senders and receivers; an
    /// odd one is a sender, because the sender is the bottleneck on loopback.
    Threads(u16, "u16"), 1, Self::MAX, "use a number from {} to {}"
}

impl Threads {
    /// Maximum of one case. Beyond it, descriptors and memory are the limits, not UDP.
    pub const MAX: u16 = 256;

    /// Returns whether one thread sends and receives in turn.
    pub fn is_alone(self) -> bool {
        self.0 == 1
    }

    /// Returns the number of sending threads.
    pub fn senders(self) -> usize {
        self.count().div_ceil(2)
    }

    /// Returns the number of receiving threads.
    pub fn receivers(self) -> usize {
        (self.count() / 2).max(1)
    }
}

bounded! {
    /// Payload of each datagram or message, in bytes: 0 to [`Payload::MAX`], and to [`Payload::MAX_DATAGRAM`] for
    /// transports that keep messages whole.
    Payload(u32, "u32", bytes), 0, Self::MAX,
    "use a number of bytes from {} to {}; a UDP datagram carries 65507 at most"
}

impl Payload {
    /// Empty payload.
    pub const MIN: Self = Self(0);
    /// Maximum payload of a message in a stream: 1 MiB.
    pub const MAX: u32 = 1 << 20;
    /// Maximum payload of a datagram over IPv4: 65535 B less 20 B of IP header and 8 B of UDP header (RFC 768, 791).
    pub const MAX_DATAGRAM: u32 = 65_507;
    /// Maximum payload that fits one packet over IPv6 with the loopback's MTU of 65536 B. Above it, two fragments are
    /// sent.
    pub const MAX_UNFRAGMENTED_V6: u32 = 65_488;
}

bounded! {
    /// Maximum number of datagrams per system call, for engines that batch: 1 to [`Batch::MAX`].
    Batch(u16, "u16"), 1, Self::MAX, "use a number of datagrams from {} to {}"
}

impl Batch {
    /// Maximum that sendmmsg(2) sends in a call: it takes more, but leaves the rest (UIO_MAXIOV, `__sys_sendmmsg` in
    /// net/socket.c). recvmmsg(2) has no such limit.
    pub const MAX: u16 = 1024;
    /// Default. Larger batches gain little.
    pub const DEFAULT: Self = Self(32);
}

bounded! {
    /// Maximum number of datagrams in a train that one call hands to the kernel for segmentation: 1 to
    /// [`Train::MAX`].
    Train(u16, "u16"), 1, Self::MAX, "use a number of datagrams from {} to {}"
}

impl Train {
    /// Maximum of UDP_SEGMENT since Linux 6.9 (UDP_MAX_SEGMENTS). 64 before.
    pub const MAX: u16 = 128;
}

choice! {
    /// What the loopback does with a train of datagrams that one call hands over.
    LoopbackTrains {
        /// It cuts the train into datagrams, as must be done before a NIC without segmentation offload.
        Cut "cut",
        /// It passes the train on as one packet, which no NIC does.
        Whole "whole",
    }
}

bounded! {
    /// Number of worker threads of one tokio runtime that all bench threads of a case share: up to [`Workers::MAX`].
    Workers(u16, "u16"), 0, Self::MAX, "use a number from {} to {}"
}

impl Workers {
    /// No workers: each bench thread has a runtime of its own.
    pub const NONE: Self = Self(0);
    /// Maximum: the maximum number of bench threads.
    pub const MAX: u16 = Threads::MAX;
}

choice! {
    /// Connected or unconnected sockets. A receiver is connected only where exactly one sender reaches it.
    #[derive(Default)]
    Connection {
        /// `send`/`recv` on connected sockets.
        #[default]
        Connected "connected",
        /// `send_to`/`recv_from`, with an address in every call.
        Unconnected "unconnected",
    }
}

impl Connection {
    /// Returns the abbreviation for tables.
    pub fn short(self) -> &'static str {
        match self {
            Self::Connected => "conn",
            Self::Unconnected => "unconn",
        }
    }
}

choice! {
    /// Transport of the messages from one end to the other.
    #[derive(Default)]
    Transport {
        /// UDP: a message is a datagram, and may be lost.
        #[default]
        Udp "udp",
        /// A pair of Unix sockets that keep messages apart (SOCK_DGRAM).
        UnixDgram "unix-dgram",
        /// A pair of Unix sockets, a stream of bytes.
        UnixStream "unix-stream",
        /// TCP: a stream of bytes, in which a message is as many as a payload has.
        Tcp "tcp",
        /// TCP, where each message begins with its length.
        FramedTcp "framed-tcp",
        /// WebSocket over TCP, without TLS (RFC 6455).
        Websocket "websocket",
    }
}

impl Transport {
    /// Returns whether it preserves message boundaries.
    pub fn keeps_messages(self) -> bool {
        matches!(self, Self::Udp | Self::UnixDgram)
    }

    /// Returns whether it is a Unix socket, without IP.
    pub fn is_unix(self) -> bool {
        matches!(self, Self::UnixDgram | Self::UnixStream)
    }
}

choice! {
    /// Way in which receivers wait, for engines that can do both.
    Wait {
        /// They sleep until something comes.
        Block "block",
        /// They call again and again: no sleep and no wake-up, but a whole CPU.
        Spin "spin",
    }
}

choice! {
    /// The version of IP.
    Ip {
        /// IPv4.
        V4 "v4",
        /// IPv6.
        V6 "v6",
    }
}

choice! {
    /// Which way datagrams go between two hosts, as seen from the one at which udpbench was started.
    Direction {
        /// From here to there.
        Up "up",
        /// From there to here.
        Down "down",
        /// Both at once, over the same sockets.
        Both "both",
    }
}

impl Ip {
    /// Returns the loopback address.
    pub fn loopback(self) -> IpAddr {
        match self {
            Self::V4 => Ipv4Addr::LOCALHOST.into(),
            Self::V6 => Ipv6Addr::LOCALHOST.into(),
        }
    }

    /// Returns the first address of an interface of this host. `None`: no interface has one.
    pub fn local(self) -> Option<IpAddr> {
        interface_addresses::of_interfaces()
            .into_iter()
            .find(|address| address.is_ipv6() == (self == Self::V6))
    }
}

/// Scheduling class and priority of bench threads: `other`, `fifo:50`, `rr:10`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sched {
    /// The usual class.
    Other,
    /// SCHED_FIFO with this priority, from 1.
    Fifo(u8),
    /// SCHED_RR with this priority, from 1.
    RoundRobin(u8),
}

impl Sched {
    /// Returns the class and the priority, which is 0 for the usual class.
    pub fn class(self) -> (Class, u8) {
        match self {
            Self::Other => (Class::Other, 0),
            Self::Fifo(priority) => (Class::Fifo, priority),
            Self::RoundRobin(priority) => (Class::RoundRobin, priority),
        }
    }

    /// Returns the real-time priority. `None`: the usual class has none.
    pub fn priority(self) -> Option<u8> {
        Some(self.class().1).filter(|&priority| priority > 0)
    }

    const FIX: &str = "use other, or fifo or rr with a priority from 1 to 98, such as fifo:50";

    fn parse(text: &str) -> Option<Self> {
        if text == "other" {
            return Some(Self::Other);
        }
        let (class, priority) = text.split_once(':')?;
        let priority = priority.parse().ok()?;
        let is_in_range = (1..=MOST_PRIORITY).contains(&priority);
        match class {
            "fifo" if is_in_range => Some(Self::Fifo(priority)),
            "rr" if is_in_range => Some(Self::RoundRobin(priority)),
            _ => None,
        }
    }

    fn text(self) -> String {
        match self {
            Self::Other => "other".to_owned(),
            Self::Fifo(priority) => format!("fifo:{priority}"),
            Self::RoundRobin(priority) => format!("rr:{priority}"),
        }
    }
}

text_form!(Sched);

choice! {
    /// Locking of the memory of the process that runs the bench threads.
    Mlock {
        /// Memory may be swapped or not yet be in RAM, as usual.
        Off "off",
        /// All memory stays in RAM (mlockall(2)).
        On "on",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_odd_thread_is_a_sender() {
        let sides = |count| (Threads(count).senders(), Threads(count).receivers());
        assert_eq!(sides(1), (1, 1));
        assert_eq!(sides(2), (1, 1));
        assert_eq!(sides(3), (2, 1));
        assert_eq!(sides(7), (4, 3));
    }

    #[test]
    fn axes_refuse_what_cannot_be() {
        assert!("0".parse::<Threads>().is_err());
        assert!("257".parse::<Threads>().is_err());
        assert!("1048577".parse::<Payload>().is_err());
        assert!("-1".parse::<Payload>().is_err());
        assert_eq!(
            "1048576".parse::<Payload>().map(Payload::bytes),
            Ok(1 << 20)
        );
    }

    #[test]
    fn a_class_has_a_priority_that_leaves_one_above_it() {
        for text in ["other", "fifo:1", "rr:98"] {
            let sched: Sched = text.parse().expect("one of them");
            assert_eq!(sched.to_string(), text);
        }
        for text in ["", "fifo", "fifo:0", "fifo:99", "rr:x", "other:1", "idle:1"] {
            let fix = text.parse::<Sched>().expect_err(text);
            assert!(fix.contains("fifo:50"), "{fix}");
        }
    }
}
