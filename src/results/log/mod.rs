//! Logs of all kinds: JSON Lines, one per event, written as soon as it happens. All reported results follow from these
//! files: see [`crate::results::replay`] for those of sweeps.
//!
//! The first line is the header of its [`Kind`], each other one an event of this kind. `docs/RESULTS.md` describes the
//! format for people who only have the file, `docs/raw.schema.json` for programs.

pub(crate) mod counts;
mod event;
mod header;
pub mod line;
mod read;
mod write;

pub use self::event::{Event, Of, Side, Window};
pub use self::header::{Header, Kind, Run};
pub use self::read::{End, Log, is_of, run_of};
pub use self::write::LogWriter;

/// Version of the format of all logs, the only one that is read. It increases when a reader of the old format would
/// misread the new one.
pub const FORMAT: u32 = 3;

#[cfg(test)]
mod tests;
