//! A or B: two builds, two sets of options, or two states of the machine, measured for that question alone.
//!
//! Both are measured within the same moments, case by case, in turn; each round has fresh processes, and is one
//! observation. That is worth more than any arithmetic on two runs: `docs/AB.md` says how.
//!
//! | step | module |
//! |---|---|
//! | which case of A is held against which of B | `pairs` |
//! | what is done: the first line of the log | `log` |
//! | what of it counts | `record` |
//! | in which order it is measured, and how it goes on | `order`, `comparison` |
//! | what it says | `judge`, over the parts that `parts` finds, round by round (`series`) |
//! | how that is told | `table`, `rows` |

mod comparison;
mod judge;
pub mod log;
mod order;
mod pairs;
mod parts;
mod record;
pub mod rows;
mod series;
pub mod table;

pub use self::comparison::Comparison;
pub use self::judge::{Judgement, Question, judge};
pub use self::pairs::{Pair, pairs};
pub use self::record::Record;
pub use crate::results::log::Side;

#[cfg(test)]
mod dice;
#[cfg(test)]
mod tests;
