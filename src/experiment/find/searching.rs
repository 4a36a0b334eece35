//! Dispatches to the five kinds of searches.

use std::time::Duration;

use super::Next;
use super::burst::Burst;
use super::cliff::Cliff;
use super::header::Question;
use super::idle::Idle;
use super::knee::Knee;
use super::load_search::{Doubt, LoadSearch};
use super::lossless::Lossless;
use crate::data::{Case, EngineProperties, Sample};

/// Search of one case. Its state follows from the question and the trials alone, so a log can resume it.
#[derive(Clone, Debug)]
pub enum Search {
    /// Search for the highest rate without loss.
    Lossless(Lossless),
    /// Search for the payload from which a round trip or a datagram takes longer.
    Cliff(Cliff),
    /// Search for the silence after which a round trip takes longer or a request is lost.
    Idle(Idle),
    /// Search for the longest train of datagrams, sent back to back, that arrives whole.
    Burst(Burst),
    /// Search for the batch or train from which on more brings little.
    Knee(Knee),
}

impl Search {
    /// Creates a search without trials. `sender` describes the sending engine of the case.
    pub fn of(question: Question, case: Case, sender: &EngineProperties) -> Self {
        match question {
            Question::Lossless(asked) => Self::Lossless(Lossless::new(case, sender.clone(), asked)),
            Question::Cliff(asked) => Self::Cliff(Cliff::new(case, asked)),
            Question::Idle(asked) => Self::Idle(Idle::new(case, asked)),
            Question::Burst(asked) => Self::Burst(Burst::new(case, sender.clone(), asked)),
            Question::Knee(asked) => Self::Knee(Knee::new(case, asked)),
        }
    }

    /// Returns the next trial. `None`: the search is over.
    pub fn next(&self) -> Option<Next> {
        match self {
            Self::Lossless(search) => search.next(),
            Self::Cliff(search) => search.next(),
            Self::Idle(search) => search.next(),
            Self::Burst(search) => search.next(),
            Self::Knee(search) => search.next(),
        }
    }

    /// Returns the shortest time between the trial before and the next one.
    pub fn pause(&self) -> Duration {
        match self {
            Self::Lossless(search) => search.pause(),
            _ => Duration::ZERO,
        }
    }

    /// Returns whether a trial lost too much while another program disturbed it. Such a trial tells nothing.
    pub(super) fn lost_while_disturbed(&self, sample: &Sample) -> bool {
        let trial = match self {
            Self::Lossless(search) => search.evaluated(sample),
            Self::Burst(search) => search.evaluated(sample),
            _ => None,
        };
        let evaluated = self.load_search().zip(trial);
        evaluated.is_some_and(|(search, trial)| search.lost_while_disturbed(&trial))
    }

    /// Returns the reason why the result may be wrong, if the trials give one.
    pub fn doubt(&self) -> Option<Doubt> {
        self.load_search()?.doubt()
    }

    /// Returns the limiting place: the place of most losses in the trials at the lowest load that is too much.
    pub fn limiting_place(&self) -> Option<&'static str> {
        self.load_search()?.limiting_place()
    }

    fn load_search(&self) -> Option<&LoadSearch> {
        match self {
            Self::Lossless(search) => Some(&search.load_search),
            Self::Burst(search) => Some(&search.load_search),
            _ => None,
        }
    }

    /// Adds a trial.
    pub fn take(&mut self, sample: &Sample) {
        match self {
            Self::Lossless(search) => search.take(sample),
            Self::Cliff(search) => search.take(sample),
            Self::Idle(search) => search.take(sample),
            Self::Burst(search) => search.take(sample),
            Self::Knee(search) => search.take(sample),
        }
    }
}

impl Question {
    /// Returns the name of the search on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Lossless(_) => "lossless",
            Self::Cliff(_) => "cliff",
            Self::Idle(_) => "idle",
            Self::Burst(_) => "burst",
            Self::Knee(_) => "knee",
        }
    }

    /// Estimates the time of this many searches. Each trial takes `overhead` in addition to its window.
    pub fn expected_time(&self, searches: u32, overhead: Duration) -> Duration {
        let (trials, windows) = match self {
            Self::Lossless(asked) => asked.expected(),
            Self::Cliff(asked) => asked.expected(),
            Self::Idle(asked) => asked.expected(),
            Self::Burst(asked) => asked.expected(),
            Self::Knee(asked) => asked.expected(),
        };
        // While one search pauses, others go on.
        let pauses = match self {
            Self::Lossless(asked) if searches > 0 => asked.recheck,
            _ => Duration::ZERO,
        };
        (windows + overhead.saturating_mul(trials)).saturating_mul(searches) + pauses
    }
}
