//! Compares A with B: two builds, two sets of options, or two states of the machine, measured for this question
//! alone. `find tuning` compares a setting's current value with another one, for each of many settings.
//!
//! Both sides of a case are measured in turn, shortly after each other. Each round has fresh processes and is one
//! observation. This tells more than any arithmetic on two separate runs; `docs/AB.md` explains it.
//!
//! | step | module |
//! |---|---|
//! | write the question into the first line of the log, and match the cases of A with those of B | `header` |
//! | keep the windows of the log | `record` |
//! | choose the order of a round and the next step | `comparison` |
//! | judge each case, engine and part, round by round | `judge`; cases that failed: `failures` |
//! | show the results, and settings before they are tried | `table` |

mod comparison;
mod failures;
pub mod header;
mod judge;
mod record;
pub mod table;

pub use self::comparison::Comparison;
pub use self::header::{Pair, pairs};
pub use self::judge::{judge, rows};
pub use self::record::Record;
pub use crate::results::log::Side;

#[cfg(test)]
mod tests;
