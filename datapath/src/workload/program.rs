//! What one thread of a workload does.

use std::sync::Arc;

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
    /// The side of the workload that the thread is on.
    pub fn side(&self) -> Side {
        match self {
            Self::Flood(_) => Side::Sender,
            Self::Sink(_) => Side::Receiver,
            Self::Turns(..) => Side::Alone,
        }
    }
}
