//! Searches: not how fast it goes, but where something begins.
//!
//! | step | module |
//! |---|---|
//! | what is asked, and what happened: the log | `log` |
//! | which trial tells most, and what the trials say | `searching`: pure |
//! | of rates, and of trains | `lossless` and `burst`, over `borne`, `mlr` and `loads` |
//! | of payloads, and of silences: in `rounds` | `cliff`, `idle` |
//! | of settings | `knob` |
//! | what gave way in a trial, and what buffers hold | `place`, `held` |
//! | whether a CPU was the same from trial to trial | `steady` |
//! | what of a log counts, and which trial is next | `record` |
//! | how it is told | `table`, `rows` |

mod borne;
pub mod burst;
pub mod cliff;
mod held;
pub mod idle;
pub mod knob;
pub mod loads;
pub mod log;
pub mod lossless;
pub mod mlr;
pub mod place;
mod record;
mod rounds;
pub mod rows;
mod searching;
pub mod steady;
pub mod table;

use std::time::Duration;

pub use self::record::{Record, Searched};
pub use self::searching::Search;
use crate::data::Case;

/// A trial to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Next {
    /// Of the case that is searched, with what the search has chosen.
    pub case: Case,
    /// How long.
    pub window: Duration,
}

#[cfg(test)]
mod tests;
