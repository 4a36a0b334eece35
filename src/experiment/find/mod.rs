//! Searches for a limit or a change: a rate, a train length, a payload, a silence or a batch. They do not
//! measure the highest speed.
//!
//! | step | module |
//! |---|---|
//! | write the question into the first line of the log | `header` |
//! | choose the next trial and evaluate the trials, without side effects | `Search` |
//! | search for rates and for trains; judge whether a CPU and the capacity stayed the same over all trials | `lossless`, over `load_search`, `mlr` and `loads` |
//! | search along a payload, a silence, a batch or a train | `axis` |
//! | find the limiting place of a trial | `place` |
//! | keep the trials of a log and make the next step | `record`, `turns` |
//! | show the results | `table`, `rows`; cases by their `names` |

pub mod axis;
pub mod header;
mod load_search;
pub mod loads;
pub mod lossless;
pub mod mlr;
pub mod names;
pub mod place;
mod record;
pub mod rows;
pub mod table;
mod turns;

use std::time::Duration;

use self::axis::AxisSearch;
use self::header::SearchQuestion;
use self::lossless::Lossless;
pub use self::record::{Record, SearchedCase};
use crate::data::{Case, EngineProperties, Sample};

/// Trial that a search asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NextTrial {
    /// Case that is searched, with the values that the search has chosen.
    pub case: Case,
    /// Length of the measured window.
    pub window: Duration,
}

/// Search of one case. Its state follows from the question and the trials alone, so a log can resume it.
#[derive(Debug)]
pub enum Search {
    /// Search for the highest rate without loss.
    Lossless(Lossless),
    /// Search for the value of a parameter from which on something changes.
    Axis(AxisSearch),
    /// Search for the longest train of datagrams, sent back to back, that arrives whole.
    Burst(Lossless),
}

impl Search {
    /// Creates a search without trials. `sender` describes the sending engine of the case.
    pub fn of(question: SearchQuestion, case: Case, sender: &EngineProperties) -> Self {
        let sender = sender.clone();
        match question {
            SearchQuestion::Lossless(asked) => Self::Lossless(Lossless::rate(case, sender, asked)),
            SearchQuestion::Axis(asked) => Self::Axis(AxisSearch::new(case, asked)),
            SearchQuestion::Burst(asked) => Self::Burst(Lossless::train(case, sender, asked)),
        }
    }

    /// Returns the search if it is for a rate or a train.
    fn of_loads(&self) -> Option<&Lossless> {
        match self {
            Self::Lossless(search) | Self::Burst(search) => Some(search),
            Self::Axis(_) => None,
        }
    }

    /// Returns the next trial. `None`: the search is over.
    pub fn next(&self) -> Option<NextTrial> {
        match self {
            Self::Lossless(search) | Self::Burst(search) => search.next(),
            Self::Axis(search) => search.next(),
        }
    }

    /// Returns the shortest time between the trial before and the next one.
    pub fn pause(&self) -> Duration {
        self.of_loads().map_or(Duration::ZERO, Lossless::pause)
    }

    /// Adds a trial.
    pub fn take(&mut self, sample: &Sample) {
        match self {
            Self::Lossless(search) | Self::Burst(search) => search.take(sample),
            Self::Axis(search) => search.take(sample),
        }
    }

    /// Returns whether a trial lost too much while another program disturbed it. Such a trial tells nothing.
    fn lost_while_disturbed(&self, sample: &Sample) -> bool {
        self.of_loads().is_some_and(|search| {
            let trial = search.evaluated(sample);
            trial.is_some_and(|trial| search.load_search.lost_while_disturbed(&trial))
        })
    }
}

#[cfg(test)]
mod tests;
