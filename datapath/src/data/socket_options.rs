//! Socket options of a case, each of which is a parameter.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::bounded::{bounded, choice, text_form};
use super::workload::{ns_of, text_of};

bounded! {
    /// Requested SO_RCVBUF or SO_SNDBUF, in bytes: 1 to [`Buffer::MAX`]. The kernel grants twice the value, up to its
    /// limit (socket(7)).
    Buffer(u32, "u32", bytes), 1, Self::MAX, "use a number of bytes from {} to {}"
}

impl Buffer {
    /// Maximum: the kernel accepts an `int`, and doubles it.
    pub const MAX: u32 = i32::MAX as u32 / 2;
    /// Default for receivers. To bridge 4 ms of small datagrams, a receiver needs about 1300 slots of 832 B to 2.3 KiB
    /// each.
    pub const DEFAULT: Self = Self(4 << 20);
}

/// Method by which several receivers share the port and the flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sharing {
    /// One address by SO_REUSEPORT; the kernel chooses a receiver per flow.
    Reuseport(Spread),
    /// One address by SO_REUSEADDR; the kernel delivers all unicast to one of the receivers.
    Reuseaddr,
    /// No sharing: each receiver has a port of its own, and each sender has a fixed receiver.
    Separate,
}

impl Sharing {
    /// Default, and reference for comparisons.
    pub const DEFAULT: Self = Self::Reuseport(Spread::Even);

    /// Returns the method without its [`Spread`], as `--sharing` names it.
    pub fn kind(self) -> SharingKind {
        match self {
            Self::Reuseport(_) => SharingKind::Reuseport,
            Self::Reuseaddr => SharingKind::Reuseaddr,
            Self::Separate => SharingKind::Separate,
        }
    }

    /// Returns the distribution of the flows. `None`: the kernel does not choose a receiver per flow.
    pub fn spread(self) -> Option<Spread> {
        match self {
            Self::Reuseport(spread) => Some(spread),
            Self::Reuseaddr | Self::Separate => None,
        }
    }

    /// Returns whether all receivers are meant to get the same number of flows.
    pub fn is_even(self) -> bool {
        !matches!(
            self,
            Self::Reuseport(Spread::Hash | Spread::Cpu) | Self::Reuseaddr
        )
    }
}

impl FromStr for Sharing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(spread) = text.parse() {
            return Ok(Self::Reuseport(spread));
        }
        match text.parse()? {
            SharingKind::Reuseport => Ok(Self::DEFAULT),
            SharingKind::Reuseaddr => Ok(Self::Reuseaddr),
            SharingKind::Separate => Ok(Self::Separate),
        }
    }
}

impl fmt::Display for Sharing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reuseport(spread) => spread.fmt(f),
            Self::Reuseaddr | Self::Separate => self.kind().fmt(f),
        }
    }
}

choice! {
    /// A [`Sharing`] without its [`Spread`].
    SharingKind {
        /// See [`Sharing::Reuseport`].
        Reuseport "reuseport",
        /// See [`Sharing::Reuseaddr`].
        Reuseaddr "reuseaddr",
        /// See [`Sharing::Separate`].
        Separate "separate",
    }
}

choice! {
    /// Assignment of flows to receivers that share a port by SO_REUSEPORT.
    #[derive(Default)]
    Spread {
        /// By the kernel's hash, but with source ports by which every receiver gets the same number of flows
        /// (within one, where that cannot be), verified with probe datagrams before the start.
        #[default]
        Even "even",
        /// By the kernel's hash, as it comes.
        Hash "hash",
        /// By a program in the kernel that knows each flow's receiver (SO_ATTACH_REUSEPORT_CBPF).
        Bpf "bpf",
        /// To the receiver on the CPU that handles the packet (SO_INCOMING_CPU); by the kernel's hash where there is
        /// none.
        Cpu "cpu",
    }
}

bounded! {
    /// SO_PRIORITY of the senders' sockets, by which queueing disciplines choose a queue (socket(7), tc-prio(8)). Above
    /// 6 it needs CAP_NET_ADMIN.
    Priority(u8, "u8"), 0, 15, "use a number from {} to {}"
}

impl Priority {
    /// Default of a new socket without `--tos`.
    pub const DEFAULT: Self = Self(0);
    /// Highest one that needs no permission.
    pub const MAX_UNPRIVILEGED: Self = Self(6);
}

choice! {
    /// UDP checksum of the datagrams that are sent.
    #[derive(Default)]
    Checksum {
        /// The kernel or the interface computes it.
        #[default]
        On "on",
        /// Left out (SO_NO_CHECK, UDP_NO_CHECK6_TX).
        Off "off",
    }
}

