//! Points of the contract, and findings: what an engine does against them.

use std::fmt;

use crate::data::choice;

choice! {
    /// A point of the contract between loops and engines.
    #[non_exhaustive]
    Point {
        /// [`Engine::start`](crate::engine::Engine::start) and [`Engine::open`](crate::engine::Engine::open) succeed.
        Opens "the engine opens",
        /// [`Engine::open`](crate::engine::Engine::open) refuses several endpoints if the engine does not serve them.
        Endpoints "several endpoints are served or refused",
        /// Datagrams go out over the endpoint's socket: over its connection, or to
        /// [`Fill::destination`](crate::engine::payload::Fill::destination), or else to the endpoint's peer.
        Destination "datagrams go from the socket to their destination",
        /// Before each batch, [`Fill::fill`](crate::engine::payload::Fill::fill) sees the memory that is sent.
        Fill "Fill sees what is sent",
        /// A datagram that is in the socket is received, also if it arrives during the wait or is one of many.
        Arrival "what arrives is received",
        /// [`Check`](crate::engine::payload::Check) sees each received datagram once, with its own length.
        Check "Check sees what is received",
        /// [`Origin`](crate::engine::payload::Origin) has the endpoint, and the source unless it is connected.
        Source "the origin is the source",
        /// A [`BatchCount`](crate::engine::BatchCount) has the datagrams and bytes that were moved.
        Count "the count is what was moved",
        /// A call moves no more than [`IoOptions::batch`](crate::engine::IoOptions::batch) datagrams, and no more than one
        /// unless the engine's group is [`Batch`](crate::engine::Group::Batch) or
        /// [`Offload`](crate::engine::Group::Offload).
        Batch "a call moves at most a batch",
        /// A datagram without payload is a datagram.
        EmptyDatagram "a datagram may be empty",
        /// Calls carry the control messages of [`IoOptions::controls`](crate::engine::IoOptions::controls), and a wrong one
        /// is told.
        Controls "control messages are sent and read",
        /// A signal ends a wait, with `Interrupted`.
        Interrupted "a signal ends a wait",
        /// A receiver that spins never waits; another one waits.
        Spin "only a receiver that spins does not wait",
        /// Nothing panics.
        Panic "nothing panics",
    }
}

/// Something that an engine does against the contract.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The point that the engine breaks.
    pub point: Point,
    /// Conduct of the engine, and how to mend it.
    pub found: String,
    /// Sockets and directions of the checks that found it.
    pub when: Vec<String>,
}

impl Finding {
    /// Creates a finding of a check that is running.
    pub(super) fn new(point: Point, found: impl Into<String>) -> Self {
        Self {
            point,
            found: found.into(),
            when: Vec::new(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { point, found, when } = self;
        write!(f, "{point}: {found}")?;
        if !when.is_empty() {
            write!(f, " [{}]", when.join("; "))?;
        }
        Ok(())
    }
}
