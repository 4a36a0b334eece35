//! Rows of the results. Raw counters become readable numbers here and nowhere else.
//!
//! `columns.rs` defines the columns, `computed.rs` collects what they are computed from.

mod busy_polled;
pub(crate) mod column;
mod columns;
mod computed;
mod contamination;
mod counters_by_name;
mod derived;
mod doubts;
mod earlier;
mod energy;
mod environment;
mod escaped;
mod fairness;
mod input;
mod joined;
mod labels;
mod load;
mod machine;
mod new;
mod nic_text;
mod of_case;
mod on_the_way;
mod outcome;
pub(crate) mod pacing;
pub(crate) mod preempted;
mod radio;
mod reason;
mod refusals;
mod residual;
mod round_trips;
mod rounding;
mod sensor_readings;
mod short;
mod status;
mod warning;

pub use self::column::{Column, Holds, Interval, Over};
pub use self::columns::Row;
pub(crate) use self::derived::{cpu_ns_per_packet, received_pps};
pub use self::environment::{Environment, isolated_cpus, rps_cpus};
pub use self::input::RowInput;
pub use self::load::Load;
pub use self::machine::{Machine, Network};
pub use self::nic_text::NicText;
pub use self::outcome::{EndedBy, Outcome, Status};
pub use self::reason::{Failure, Hindrance, Interruption, Reason};
pub(crate) use self::rounding::milliseconds;
pub use self::sensor_readings::Throttled;
pub(crate) use self::short::Run;
pub use self::short::Short;
pub use self::warning::{BlockWarning, CaseWarning, Warning};

#[cfg(test)]
pub(crate) mod tests;
