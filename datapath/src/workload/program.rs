//! What one thread of a workload does.

use std::sync::Arc;

use super::requests::Role;
use super::round_trips::RoundTripMeter;
use crate::data::Side;
use crate::engine::PortOptions;
use crate::engine::verify::{SequenceTracker, SequenceWriter};

/// What one thread does until the stop, and the ports that it opens.
#[derive(Debug)]
pub enum Program {
    /// Sends as fast as it can.
    Flood(Outgoing),
    /// Takes what comes.
    Sink(Incoming),
    /// Sends a burst and receives it, in turn.
    Turns(Outgoing, Incoming),
    /// Asks, or answers.
    Requests(PortOptions, Role),
}

/// A port that sends.
#[derive(Debug)]
pub struct Outgoing {
    /// What it is opened with.
    pub options: PortOptions,
    /// Makes each datagram hold something else, while the engine is verified.
    pub writer: Option<SequenceWriter>,
}

/// A port that receives.
#[derive(Debug)]
pub struct Incoming {
    /// What it is opened with.
    pub options: PortOptions,
    /// Where each datagram is entered, while the engine is verified.
    pub tracker: Option<Arc<SequenceTracker>>,
}

impl Program {
    /// Where the round trips of a client are counted.
    pub fn round_trips(&self) -> Option<Arc<RoundTripMeter>> {
        match self {
            Self::Requests(_, role) => role.round_trips(),
            _ => None,
        }
    }

    /// Whether the engine of the senders runs it. One that sends and receives in turn is of both.
    pub fn is_of_senders(&self) -> bool {
        match self {
            Self::Flood(_) | Self::Turns(..) => true,
            Self::Requests(_, role) => !matches!(role, Role::Server(..)),
            Self::Sink(_) => false,
        }
    }

    /// The side of the workload that the thread is on.
    pub fn side(&self) -> Side {
        match self {
            Self::Flood(_) => Side::Sender,
            Self::Sink(_) => Side::Receiver,
            Self::Turns(..) => Side::Alone,
            Self::Requests(_, role) => role.side(),
        }
    }
}