/// The TOS byte in IPv4, or traffic class in IPv6. A DSCP (RFC 2474) is in the upper 6 bits, ECN (RFC 3168) in the
/// lower 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tos(u8);

/// Names of DSCP code points beside `cs0` to `cs7` (RFC 2474) and `af11` to `af43` (RFC 2597): RFC 3246 (ef), 5865
/// (va), 8622 (le).
const NAMES: [(&str, u8); 4] = [("le", 1), ("va", 44), ("ef", 46), ("default", 0)];

/// Returns all names of DSCP code points.
fn names() -> impl Iterator<Item = (String, u8)> {
    let classes = (0..8).map(|class| (format!("cs{class}"), 8 * class));
    let forwarding = |n: u8| (1 + n / 3, 1 + n % 3);
    let assured = (0..12).map(forwarding);
    let assured = assured.map(|(class, drop)| (format!("af{class}{drop}"), 8 * class + 2 * drop));
    let others = NAMES.iter().map(|(name, dscp)| ((*name).to_owned(), *dscp));
    classes.chain(assured).chain(others)
}

impl Tos {
    /// Default of a new socket.
    pub const DEFAULT: Self = Self(0);

    /// Returns the whole byte.
    pub fn class(self) -> u8 {
        self.0
    }

    /// Returns the byte for setsockopt(2).
    pub fn byte(self) -> u32 {
        self.0.into()
    }
}

impl FromStr for Tos {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.to_ascii_lowercase();
        let named = names().find(|(known, _)| *known == name);
        let byte = match (named, name.strip_prefix("0x")) {
            (Some((_, dscp)), _) => Some(dscp << 2),
            (None, Some(digits)) => u8::from_str_radix(digits, 16).ok(),
            (None, None) => name.parse().ok(),
        };
        byte.map(Self).ok_or_else(|| {
            "use a DSCP (cs0 to cs7, af11 to af43, ef, va, le) or the whole byte, 0 to 255 or 0x00 to 0xff".to_owned()
        })
    }
}

/// Shows the name if there is one (`ef`), else the byte (`185`).
impl fmt::Display for Tos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dscp, ecn) = (self.0 >> 2, self.0 & 0b11);
        match names().find(|(_, known)| *known == dscp) {
            Some((name, _)) if ecn == 0 => f.pad(&name),
            _ => self.0.fmt(f),
        }
    }
}

/// Kinds of control messages (cmsg(3)) that calls carry with each datagram: `none`, or kinds joined by `+`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cmsg(u8);

impl Cmsg {
    /// No control messages.
    pub const NONE: Self = Self(0);
    /// Local address: the source of a sent datagram, the destination of a received one (IP_PKTINFO, IPV6_PKTINFO).
    pub const PKTINFO: Self = Self(1);
    /// Traffic class with the ECN bits (IP_TOS, IPV6_TCLASS).
    pub const ECN: Self = Self(2);
    /// Arrival time of a received datagram (SO_TIMESTAMPNS).
    pub const TIMESTAMP: Self = Self(4);
    /// Kinds that senders write.
    pub const SENT: Self = Self::PKTINFO.and(Self::ECN);
    /// All kinds.
    pub const ALL: Self = Self::SENT.and(Self::TIMESTAMP);

    const NAMED: [(&'static str, Self); 3] = [
        ("pktinfo", Self::PKTINFO),
        ("ecn", Self::ECN),
        ("timestamp", Self::TIMESTAMP),
    ];

    /// Returns the kinds of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the kinds that both have.
    #[must_use]
    pub const fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns whether both have a kind.
    #[inline]
    pub const fn has(self, kind: Self) -> bool {
        self.0 & kind.0 != 0
    }

    /// Returns whether these kinds change a call of engines that can carry the kinds `sender` and `receiver`.
    pub const fn changes_calls(self, sender: Self, receiver: Self) -> bool {
        self.has(sender.common(Self::SENT).and(receiver))
    }

    const FIX: &str = "use none, or pktinfo, ecn and timestamp joined by +";

    fn parse(text: &str) -> Option<Self> {
        if text == "none" {
            return Some(Self::NONE);
        }
        text.split('+').try_fold(Self::NONE, |kinds, name| {
            let (_, kind) = Self::NAMED.iter().find(|(other, _)| *other == name)?;
            (!kinds.has(*kind)).then_some(kinds.and(*kind))
        })
    }

    fn text(self) -> String {
        let kinds = Self::NAMED.iter().filter(|(_, kind)| self.has(*kind));
        let names: Vec<&str> = kinds.map(|(name, _)| *name).collect();
        if names.is_empty() {
            "none".to_owned()
        } else {
            names.join("+")
        }
    }
}

text_form!(Cmsg);

/// Time for which a receive asks the interface itself for packets before it sleeps: `off`, or 1us to 10ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BusyPoll {
    /// Time in microseconds. 0: off.
    pub us: u16,
}

