//! A case, one point of the matrix, and the types of its axes: parsed once, valid ever after.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::engine::Entry;
use crate::engines;

/// A value for every axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// The engine of the senders.
    pub sender: &'static Entry,
    /// The engine of the receivers.
    pub receiver: &'static Entry,
    /// How many threads, and so how many sockets on each side.
    pub threads: Threads,
    /// Payload of each datagram.
    pub payload: Payload,
    /// Whether the sockets are connected.
    pub connection: Connection,
    /// Which loopback address.
    pub ip: Ip,
}

impl Case {
    /// The stable text by which the results of two runs are matched.
    pub fn key(&self) -> String {
        format!(
            "{}:{}/{}t/{}B/{}/{}",
            self.sender, self.receiver, self.threads, self.payload, self.connection, self.ip
        )
    }

    /// What this case is held side by side with.
    pub fn block(&self) -> BlockKey {
        BlockKey {
            threads: self.threads,
            payload: self.payload,
            ip: self.ip,
        }
    }

    /// The reference case of this case's block: `std` on connected sockets.
    pub fn reference(&self) -> Self {
        Self {
            sender: engines::reference(),
            receiver: engines::reference(),
            connection: Connection::Connected,
            ..*self
        }
    }

    /// Whether this is the reference case of its block.
    pub fn is_reference(&self) -> bool {
        *self == self.reference()
    }

    /// The engine's name, or both where they differ: `gso>mmsg`.
    pub fn engine_label(&self) -> String {
        if self.sender == self.receiver {
            self.sender.name().to_owned()
        } else {
            format!("{}>{}", self.sender, self.receiver)
        }
    }
}

/// The axes that the cases of one block share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockKey {
    /// See [`Case::threads`].
    pub threads: Threads,
    /// See [`Case::payload`].
    pub payload: Payload,
    /// See [`Case::ip`].
    pub ip: Ip,
}

impl fmt::Display for BlockKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.threads.is_alone() { "" } else { "s" };
        let (threads, payload, ip) = (self.threads, self.payload, self.ip);
        write!(f, "{threads} thread{plural}, {payload} B, {ip}")
    }
}

/// How many threads: one sends and receives in turn; more are divided between senders and receivers,
/// and an odd one out is a sender, as the sender is the bottleneck on loopback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u16", into = "u16")]
pub struct Threads(u16);

impl Threads {
    /// The most that one case may have. Beyond this the limits are descriptors and memory, not UDP.
    pub const MAX: u16 = 256;

    /// How many threads in all.
    pub fn count(self) -> usize {
        usize::from(self.0)
    }

    /// One thread that sends and receives in turn.
    pub fn is_alone(self) -> bool {
        self.0 == 1
    }

    /// How many sender sockets.
    pub fn senders(self) -> usize {
        self.count().div_ceil(2)
    }

    /// How many receiver sockets.
    pub fn receivers(self) -> usize {
        (self.count() / 2).max(1)
    }

    fn cure() -> String {
        format!("use a number from 1 to {}", Self::MAX)
    }
}

impl TryFrom<u16> for Threads {
    type Error = String;

    fn try_from(count: u16) -> Result<Self, String> {
        if (1..=Self::MAX).contains(&count) {
            Ok(Self(count))
        } else {
            Err(format!("{count}: {}", Self::cure()))
        }
    }
}

impl From<Threads> for u16 {
    fn from(threads: Threads) -> Self {
        threads.0
    }
}

impl FromStr for Threads {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let count = text
            .parse()
            .ok()
            .and_then(|count: u16| Self::try_from(count).ok());
        count.ok_or_else(Self::cure)
    }
}

impl fmt::Display for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// UDP payload of each datagram, in bytes: 0 to [`Payload::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Payload(u32);

impl Payload {
    /// The most that IPv4 carries: 65535 less 20 B of IP header and 8 B of UDP header (RFC 768, 791).
    pub const MAX: u32 = 65_507;
    /// The most that fits one packet of the loopback's 65536 B MTU over IPv6; above it, two fragments.
    pub const MAX_UNFRAGMENTED_V6: u32 = 65_488;

    /// In bytes.
    pub fn bytes(self) -> usize {
        self.0 as usize
    }

    fn cure() -> String {
        format!(
            "use a number of bytes from 0 to {}, the most that one UDP datagram carries",
            Self::MAX
        )
    }
}

impl TryFrom<u32> for Payload {
    type Error = String;

    fn try_from(bytes: u32) -> Result<Self, String> {
        if bytes <= Self::MAX {
            Ok(Self(bytes))
        } else {
            Err(format!("{bytes}: {}", Self::cure()))
        }
    }
}

impl From<Payload> for u32 {
    fn from(payload: Payload) -> Self {
        payload.0
    }
}

impl FromStr for Payload {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bytes = text
            .parse()
            .ok()
            .and_then(|bytes: u32| Self::try_from(bytes).ok());
        bytes.ok_or_else(Self::cure)
    }
}

impl fmt::Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Whether `connect(2)` was called. A receiver is connected only where exactly one sender reaches it.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Connection {
    /// `send`/`recv` on connected sockets.
    Connected,
    /// `send_to`/`recv_from`, with an address in every call.
    Unconnected,
}

impl fmt::Display for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Connected => "connected",
            Self::Unconnected => "unconnected",
        })
    }
}

/// Which loopback address the datagrams go to.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Ip {
    /// 127.0.0.1
    V4,
    /// `::1`
    V6,
}

impl Ip {
    /// The loopback address itself.
    pub fn loopback(self) -> IpAddr {
        match self {
            Self::V4 => Ipv4Addr::LOCALHOST.into(),
            Self::V6 => Ipv6Addr::LOCALHOST.into(),
        }
    }
}

impl fmt::Display for Ip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::V4 => "v4",
            Self::V6 => "v6",
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn case() -> Case {
        Case {
            sender: engines::reference(),
            receiver: engines::reference(),
            threads: Threads(2),
            payload: Payload(300),
            connection: Connection::Connected,
            ip: Ip::V4,
        }
    }

    #[test]
    fn a_key_names_every_axis() {
        assert_eq!(case().key(), "std:std/2t/300B/connected/v4");
    }

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
        assert!("65508".parse::<Payload>().is_err());
        assert!("-1".parse::<Payload>().is_err());
        assert_eq!("65507".parse::<Payload>().map(Payload::bytes), Ok(65_507));
    }
}
