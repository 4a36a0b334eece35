//! Searches for a limit or a change: a rate, a train length, a payload, a silence or a batch. They do not
//! measure the highest speed.
//!
//! | step | module |
//! |---|---|
//! | write the question into the first line of the log | `header` |
//! | choose the next trial and evaluate the trials, without side effects | `searching` |
//! | search for rates and for trains | `lossless` and `burst`, over `load_search`, `mlr` and `loads` |
//! | search along a payload, a silence, a batch or a train | `axis` |
//! | find the limiting place of a trial, and the buffer capacity | `place`, `buffer_capacity` |
//! | judge whether a CPU and the capacity stayed the same over all trials | `steady` |
//! | keep the trials of a log and make the next step | `record`, `repeats`, `turns` |
//! | show the results | `table`, `rows`; cases by their `names` |

pub mod axis;
mod buffer_capacity;
pub mod burst;
pub mod header;
mod load_search;
pub mod loads;
pub mod lossless;
pub mod mlr;
pub mod names;
pub mod place;
mod record;
mod repeats;
pub mod rows;
mod searching;
pub mod steady;
pub mod table;
mod turns;

use std::time::Duration;

pub use self::record::{Record, Searched};
pub use self::searching::Search;
use crate::data::Case;

/// Trial that a search asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Next {
    /// Case that is searched, with the values that the search has chosen.
    pub case: Case,
    /// Length of the measured window.
    pub window: Duration,
}

#[cfg(test)]
mod tests;
