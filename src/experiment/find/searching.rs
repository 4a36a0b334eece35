//! A search, whatever is asked.

use std::time::Duration;

use super::Next;
use super::borne::{Borne, Doubt};
use super::burst::Burst;
use super::cliff::Cliff;
use super::idle::Idle;
use super::knob::Knob;
use super::log::Question;
use super::lossless::Lossless;
use crate::data::{Case, Sample, Traits};

/// A search of a case, as far as it is: pure, so that it goes on from its log.
#[derive(Clone, Debug)]
pub enum Search {
    /// For the highest rate without loss.
    Lossless(Lossless),
    /// For the byte at which something jumps.
    Cliff(Cliff),
    /// For the silence after which something is different.
    Idle(Idle),
    /// For the longest train that is taken whole.
    Burst(Burst),
    /// For the settings that help.
    Knob(Knob),
}

impl Search {
    /// Nothing is known yet. `sender` is what the sender of the case does.
    pub fn of(question: Question, case: Case, sender: &Traits) -> Self {
        match question {
            Question::Lossless(asked) => Self::Lossless(Lossless::new(case, sender.clone(), asked)),
            Question::Cliff(asked) => Self::Cliff(Cliff::new(case, asked)),
            Question::Idle(asked) => Self::Idle(Idle::new(case, asked)),
            Question::Burst(asked) => Self::Burst(Burst::new(case, sender.clone(), asked)),
            Question::Knob(asked) => Self::Knob(Knob::new(case, asked)),
        }
    }

    /// The trial that tells most. `None`: it is found.
    pub fn next(&self) -> Option<Next> {
        match self {
            Self::Lossless(search) => search.next(),
            Self::Cliff(search) => search.next(),
            Self::Idle(search) => search.next(),
            Self::Burst(search) => search.next(),
            Self::Knob(search) => search.next(),
        }
    }

    /// Whether something else that ran may be why a trial lost too much: then it says nothing.
    pub(super) fn is_spoilt(&self, sample: &Sample) -> bool {
        let went = match self {
            Self::Lossless(search) => search.went(sample),
            Self::Burst(search) => search.went(sample),
            Self::Cliff(_) | Self::Idle(_) | Self::Knob(_) => None,
        };
        let went = self.borne().zip(went);
        went.is_some_and(|(borne, (_, seconds, went))| borne.is_spoilt(seconds, &went))
    }

    /// Why what is found may be wrong, if the trials give a reason.
    pub fn doubt(&self) -> Option<Doubt> {
        self.borne()?.doubt()
    }

    /// What gave way first: where most was lost in the trials at the lowest load that is too much.
    pub fn gave_way(&self) -> Option<&'static str> {
        self.borne()?.gave_way()
    }

    fn borne(&self) -> Option<&Borne> {
        match self {
            Self::Lossless(search) => Some(&search.borne),
            Self::Burst(search) => Some(&search.borne),
            Self::Cliff(_) | Self::Idle(_) | Self::Knob(_) => None,
        }
    }

    /// The setting of this machine that is changed in that trial, by its number.
    pub fn knob(&self) -> Option<usize> {
        match self {
            Self::Knob(search) => search.knob(),
            _ => None,
        }
    }

    /// A trial is over.
    pub fn take(&mut self, sample: &Sample) {
        match self {
            Self::Lossless(search) => search.take(sample),
            Self::Cliff(search) => search.take(sample),
            Self::Idle(search) => search.take(sample),
            Self::Burst(search) => search.take(sample),
            Self::Knob(search) => search.take(sample),
        }
    }
}

impl Question {
    /// As it is typed.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Lossless(_) => "lossless",
            Self::Cliff(_) => "cliff",
            Self::Idle(_) => "idle",
            Self::Burst(_) => "burst",
            Self::Knob(_) => "knob",
        }
    }

    /// About how long the search of a case takes, where each trial takes so long besides its window.
    pub fn expected_time(&self, besides: Duration) -> Duration {
        let (trials, windows) = match self {
            Self::Lossless(asked) => asked.expected(),
            Self::Cliff(asked) => asked.expected(),
            Self::Idle(asked) => asked.expected(),
            Self::Burst(asked) => asked.expected(),
            Self::Knob(asked) => asked.expected(),
        };
        windows + besides * trials
    }
}
