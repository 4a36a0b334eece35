//! Board profiles: `boards/*.toml`, compiled in.
//!
//! `profile` has a profile's keys, `rules` what they must not contradict, `place` where its threads go on a
//! host, `detect` which profile a host gets, `draft` a profile for a host that has none. `boards/README.md`
//! explains every key to those who write one.

mod detect;
mod draft;
mod parse;
mod place;
mod profile;
mod rules;

pub use detect::{Detected, among, choose, detect};
pub use draft::draft;
pub use place::Placed;
pub use profile::{Board, Cooldown, Cpus, Defaults, Detect, Throttle, Timing};

use crate::error::UsageError;
use crate::term::nearest;

/// Every profile of this build: its name, which is the file's, and its text. `generic` comes first, then they
/// are in alphabetical order.
static PROFILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/boards.rs"));

/// The name of the profile for any machine that no other one fits.
pub const GENERIC: &str = "generic";

/// Every profile of this build, `generic` first.
///
/// # Errors
/// None in a build whose tests pass: they parse every profile.
pub fn all() -> Result<Vec<Board>, UsageError> {
    let parse = |(name, text): &(&str, &str)| Board::parse(text, &format!("boards/{name}.toml"));
    PROFILES.iter().map(parse).collect()
}

/// The profile of that name, which was given as `place`, where `besides` can be given too.
///
/// # Errors
/// When there is none, and what to do instead.
pub fn find(place: &'static str, name: &str, besides: &str) -> Result<Board, UsageError> {
    nearest::named(all()?, name, |board| &board.name).map_err(|hint| {
        let fix = format!("no such profile; {hint}use one that udpbench boards lists{besides}");
        UsageError::flag(place, &format!("'{name}'"), fix)
    })
}

/// The names of all profiles of this build.
pub fn names() -> Vec<&'static str> {
    PROFILES.iter().map(|(name, _)| *name).collect()
}

/// The text of the profile of that name, comments and all.
pub fn source(name: &str) -> Option<&'static str> {
    let (_, text) = PROFILES.iter().find(|(profile, _)| *profile == name)?;
    Some(text)
}

/// A value that is listed twice would be measured twice under one key.
pub(crate) fn repeated<T: PartialEq>(values: &[T]) -> Option<&T> {
    position_of_repeated(values).map(|at| &values[at])
}

/// The place of the first value that was listed before.
fn position_of_repeated<T: PartialEq>(values: &[T]) -> Option<usize> {
    (0..values.len()).find(|&at| values[..at].contains(&values[at]))
}
