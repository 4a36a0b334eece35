//! The measuring loop: takes the steps of an experiment one after the other, and logs the events.
//!
//! An [`Experiment`] chooses the next step. It learns from events alone, live or from a log. So it resumes from its log
//! at any moment, and tests need no socket.

mod preparing;
mod run;
mod settling;
mod step;

use std::time::{Duration, Instant};

pub use self::preparing::heat_of;
pub use self::run::{Ending, Journal, Resources, run};
pub use self::step::{Begin, Heat, Step, Trial};
use crate::data::Sample;
use crate::error::UsageError;
use crate::results::log::{Event, Kind, Log};
use crate::results::row::Row;

/// A plan, its results so far, and the choice of the next step.
pub trait Experiment {
    /// Returns the next step at the time `now`. `None`: nothing is left to do, or the time is used up.
    fn next(&mut self, now: Instant) -> Option<Step>;

    /// Takes an event and returns the rows that it makes final.
    ///
    /// # Errors
    /// Fails with the reason if the event cannot follow the earlier ones.
    fn take(&mut self, event: &Event) -> Result<Vec<Row>, String>;

    /// Returns whether nothing is left to do.
    fn is_complete(&self) -> bool;

    /// Returns the progress of the experiment.
    fn work(&self) -> Work;

    /// Returns the rows that are not final, and the rows of cases that never run.
    fn rest(&self) -> Vec<Row> {
        Vec::new()
    }

    /// Returns the fault of a trial, if it has one. A faulty trial is repeated.
    fn fault(&self, _trial: &Trial, sample: &Sample) -> Option<String> {
        // A link that went down explains all other faults.
        sample.link_fault().or_else(|| sample.fault())
    }

    /// Returns whether a trial that was faulty twice is kept, with the fault in its row. Otherwise its case has failed.
    fn keeps_faulty(&self) -> bool {
        false
    }

    /// Returns whether a trial lost too much while another program disturbed it. Such a trial is repeated while there
    /// is time.
    fn lost_while_disturbed(&self, _trial: &Trial, _sample: &Sample, _now: Instant) -> bool {
        false
    }
}

/// An experiment that can resume from its log.
pub trait Logged: Experiment + Sized {
    /// The first line of the log, which describes the task.
    type Header: Kind<Event = Event>;

    /// Creates the experiment before its first event.
    ///
    /// # Errors
    /// Fails with the reason if the task of the header cannot be done.
    fn begin(header: Self::Header) -> Result<Self, String>;

    /// Returns the header of the log.
    fn header(&self) -> &Self::Header;

    /// Restores the experiment from a log, with the rows that are final by then.
    ///
    /// # Errors
    /// Fails with the line of an event that cannot have happened.
    fn replay(log: &Log<Self::Header>) -> Result<(Self, Vec<Row>), UsageError> {
        log.replay(Self::begin, Self::take)
    }

    /// Restores the experiment from a log, without the rows.
    ///
    /// # Errors
    /// Fails with the line of an event that cannot have happened.
    fn of(log: &Log<Self::Header>) -> Result<Self, UsageError> {
        Ok(Self::replay(log)?.0)
    }
}

/// Progress of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Parts that are done.
    pub done: u64,
    /// Parts in total, as known so far.
    pub all: u64,
    /// Approximate time per part.
    pub each: Duration,
}
