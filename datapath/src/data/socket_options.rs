//! Socket options of a case, each of which is a parameter.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::bounded::{bounded, choice};

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
    /// SO_PRIORITY of the senders' sockets, by which queueing disciplines choose a queue (socket(7), tc-prio(8)). Above 6
    /// it needs CAP_NET_ADMIN.
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

/// Names of DSCP code points beside `cs0` to `cs7` (RFC 2474) and `af11` to `af43` (RFC 2597): RFC 3246 (ef), 5865 (va),
/// 8622 (le).
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
}
