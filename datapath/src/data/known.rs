//! Properties of known engines by name, for programs that have only rows: rows do not contain them.

use super::{EngineName, EngineProperties, Group};

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
