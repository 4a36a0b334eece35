//! What one thread of a workload does.

use std::sync::Arc;

use super::pace_meter::PaceMeter;
use super::requests::Role;
use super::round_trips::RoundTripMeter;
use crate::data::{Connection, Side};
use crate::engine::verify::{SequenceTracker, SequenceWriter};
use crate::engine::{FlowCounts, PortOptions};

/// What one thread does until the stop, and the ports that it opens.
#[derive(Debug)]
pub enum Program {
    /// Sends as fast as it can.
    Flood(Outgoing),
    /// Takes what comes.
    Sink(Incoming),
    /// Sends a burst and receives it, in turn.
    Turns(Outgoing, Incoming),
    /// Asks, answers, or floods at a rate: one role over all links, or one for each.
    Roles(PortOptions, Vec<Role>),
}

/// A port that sends.
#[derive(Debug)]
pub struct Outgoing {
    /// What it is opened with.
    pub options: PortOptions,
    /// Make each datagram hold something else, while the engine is verified: one for each link. Else none.
    pub writers: Vec<SequenceWriter>,
}

/// A port that receives.
#[derive(Debug)]
pub struct Incoming {
    /// What it is opened with.
    pub options: PortOptions,
    /// Where each datagram is entered, while the engine is verified.
    pub tracker: Option<Arc<SequenceTracker>>,
    /// Where each datagram is counted, if there are many flows.
    pub flows: Option<FlowCounts>,
}

impl Program {
    /// Where the round trips of a client are counted.
    pub fn round_trips(&self) -> Option<Arc<RoundTripMeter>> {
        match self {
            Self::Roles(_, roles) => roles.first()?.round_trips(),
            _ => None,
        }
    }

    /// Where a flood at a rate counts how it keeps to it.
    pub fn pace(&self) -> Option<Arc<PaceMeter>> {
        match self {
            Self::Roles(_, roles) => roles.first()?.pace(),
            _ => None,
        }
    }

    /// Where its flows are counted, if there are many.
    pub fn flow_counts(&self) -> Option<FlowCounts> {
        match self {
            Self::Sink(incoming) => incoming.flows.clone(),
            Self::Roles(_, roles) => roles.first()?.flow_counts(),
            Self::Flood(_) | Self::Turns(..) => None,
        }
    }

    /// Whether its sockets are connected, if that is not as in all of the case.
    pub(super) fn connection(&self) -> Option<Connection> {
        match self {
            Self::Roles(_, roles) => match roles.first()? {
                Role::Server(_, connection) => Some(*connection),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the engine of the senders runs it. One that sends and receives in turn is of both.
    pub fn is_of_senders(&self) -> bool {
        match self {
            Self::Flood(_) | Self::Turns(..) => true,
            Self::Roles(..) => self.side() != Side::Server,
            Self::Sink(_) => false,
        }
    }

    /// The side of the workload that the thread is on.
    pub fn side(&self) -> Side {
        match self {
            Self::Flood(_) => Side::Sender,
            Self::Sink(_) => Side::Receiver,
            Self::Turns(..) => Side::Alone,
            Self::Roles(_, roles) => roles.first().map_or(Side::Server, Role::side),
        }
    }
}
