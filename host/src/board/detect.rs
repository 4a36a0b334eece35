//! Chooses the profile of a host: detected, or given by `--board`.

use std::path::Path;

use super::{Board, all, find};
use crate::error::UsageError;
use crate::facts::Host;
use crate::sys::files::{self, Kind};
use crate::text::text_file;

/// The profile that a run uses, and the reason for its choice.
#[derive(Clone, Debug)]
pub struct ChosenBoard {
    /// The profile.
    pub board: Board,
    /// Reason for the choice, as a sentence.
    pub reason: String,
    /// True if the user chose the profile. It may be that of another machine.
    pub by_user: bool,
}

impl ChosenBoard {
    /// Describes the machine: by the title of the profile, after the model if the user chose the profile.
    pub fn machine(&self, host: &Host) -> String {
        let title = &self.board.title;
        if !self.by_user {
            return title.clone();
        }
        let model = host.model.as_deref().unwrap_or("this machine");
        format!("{model}, with the profile of {title}")
    }
}

/// Finds the profile of `host`: an entry of `compatible`, most specific first; else `model`; else `generic`.
///
/// `compatible` comes first because firmware and vendor kernels rewrite `model` (Raspberry Pi's own documentation,
/// `revision-codes.adoc`, advises the same).
///
/// # Errors
/// Fails if a profile of this build is malformed, as [`all`] does.
pub fn detect(host: &Host) -> Result<ChosenBoard, UsageError> {
    Ok(detect_among(all()?, host))
}

/// Finds the profile of `host` among `boards`. If nothing fits, it is the first one: callers put `generic` there.
///
/// # Panics
/// Panics if `boards` is empty.
pub fn detect_among(mut boards: Vec<Board>, host: &Host) -> ChosenBoard {
    let by_compatible = host.compatible.iter().find_map(|entry| {
        let is_it = |board: &Board| board.detect.compatible.contains(entry);
        let reason = format!("the device tree is compatible with {entry}");
        Some((boards.iter().position(is_it)?, reason))
    });
    let by_model = host.model.as_ref().and_then(|model| {
        let name = without_revision(model);
        let is_it = |board: &Board| board.detect.model.iter().any(|model| model == name);
        Some((
            boards.iter().position(is_it)?,
            format!("the model is {model}"),
        ))
    });
    let nothing_fits = || match host.compatible.first().or(host.model.as_ref()) {
        Some(name) => format!("no profile for {name}"),
        None => "no device tree, no DMI product name and no model in /proc/cpuinfo".to_owned(),
    };
    let found = by_compatible.or(by_model);
    let (index, reason) = found.unwrap_or_else(|| (0, nothing_fits()));
    ChosenBoard {
        board: boards.swap_remove(index),
        reason,
        by_user: false,
    }
}

/// Returns a model without its revision: the Raspberry Pi's firmware appends one, such as `Rev 1.4`. Compare the rest
/// as a whole: `Pine64` is a prefix of `Pine64+` and `Pine64 RockPro64`, `Orange Pi 5` one of four other boards'
/// models.
pub(super) fn without_revision(model: &str) -> &str {
    model.split_once(" Rev ").map_or(model, |(name, _)| name)
}

/// Returns the profile that `--board` names.
///
/// # Errors
/// Fails if the name is unknown, the file is unreadable, or the profile is malformed (with its line).
pub fn choose(choice: &str, host: &Host) -> Result<ChosenBoard, UsageError> {
    if choice == "auto" {
        return detect(host);
    }
    let reason = format!("--board {choice}");
    let is_path = choice.contains('/') || choice.to_lowercase().ends_with(".toml");
    let board = if is_path {
        let bytes = files::read_whole(Path::new(choice), Kind::File).map_err(|error| {
            UsageError::flag("--board", choice, format!("cannot read it: {error}"))
        })?;
        Board::parse(text_file::decode(choice, &bytes)?, choice)?
    } else {
        find("--board", choice, ", a path to a TOML file, or auto")?
    };
    Ok(ChosenBoard {
        board,
        reason,
        by_user: true,
    })
}
