//! What files do not say of their engines: logs of format 2, and tables of rows.

use super::{EngineName, Group, Traits};

const MIO_ONCE_STARVES: &str = "mio is edge-triggered: one receive per event leaves datagrams behind, and once \
                                the queue is full no new edge comes: use mio-exhaustive or mio-level";

impl Traits {
    /// What is known of an engine by its name alone: of those that could be in a log of format 2, and of all that
    /// are not to be ranked. A test holds it against the registry.
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