impl BusyPoll {
    /// Default: receives sleep until an interrupt.
    pub const OFF: Self = Self { us: 0 };
    const MOST_US: u16 = 10_000;
    const FIX: &str = "use off, or a time from 1us to 10ms, such as 50us";

    fn parse(text: &str) -> Option<Self> {
        if text == "off" {
            return Some(Self::OFF);
        }
        let ns = ns_of(text).filter(|ns| ns % 1000 == 0)?;
        let us = u16::try_from(ns / 1000).ok()?;
        (1..=Self::MOST_US).contains(&us).then_some(Self { us })
    }

    fn text(self) -> String {
        match self {
            Self::OFF => "off".to_owned(),
            Self { us } => text_of(u64::from(us) * 1000),
        }
    }
}

text_form!(BusyPoll);

choice! {
    /// Poller of a receiver.
    PolledBy {
        /// The socket, in each call that receives (SO_BUSY_POLL).
        Socket "socket",
        /// The epoll instance that waits for the socket (EPIOCSPARAMS).
        Epoll "epoll",
        /// The io_uring that receives (IORING_REGISTER_NAPI).
        Uring "uring",
    }
}

/// Pollers found after the window of a case with busy polling.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusyPolled {
    /// Pollers whose time, read back, was the one asked for.
    pub by: BTreeSet<PolledBy>,
    /// Sockets that received.
    pub sockets: u32,
    /// Sockets of these whose last datagram came from a NAPI, so that there was something to poll.
    pub napi_sockets: u32,
}

impl BusyPolled {
    /// Adds what was found at the other end.
    pub fn add(&mut self, other: &Self) {
        self.by.extend(&other.by);
        self.sockets += other.sockets;
        self.napi_sockets += other.napi_sockets;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_the_same_byte() {
        let byte = |text: &str| text.parse().map(Tos::byte);
        assert_eq!(byte("ef"), Ok(184));
        assert_eq!(byte("EF"), Ok(184));
        assert_eq!(byte("0xb8"), Ok(184));
        assert_eq!(byte("184"), Ok(184));
        assert_eq!(byte("af41"), Ok(136));
        assert_eq!(byte("default"), Ok(0));
        for text in ["256", "-1", "0x100", "0x", "af14", "", "ef "] {
            byte(text).expect_err(text);
        }
    }

    #[test]
    fn every_byte_is_read_back_as_it_is_shown() {
        for byte in 0..=255 {
            let tos = Tos(byte);
            assert_eq!(tos.to_string().parse(), Ok(tos));
        }
        assert_eq!(Tos(184).to_string(), "ef");
        assert_eq!(Tos(185).to_string(), "185");
    }

    #[test]
    fn kinds_are_joined_in_any_order_and_shown_in_one() {
        for (text, shown) in [
            ("none", "none"),
            ("ecn", "ecn"),
            ("timestamp+pktinfo", "pktinfo+timestamp"),
            ("ecn+timestamp+pktinfo", "pktinfo+ecn+timestamp"),
        ] {
            let kinds: Cmsg = text.parse().expect("kinds");
            assert_eq!(kinds.to_string(), shown);
        }
        for text in ["", "+", "ecn+", "ecn+ecn", "none+ecn", "tos", "ECN"] {
            let fix = text.parse::<Cmsg>().expect_err(text);
            assert!(fix.contains("joined by +"), "{fix}");
        }
    }

    #[test]
    fn time_stamps_are_for_receivers_only() {
        let (all, none) = (Cmsg::ALL, Cmsg::NONE);
        assert!(!Cmsg::TIMESTAMP.changes_calls(all, none));
        assert!(Cmsg::TIMESTAMP.changes_calls(none, all));
        assert!(Cmsg::ECN.changes_calls(all, none) && Cmsg::ECN.changes_calls(none, all));
        assert!(!Cmsg::ALL.changes_calls(none, none) && !none.changes_calls(all, all));
    }

    #[test]
    fn times_are_understood_and_written_as_people_type_them() {
        for text in ["off", "1us", "50us", "1500us", "10ms"] {
            let poll = text.parse::<BusyPoll>().expect(text);
            assert_eq!(poll.to_string(), text);
        }
        for text in [
            "", "0us", "on", "50", "999ns", "1500ns", "11ms", "1s", "-1us",
        ] {
            let fix = text.parse::<BusyPoll>().expect_err(text);
            assert!(fix.contains("1us to 10ms"), "{fix}");
        }
    }
}
