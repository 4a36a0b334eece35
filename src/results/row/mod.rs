//! One row of the results. This is the one place where raw counters become numbers to read.
//!
//! `columns.rs` has the columns, `new.rs` what is in each.

mod climate;
pub(crate) mod column;
mod columns;
mod contamination;
mod counters_by_name;
mod doubts;
mod environment;
mod fairness;
mod input;
mod joined;
mod labels;
pub(crate) mod lost;
mod machine;
mod new;
mod numbers;
mod on_the_way;
mod outcome;
mod own;
pub(crate) mod pacing;
mod refusals;
mod round_trips;
mod rounding;
mod shown;
mod verdict;

pub use self::column::{Column, Holds, Over, Short};
pub use self::columns::Row;
pub use self::environment::Environment;
pub use self::input::RowInput;
pub use self::machine::Machine;
pub(crate) use self::numbers::{cpu_ns_per_packet, received_pps};
pub use self::outcome::{EndedBy, Interruption, Outcome, Status};
pub(crate) use self::rounding::milliseconds;

#[cfg(test)]
pub(crate) mod tests;
