//! Dispatches to the three kinds of searches.

use std::time::Duration;

use super::Next;
use super::axis::AxisSearch;
use super::burst::Burst;
use super::header::Question;
use super::load_search::{Doubt, LoadSearch};
use super::lossless::Lossless;
use crate::data::{Case, EngineProperties, Sample};

/// Search of one case. Its state follows from the question and the trials alone, so a log can resume it.
#[derive(Clone, Debug)]
pub enum Search {
    /// Search for the highest rate without loss.
    Lossless(Lossless),
    /// Search for the value of a parameter from which on something changes.
    Axis(AxisSearch),
    /// Search for the longest train of datagrams, sent back to back, that arrives whole.
    Burst(Burst),
}

impl Search {
    /// Creates a search without trials. `sender` describes the sending engine of the case.
    pub fn of(question: Question, case: Case, sender: &EngineProperties) -> Self {
        match question {
            Question::Lossless(asked) => Self::Lossless(Lossless::new(case, sender.clone(), asked)),
            Question::Axis(asked) => Self::Axis(AxisSearch::new(case, asked)),
            Question::Burst(asked) => Self::Burst(Burst::new(case, sender.clone(), asked)),
        }
    }

    /// Returns the next trial. `None`: the search is over.
    pub fn next(&self) -> Option<Next> {
        match self {
            Self::Lossless(search) => search.next(),
            Self::Axis(search) => search.next(),
            Self::Burst(search) => search.next(),
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
            Self::Axis(_) => None,
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
            Self::Axis(_) => None,
        }
    }

    /// Adds a trial.
    pub fn take(&mut self, sample: &Sample) {
        match self {
            Self::Lossless(search) => search.take(sample),
            Self::Axis(search) => search.take(sample),
            Self::Burst(search) => search.take(sample),
        }
    }
}

impl Question {
    /// Returns the name of the search on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Lossless(_) => "lossless",
            Self::Axis(asked) => asked.parameter.command(),
            Self::Burst(_) => "burst",
        }
    }

    /// Estimates the time of this many searches. Each trial takes `overhead` in addition to its window.
    pub fn expected_time(&self, searches: u32, overhead: Duration) -> Duration {
        let (trials, windows) = match self {
            Self::Lossless(asked) => asked.expected(),
            Self::Axis(asked) => asked.expected(),
            Self::Burst(asked) => asked.expected(),
        };
        // While one search pauses, others go on.
        let pauses = match self {
            Self::Lossless(asked) if searches > 0 => asked.recheck,
            _ => Duration::ZERO,
        };
        (windows + overhead.saturating_mul(trials)).saturating_mul(searches) + pauses
    }
}
