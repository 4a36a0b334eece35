//! Compares A with B: two builds, two sets of options, or two states of the machine, measured for this question
//! alone. `find tuning` compares a setting's current value with another one, for each of many settings.
//!
//! Both sides of a case are measured in turn, shortly after each other. Each round has fresh processes and is one
//! observation. This tells more than any arithmetic on two separate runs; `docs/AB.md` explains it.
//!
//! | step | module |
//! |---|---|
//! | write the question into the first line of the log, and match the cases of A with those of B | `header` |
//! | keep the windows of the log | `windows` |
//! | choose the order of a round and the next step | `rounds` |
//! | judge each case, engine and part, round by round | `judge`; cases that failed: `failures` |
//! | show the results, and settings before they are tried | `table` |

mod failures;
pub mod header;
mod judge;
mod rounds;
pub mod table;
mod windows;

use std::collections::{BTreeSet, VecDeque};
use std::time::Instant;

use self::header::AbHeader;
pub use self::header::{Pair, pairs};
pub use self::judge::{judge, rows};
use self::windows::PairWindows;
pub use crate::results::log::Side;
use crate::session::Step;
use crate::verdict::judge::Criterion;

/// A comparison of A with B: its results so far, and what is measured next.
#[derive(Clone, Debug)]
pub struct AbComparison {
    header: AbHeader,
    /// Question of the comparison. With `--decide`, its verdicts end the comparison.
    pub question: Criterion,
    /// Windows of each pair.
    pairs: Vec<PairWindows>,
    is_interrupted: bool,
    /// Round in hand, from 1. 0: none has begun.
    round: u32,
    /// Sides and pairs of the round that are still to come.
    groups: VecDeque<(Side, Vec<usize>)>,
    /// Remaining steps of the side in hand.
    steps: VecDeque<Step>,
    /// Pairs of engines that have their verdict, and are not measured any more (`--decide`).
    told: BTreeSet<usize>,
    /// Time after which no new round begins (`--decide`).
    end: Option<Instant>,
}

#[cfg(test)]
mod tests;
