//! How the sockets of a case are made: axes of their own.

use std::fmt;
use std::str::FromStr;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::bounded::bounded;

bounded! {
    /// What is asked for as SO_RCVBUF or SO_SNDBUF, in bytes: 1 to [`Buffer::MAX`]. The kernel grants twice
    /// as much, up to its limit (socket(7)).
    Buffer(u32, "u32"), 1, Self::MAX, "use a number of bytes from {} to {}"
}

impl Buffer {
    /// The kernel takes an `int`, and doubles it.
    pub const MAX: u32 = i32::MAX as u32 / 2;
    /// Of receivers: one that loses 4 ms of small datagrams needs about 1300 slots of 832 B to 2.3 KiB each.
    pub const DEFAULT: Self = Self(4 << 20);

    /// How many.
    pub fn bytes(self) -> usize {
        self.0 as usize
    }
}

/// How several receivers share the port, and which of them gets what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sharing {
    /// One address by SO_REUSEPORT; the kernel chooses a receiver per flow.
    Reuseport(Spread),
    /// One address by SO_REUSEADDR; the kernel gives all unicast to one of them.
    Reuseaddr,
    /// None: each has a port of its own, and senders know which is theirs.
    Separate,
}

impl Sharing {
    /// What everything else is held against.
    pub const DEFAULT: Self = Self::Reuseport(Spread::Even);

    /// How the port is shared, as `--sharing` calls it.
    pub fn kind(self) -> SharingKind {
        match self {
            Self::Reuseport(_) => SharingKind::Reuseport,
            Self::Reuseaddr => SharingKind::Reuseaddr,
            Self::Separate => SharingKind::Separate,
        }
    }

    /// How flows are spread, where the kernel chooses per flow.
    pub fn spread(self) -> Option<Spread> {
        match self {
            Self::Reuseport(spread) => Some(spread),
            Self::Reuseaddr | Self::Separate => None,
        }
    }

    /// Whether every receiver is meant to get as many flows as the next.
    pub fn is_even(self) -> bool {
        !matches!(self, Self::Reuseport(Spread::Hash) | Self::Reuseaddr)
    }
}

impl FromStr for Sharing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(spread) = Spread::from_str(text, false) {
            return Ok(Self::Reuseport(spread));
        }
        match SharingKind::from_str(text, false)? {
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

/// A [`Sharing`] without its [`Spread`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum SharingKind {
    /// See [`Sharing::Reuseport`].
    Reuseport,
    /// See [`Sharing::Reuseaddr`].
    Reuseaddr,
    /// See [`Sharing::Separate`].
    Separate,
}

impl fmt::Display for SharingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Reuseport => "reuseport",
            Self::Reuseaddr => "reuseaddr",
            Self::Separate => "separate",
        })
    }
}

/// How flows are spread over receivers that share a port by SO_REUSEPORT.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Spread {
    /// By the kernel's hash, but with source ports by which every receiver gets the same number of flows
    /// (within one, where that cannot be), verified with probe datagrams before the start.
    #[default]
    Even,
    /// By the kernel's hash, as it comes.
    Hash,
    /// By a program in the kernel that knows each flow's receiver (SO_ATTACH_REUSEPORT_CBPF).
    Bpf,
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Even => "even",
            Self::Hash => "hash",
            Self::Bpf => "bpf",
        })
    }
}
