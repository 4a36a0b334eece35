//! The measuring loop: takes the steps of an experiment one after the other, and logs the events.
//!
//! An [`Experiment`] chooses the next step. It learns from events alone, live or from a log. So it resumes from its log
//! at any moment, and tests need no socket.

mod preparing;
mod run;

use std::time::{Duration, Instant};

pub use self::run::{Ending, Journal, Resources, run};
use crate::data::{Case, Sample};
use crate::error::UsageError;
use crate::host::board::Cooldown;
use crate::host::tuning::Tuning;
use crate::results::log::{Event, Kind, Log, Of, Side};
use crate::results::row::Row;
use crate::trial::spec::TrialSpec;

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

/// The next action of a session.
#[derive(Clone, Debug)]
pub enum Step {
    /// Begins a round, whose trials run in fresh processes.
    Restart,
    /// Measures the idle power of the machine for this time.
    IdlePower(Duration),
    /// Runs traffic that is not counted, in which clocks rise and the board leaves its idle state.
    Heat(Box<TrialSpec>),
    /// Begins a round of a block, once the CPUs are cool enough.
    Begin(Begin),
    /// Runs the command that prepares the machine for a side of an A/B comparison.
    Prepare {
        /// The side to prepare for.
        side: Side,
        /// The command, for a shell.
        command: String,
    },
    /// Waits.
    Wait {
        /// End of the wait.
        until: Instant,
        /// Text of the progress display meanwhile.
        told: String,
    },
    /// Measures a window.
    Trial(Box<Trial>),
    /// Logs a decision.
    Note(Box<Event>),
}

/// Begin of a round of a block.
#[derive(Clone, Debug)]
pub struct Begin {
    /// Index of the block in the plan, from 0.
    pub block: usize,
    /// True if the block had begun before.
    pub has_begun: bool,
    /// Temperature to cool down to, and the longest wait for it.
    pub cooldown: Option<Cooldown>,
}

/// A trial of one case, with its place in the experiment.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Identity of the trial in the log.
    pub of: Of,
    /// Number of the round. 0: before the first round, or there are no rounds.
    pub round: u32,
    /// Position in the order of its round, from 1. 0: there are no rounds.
    pub position: u32,
    /// Specification of the traffic.
    pub spec: TrialSpec,
    /// Setting of this machine that is changed during the trial.
    pub tuning: Option<Tuning>,
    /// True if the trial runs in processes of its own.
    pub is_alone: bool,
    /// True if one more fault is enough: the log says that the trial was measured once and has to be repeated, or that
    /// earlier rounds failed.
    pub is_repeated: bool,
    /// Text of the progress display while it runs.
    pub told: String,
}

impl Trial {
    /// Creates a trial of a case outside of any round.
    pub fn new(case: &Case, spec: TrialSpec, told: String) -> Self {
        Self {
            of: Of::case(case),
            round: 0,
            position: 0,
            spec,
            tuning: None,
            is_alone: false,
            is_repeated: false,
            told,
        }
    }
}
