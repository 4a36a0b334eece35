//! Board profiles: `boards/*.toml`, compiled in.
//!
//! `profile` has the keys of a profile, and `rules` parses and checks them. `thread_placement` assigns
//! a profile's CPUs to threads on a host, `detect` finds the profile of a host, and `draft` writes a profile for a host
//! that has none. `boards/README.md` explains every key to authors of profiles.

mod detect;
mod draft;
mod profile;
mod rules;
mod thread_placement;

pub use detect::{ChosenBoard, choose, detect, detect_among};
pub use draft::draft;
pub use profile::{Board, Cooldown, Cpus, Defaults, Detect, Throttle, Timing};
pub use thread_placement::Placed;

use crate::error::UsageError;
use crate::text::nearest;

/// Every profile of this build: its name, which is the file's, and its text. `generic` comes first, the rest in
/// alphabetical order.
static PROFILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/boards.rs"));

/// Name of the profile for machines that no other profile fits.
pub const GENERIC: &str = "generic";

/// Returns every profile of this build, `generic` first.
///
/// # Errors
/// Fails if a profile is malformed. Tests parse every profile, so this cannot happen in a build that passes them.
pub fn all() -> Result<Vec<Board>, UsageError> {
    let parse = |(name, text): &(&str, &str)| Board::parse(text, &format!("boards/{name}.toml"));
    PROFILES.iter().map(parse).collect()
}

/// Returns the profile of that name. For messages, `place` says where the name was given, and `besides` lists the
/// other choices.
///
/// # Errors
/// Fails if there is no such profile. The message names the fix.
pub fn find(place: &'static str, name: &str, besides: &str) -> Result<Board, UsageError> {
    nearest::named(all()?, name, |board| &board.name).map_err(|hint| {
        let fix = format!("no such profile; {hint}use one that udpbench boards lists{besides}");
        UsageError::flag(place, &format!("'{name}'"), fix)
    })
}

/// Returns the text of a profile, with its comments.
pub fn source(name: &str) -> Option<&'static str> {
    let (_, text) = PROFILES.iter().find(|(profile, _)| *profile == name)?;
    Some(text)
}

/// Returns the first repeated value. It would be measured twice under one key.
pub fn repeated<T: PartialEq>(values: &[T]) -> Option<&T> {
    position_of_repeated(values).map(|at| &values[at])
}

/// Returns the position of the first value that is already listed before.
fn position_of_repeated<T: PartialEq>(values: &[T]) -> Option<usize> {
    (0..values.len()).find(|&at| values[..at].contains(&values[at]))
}
