//! What tables of rows do not say of their engines.

use super::{EngineName, Group, Traits};

const MIO_ONCE_STARVES: &str = "mio is edge-triggered: one receive per event leaves datagrams behind, and once \
                                the queue is full no new edge comes: use mio-exhaustive or mio-level";

impl Traits {
    /// Returns what is known of an engine by its name alone, whether or not this build has it: for pictures and
    /// rankings of rows. An engine that is not here is ranked. A test holds this against the registry.
    pub fn known(name: EngineName) -> Option<Self> {
        let group = match name.as_str() {
            "std" | "socket2" | "nix" | "spin" => Group::Blocking,
            "mmsg" | "uring" => Group::Batch,
            "poll" | "epoll-level" | "epoll-drain" | "message-io" | "mio-level"
            | "mio-exhaustive" | "mio-eager" | "mio-once" => Group::Readiness,
            "tokio" | "tokio-exhaustive" | "smol" => Group::Async,
            "gso" | "gro" | "quinn-udp" => Group::Offload,
            "null" => Group::Harness,
            _ => return None,
        };
        let plain = Self {
            name,
            group,
            ..Self::PLAIN
        };
        Some(match name.as_str() {
            "null" => Self {
                moves_datagrams: false,
                ..plain
            },
            "mio-once" => Self {
                starves: Some(MIO_ONCE_STARVES.to_owned()),
                ..plain
            },
            "tokio" | "tokio-exhaustive" => Self {
                shares_workers: true,
                ..plain
            },
            "gro" => Self {
                joins: true,
                ..plain
            },
            "quinn-udp" => Self {
                joins: true,
                joined_per_call: 32,
                ..plain
            },
            _ => plain,
        })
    }
}
