//! The only loop that measures: it takes one step after the other, and writes down what happened.
//!
//! An [`Experiment`] says which step is next. It learns from events alone, live and from a log alike: so it goes on from its
//! log at any moment, and is tested without a socket.

mod preparing;
mod run;
mod settling;
mod step;

use std::time::{Duration, Instant};

pub use self::preparing::soak_of;
pub use self::run::{Ending, Journal, Means, run};
pub use self::step::{Begin, Soak, Step, Trial};
use crate::data::Sample;
use crate::error::UsageError;
use crate::results::log::{Event, First, Log};
use crate::results::row::Row;

/// A plan, what is known of it so far, and what to do next.
pub trait Experiment {
    /// The next step, at that moment. `None`: nothing is left to do, or no time.
    fn next(&mut self, now: Instant) -> Option<Step>;

    /// Takes what happened, and gives the rows that are final now.
    ///
    /// # Errors
    /// Why that cannot have happened, after what did before.
    fn take(&mut self, event: &Event) -> Result<Vec<Row>, String>;

    /// Whether nothing is left to do.
    fn is_complete(&self) -> bool;

    /// How far it is.
    fn work(&self) -> Work;

    /// The rows that are not final, and those of what never runs.
    fn rest(&self) -> Vec<Row> {
        Vec::new()
    }

    /// What is wrong with a trial, if anything: it is made once more.
    fn fault(&self, _trial: &Trial, sample: &Sample) -> Option<String> {
        // A link that went down explains the rest.
        sample.link_fault().or_else(|| sample.fault())
    }

    /// Whether a trial that was faulty twice is kept, for its row to say so. Otherwise its case has failed.
    fn keeps_faulty(&self) -> bool {
        false
    }

    /// Whether other programs may be why a trial tells nothing: it is made again while there is time.
    fn is_spoilt(&self, _trial: &Trial, _sample: &Sample, _now: Instant) -> bool {
        false
    }
}

/// An experiment that goes on from its log.
pub trait Logged: Experiment + Sized {
    /// The first line of the log: what is to be done.
    type Header: First;

    /// Nothing has happened yet.
    ///
    /// # Errors
    /// Why that cannot be done.
    fn begin(header: Self::Header) -> Result<Self, String>;

    /// What is to be done.
    fn header(&self) -> &Self::Header;

    /// What about the counts of an event cannot be, if anything. It is asked before that is taken.
    fn contradiction(&self, event: &Event) -> Option<String>;

    /// What a log says, and the rows that are final by it.
    ///
    /// # Errors
    /// The line that says what cannot have happened.
    fn replay(log: &Log<Self::Header>) -> Result<(Self, Vec<Row>), UsageError> {
        log.replay(Self::begin, Self::contradiction, Self::take)
    }

    /// The same without rows.
    ///
    /// # Errors
    /// As for [`Logged::replay`].
    fn of(log: &Log<Self::Header>) -> Result<Self, UsageError> {
        Ok(Self::replay(log)?.0)
    }
}

/// How far an experiment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Parts of it that are done.
    pub done: u64,
    /// Parts that there are in all, as far as that is known.
    pub all: u64,
    /// About how long each takes.
    pub each: Duration,
}
