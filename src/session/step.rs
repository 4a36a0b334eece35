//! Steps that an experiment asks the session for.

use std::time::{Duration, Instant};

use crate::data::Case;
use crate::host::board::Cooldown;
use crate::host::tuning::Tuning;
use crate::results::log::{Event, Of, Side};
use crate::trial::spec::TrialSpec;

/// The next action of a session.
#[derive(Clone, Debug)]
pub enum Step {
    /// Begins a round, whose trials run in fresh processes.
    Restart,
    /// Measures the idle power of the machine for this time.
    IdlePower(Duration),
    /// Runs traffic that is not counted.
    Heat(Box<Heat>),
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

/// Traffic before the first window, in which clocks rise and the board leaves its idle state.
#[derive(Clone, Debug)]
pub struct Heat {
    /// Specification of the traffic.
    pub spec: TrialSpec,
    /// Number of courses that heating up is cut into, to measure how long traffic takes to settle. 0: it is not cut.
    pub courses: u32,
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
    /// Returns the index into [`Resources::agents`](super::Resources::agents) of the agents that run the trial. Both
    /// sides of a setting have the same agents.
    pub(super) fn agents(&self) -> usize {
        let side = self.of.side.filter(|_| self.of.tuning.is_none());
        side.map_or(0, |side| side as usize)
    }

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
