//! What an experiment asks for.

use crate::data::Case;
use crate::host::board::Cooldown;
use crate::host::knob::Knob;
use crate::results::log::{Event, Of, Side};
use crate::trial::spec::TrialSpec;

/// What is done next.
#[derive(Clone, Debug)]
pub enum Step {
    /// A round begins: its trials run in processes of their own.
    Renew,
    /// Traffic that is not counted.
    Soak(Box<Soak>),
    /// A round of a block begins, once the CPUs are cool enough.
    Begin(Begin),
    /// A command has the machine be that of a side.
    Prepare {
        /// Of which side.
        side: Side,
        /// For a shell.
        command: String,
    },
    /// A window is measured.
    Trial(Box<Trial>),
    /// Something is decided, and written down.
    Note(Box<Event>),
}

/// Traffic before the first window: clocks come up, the board leaves its idle state.
#[derive(Clone, Debug)]
pub struct Soak {
    /// What is run.
    pub spec: TrialSpec,
    /// Into how many courses it is cut, which show how long traffic takes to settle. 0: into none.
    pub courses: u32,
}

/// A round of a block that begins.
#[derive(Clone, Debug)]
pub struct Begin {
    /// Its place in the plan, from 0.
    pub block: usize,
    /// Whether the block had begun before.
    pub has_begun: bool,
    /// How cool the CPUs are to be, and how long that is waited for.
    pub cooldown: Option<Cooldown>,
}

/// A window that is measured.
#[derive(Clone, Debug)]
pub struct Trial {
    /// What the log calls it.
    pub of: Of,
    /// In which round; 0: before the first, or there are none.
    pub round: u32,
    /// Which place it has in the order of its round, from 1; 0 where there are no rounds.
    pub position: u32,
    /// What is run.
    pub spec: TrialSpec,
    /// The setting of this machine that is changed meanwhile.
    pub knob: Option<Knob>,
    /// Whether processes of its own run it.
    pub is_alone: bool,
    /// Whether the log says that it was measured once, and is to be again.
    pub is_repeated: bool,
    /// What people are told while it runs.
    pub told: String,
}

impl Trial {
    /// Which of [`Means::agents`](super::Means::agents) run it.
    pub(super) fn agents(&self) -> usize {
        self.of.side.map_or(0, |side| side as usize)
    }

    /// One of a case, outside of any round.
    pub fn new(case: &Case, spec: TrialSpec, told: String) -> Self {
        Self {
            of: Of::case(case),
            round: 0,
            position: 0,
            spec,
            knob: None,
            is_alone: false,
            is_repeated: false,
            told,
        }
    }
}
