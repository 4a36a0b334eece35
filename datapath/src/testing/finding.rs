//! Points of the contract, and findings: what an engine does against them.

use std::fmt;

/// A point of the contract between loops and engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Point {
    /// [`Engine::start`](crate::engine::Engine::start) and [`Engine::open`](crate::engine::Engine::open) succeed.
    Opens,
    /// [`Engine::open`](crate::engine::Engine::open) refuses several endpoints if the engine does not serve them.
    Endpoints,
    /// Datagrams go out over the endpoint's socket: over its connection, or to
    /// [`Fill::destination`](crate::engine::payload::Fill::destination), or else to the endpoint's peer.
    Destination,
    /// Before each batch, [`Fill::fill`](crate::engine::payload::Fill::fill) sees the memory that is sent.
    Fill,
    /// A datagram that is in the socket is received, also if it arrives during the wait or is one of many.
    Arrival,
    /// [`Check`](crate::engine::payload::Check) sees each received datagram once, with its own length.
    Check,
    /// [`Origin`](crate::engine::payload::Origin) has the endpoint, and the source unless it is connected.
    Source,
    /// A [`BatchCount`](crate::engine::BatchCount) has the datagrams and bytes that were moved.
    Count,
    /// A call moves no more than [`IoOptions::batch`](crate::engine::IoOptions::batch) datagrams, and no more than one
    /// unless the engine's group is [`Batch`](crate::engine::Group::Batch) or
    /// [`Offload`](crate::engine::Group::Offload).
    Batch,
    /// A datagram without payload is a datagram.
    EmptyDatagram,
    /// Calls carry the control messages of [`IoOptions::controls`](crate::engine::IoOptions::controls), and a wrong one
    /// is told.
    Controls,
    /// A signal ends a wait, with `Interrupted`.
    Interrupted,
    /// A receiver that spins never waits; another one waits.
    Spin,
    /// Nothing panics.
    Panic,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Opens => "the engine opens",
            Self::Endpoints => "several endpoints are served or refused",
            Self::Destination => "datagrams go from the socket to their destination",
            Self::Fill => "Fill sees what is sent",
            Self::Arrival => "what arrives is received",
            Self::Check => "Check sees what is received",
            Self::Source => "the origin is the source",
            Self::Count => "the count is what was moved",
            Self::Batch => "a call moves at most a batch",
            Self::EmptyDatagram => "a datagram may be empty",
            Self::Controls => "control messages are sent and read",
            Self::Interrupted => "a signal ends a wait",
            Self::Spin => "only a receiver that spins does not wait",
            Self::Panic => "nothing panics",
        })
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
