//! Engines as data: names, groups and properties that results depend on. Their code is in [`crate::engines`].

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::bounded::{choice, stored_as_text};

/// The name of an engine on the command line and in files: 1 to 24 lowercase letters, digits and hyphens. This build
/// may lack the engine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EngineName {
    /// ASCII text, padded with zeros.
    text: [u8; Self::MAX_BYTES],
    bytes: u8,
}

impl EngineName {
    const MAX_BYTES: usize = 24;
    /// The engine that all others are compared with, on connected sockets.
    pub const REFERENCE: Self = Self::new("std");

    /// Returns a name that is written in the program's source.
    ///
    /// # Panics
    /// Panics if the name is not valid. In a constant, this is a compile-time error.
    pub const fn new(name: &str) -> Self {
        match Self::parse(name.as_bytes()) {
            Some(name) => name,
            None => panic!("not the name of an engine"),
        }
    }

    const fn parse(name: &[u8]) -> Option<Self> {
        if name.is_empty() || name.len() > Self::MAX_BYTES {
            return None;
        }
        let mut text = [0; Self::MAX_BYTES];
        let mut at = 0;
        while at < name.len() {
            if !matches!(name[at], b'a'..=b'z' | b'0'..=b'9' | b'-') {
                return None;
            }
            text[at] = name[at];
            at += 1;
        }
        #[expect(clippy::cast_possible_truncation, reason = "24 at most")]
        let bytes = name.len() as u8;
        Some(Self { text, bytes })
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.text[..usize::from(self.bytes)]).unwrap_or_default()
    }
}

impl FromStr for EngineName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let most = Self::MAX_BYTES;
        Self::parse(text.as_bytes()).ok_or_else(|| {
            format!("an engine's name has 1 to {most} lowercase letters, digits and hyphens")
        })
    }
}

stored_as_text!(EngineName);

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

choice! {
    /// The kinds of engines.
    Group {
        /// One datagram per call, on blocking sockets or in a spin loop.
        Blocking "blocking",
        /// Several datagrams per call.
        Batch "batch",
        /// Engines that wait until a socket is ready, then call.
        Readiness "readiness",
        /// Futures on a runtime.
        Async "async",
        /// Segmentation offload: the kernel splits (GSO) and coalesces (GRO) datagrams. Zero copy: the NIC reads them
        /// from the program's memory.
        Offload "offload",
        /// Programs in any language, each a process per bench thread (`--engine exec:PROGRAM`).
        Program "program",
        /// Engines that measure the overhead of the benchmark itself.
        Harness "harness",
    }
}

impl Group {
    /// The groups that `--engine` accepts.
    pub const NAMED: [Self; 5] = [
        Self::Blocking,
        Self::Batch,
        Self::Readiness,
        Self::Async,
        Self::Offload,
    ];
}

/// Properties of an engine that its rows depend on, apart from its counts. They are in the header of a log, so that a
/// build without the engine makes the same rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineProperties {
    /// Name of the engine.
    pub name: EngineName,
    /// Group of the engine.
    pub group: Group,
    /// True if it moves datagrams over sockets.
    pub moves_datagrams: bool,
    /// True if its receiver may get several datagrams as one GRO aggregate. The kernel counts a dropped aggregate as
    /// one datagram.
    pub receives_aggregates: bool,
    /// Maximum number of GRO aggregates that one call receives.
    pub aggregates_per_call: u32,
    /// True if its bench threads can run on shared worker threads.
    pub shares_workers: bool,
    /// Reason why a receiver of this engine may sleep on a full queue. `None`: it cannot.
    pub starves: Option<String>,
    /// Path of the program, if the engine is one.
    pub executable: Option<PathBuf>,
}

impl EngineProperties {
    /// Properties of an engine without special properties.
    pub const PLAIN: Self = Self {
        name: EngineName::REFERENCE,
        group: Group::Blocking,
        moves_datagrams: true,
        receives_aggregates: false,
        aggregates_per_call: 1,
        shares_workers: false,
        starves: None,
        executable: None,
    };
}

const MIO_ONCE_STARVES: &str = "mio is edge-triggered: one receive per event leaves datagrams behind, and once \
                                the queue is full no new edge comes: use mio-exhaustive or mio-level";

impl EngineProperties {
    /// Returns the properties of the engine of this name, even if this build lacks it. `None`: the name is unknown;
    /// charts and rankings treat such an engine like any other. A test compares this list with the registry.
    pub fn known(name: EngineName) -> Option<Self> {
        let group = match name.as_str() {
            "std" | "socket2" | "nix" | "spin" => Group::Blocking,
            "mmsg" | "uring" => Group::Batch,
            "poll" | "epoll-level" | "epoll-drain" | "message-io" | "mio-level"
            | "mio-exhaustive" | "mio-eager" | "mio-once" => Group::Readiness,
            "tokio" | "tokio-exhaustive" => Group::Async,
            "gso" | "gro" | "zerocopy" | "uring-zerocopy" | "quinn-udp" => Group::Offload,
            "null" => Group::Harness,
            _ => return None,
        };
        let is_one_of = |names: &[&str]| names.contains(&name.as_str());
        Some(Self {
            name,
            group,
            moves_datagrams: group != Group::Harness,
            receives_aggregates: is_one_of(&["gro", "quinn-udp"]),
            aggregates_per_call: if is_one_of(&["quinn-udp"]) { 32 } else { 1 },
            shares_workers: is_one_of(&["tokio", "tokio-exhaustive"]),
            starves: is_one_of(&["mio-once"]).then(|| MIO_ONCE_STARVES.to_owned()),
            executable: None,
        })
    }
}

/// Properties of the two engines of a case.
#[derive(Clone, Copy, Debug)]
pub struct EnginePair<'a> {
    /// Properties of the senders' engine.
    pub sender: &'a EngineProperties,
    /// Properties of the receivers' engine.
    pub receiver: &'a EngineProperties,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_can_stand_in_a_key() {
        let longest = "a".repeat(EngineName::MAX_BYTES);
        for name in ["std", "mio-level", "socket2", &longest] {
            let parsed: EngineName = name.parse().expect(name);
            assert_eq!(parsed.as_str(), name);
        }
        let too_long = "a".repeat(EngineName::MAX_BYTES + 1);
        for name in ["", "Std", "a/b", "a:b", "a b", "\u{e9}", "a\n", &too_long] {
            name.parse::<EngineName>().expect_err(name);
        }
    }
}
