//! Programs: the tasks of the threads of a workload.

use std::sync::Arc;

use super::meters::{PaceMeter, RoundTripMeter};
use super::requests::Role;
use crate::data::Side;
use crate::engine::verify::{SequenceTracker, SequenceWriter};
use crate::engine::{FlowCounts, IoOptions};

/// Task of one thread until the stop, with the options of its sockets.
#[derive(Debug)]
pub enum Program {
    /// Sends at full speed.
    Flood(Outgoing),
    /// Receives everything that arrives.
    Sink(Incoming),
    /// Sends a batch and receives it, in turn.
    Turns(Outgoing, Incoming),
    /// Sends requests, responds to them, or floods at a fixed rate. One role for all endpoints, or one for each.
    Roles(IoOptions, Vec<Role>),
}

/// Sending side of a thread.
#[derive(Debug)]
pub struct Outgoing {
    /// Options to open it with.
    pub options: IoOptions,
    /// Writers that make each datagram unique during verification, one per endpoint. Else empty.
    pub writers: Vec<SequenceWriter>,
}

/// Receiving side of a thread.
#[derive(Debug)]
pub struct Incoming {
    /// Options to open it with.
    pub options: IoOptions,
    /// Tracker that records each datagram during verification.
    pub tracker: Option<Arc<SequenceTracker>>,
    /// Counter of the datagrams of each flow, if there are several flows.
    pub flows: Option<FlowCounts>,
}

impl Program {
    /// Returns the first of its roles.
    fn role(&self) -> Option<&Role> {
        match self {
            Self::Roles(_, roles) => roles.first(),
            Self::Flood(_) | Self::Sink(_) | Self::Turns(..) => None,
        }
    }

    /// Returns the counter of a client's round trips.
    pub fn round_trips(&self) -> Option<Arc<RoundTripMeter>> {
        match self.role()? {
            Role::Client(client) => Some(Arc::clone(&client.meter)),
            Role::Collector(collector) => Some(Arc::clone(&collector.meter)),
            _ => None,
        }
    }

    /// Returns the counter of a paced flood's accuracy.
    pub fn pace(&self) -> Option<Arc<PaceMeter>> {
        match self.role()? {
            Role::Flood(flood) => Some(Arc::clone(&flood.meter)),
            _ => None,
        }
    }

    /// Returns the counter of its flows, if it has several.
    pub fn flow_counts(&self) -> Option<FlowCounts> {
        match self {
            Self::Sink(incoming) => incoming.flows.clone(),
            _ => Some(self.role()?.numbering()?.flows.as_ref()?.counts.clone()),
        }
    }

    /// Returns whether the engine of the senders runs it. A thread that sends and receives in turn uses one engine for
    /// both.
    pub fn is_of_senders(&self) -> bool {
        !matches!(self, Self::Sink(_)) && self.side() != Side::Server
    }

    /// Returns the side of the workload that the thread runs.
    pub fn side(&self) -> Side {
        match self {
            Self::Flood(_) => Side::Sender,
            Self::Sink(_) => Side::Receiver,
            Self::Turns(..) => Side::Alone,
            Self::Roles(_, roles) => match roles.first() {
                Some(Role::Client(_)) => Side::Client,
                Some(Role::Pacer(_) | Role::Flood(_)) => Side::Sender,
                Some(Role::Collector(_)) => Side::Receiver,
                Some(Role::Server(_)) | None => Side::Server,
            },
        }
    }
}
