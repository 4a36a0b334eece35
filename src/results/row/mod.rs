//! Rows of the results. Raw counters become readable numbers here and nowhere else.
//!
//! `columns.rs` defines the columns, `computed.rs` collects what they are computed from.

pub(crate) mod column;
mod columns;
mod computed;
mod derived;
mod disturbed;
mod input;
mod labels;
mod load;
mod of_case;
mod path;
mod reason;
mod round_trips;
mod scatter;
mod sensors;
mod status;
mod traffic;
mod warning;

pub(crate) use self::column::Run;
pub use self::column::{Column, Interval, Short};
pub use self::columns::Row;
pub(crate) use self::derived::{cpu_ns_per_packet, received_pps};
pub(crate) use self::disturbed::{disturbs, share_of_one};
pub use self::input::{Environment, NicText, RowInput, isolated_cpus, rps_cpus};
pub use self::labels::{Machine, Network};
pub use self::load::Load;
pub use self::reason::{EndedBy, Failure, Interruption, Reason, Status};
pub(crate) use self::traffic::{burst, by_chance};
pub use self::warning::{CaseWarning, Warning};

#[cfg(test)]
pub(crate) mod tests;
