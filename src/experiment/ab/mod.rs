//! Compares A with B: two builds, two sets of options, or two states of the machine, measured for this question
//! alone. `find tuning` compares a setting's current value with another one, for each of many settings.
//!
//! Both sides of a case are measured in turn, shortly after each other. Each round has fresh processes and is one
//! observation. This tells more than any arithmetic on two separate runs; `docs/AB.md` explains it.
//!
//! | step | module |
//! |---|---|
//! | match the cases of A with the cases of B | `pairs` |
//! | write the question into the first line of the log | `header` |
//! | keep the windows of the log | `record` |
//! | choose the order of a round and the next step | `order`, `comparison` |
//! | judge each case, engine and part | `judge`, round by round (`series`); cases that failed: `failures` |
//! | show the results | `table`, `rows`; settings before they are tried: `settings` |

mod comparison;
mod failures;
pub mod header;
mod judge;
mod order;
mod pairs;
mod record;
pub mod rows;
mod series;
pub mod settings;
pub mod table;

pub use self::comparison::Comparison;
pub use self::judge::judge;
pub use self::pairs::{Pair, pairs};
pub use self::record::Record;
pub use crate::results::log::Side;

#[cfg(test)]
mod tests;
