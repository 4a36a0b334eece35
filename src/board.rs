//! Board profiles: `boards/*.toml`, compiled in, and which one this host is.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::case::{Payload, Threads};
use crate::error::UsageError;
use crate::host::Host;
use crate::placement::Placement;

/// A profile in `boards/*.toml`. Every field is explained in `boards/README.md`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// What `--board` takes and the results show: lower-case letters, digits and dashes.
    #[serde(deserialize_with = "name")]
    pub name: String,
    /// For people.
    pub title: String,
    /// Where and when someone has run it on hardware. Empty: nobody has.
    pub verified_on: Vec<String>,
    /// How it is recognised. A profile without is never detected.
    #[serde(default)]
    pub detect: Detect,
    /// What runs when the command line does not say.
    pub defaults: Defaults,
    /// What happens before measuring.
    pub timing: Timing,
    /// When to let it cool down.
    pub cooldown: Option<Cooldown>,
    /// CPUs per thread count on loopback. Empty: computed from the topology, for any thread count.
    #[serde(default)]
    loopback: Vec<Spanned<Pinned>>,
}

/// How a board is recognised.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Detect {
    /// Entries of `/proc/device-tree/compatible`, compared whole.
    #[serde(default)]
    pub compatible: Vec<String>,
    /// Beginnings of `/proc/device-tree/model`; the longest one that fits wins.
    #[serde(default)]
    pub model: Vec<String>,
}

/// What runs when the command line does not say.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Defaults {
    /// Thread counts.
    #[serde(deserialize_with = "axis")]
    pub threads: Vec<Threads>,
    /// Payloads, in bytes.
    #[serde(deserialize_with = "axis")]
    pub payload: Vec<Payload>,
}

/// What happens before measuring.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// Between the start of the lanes and the opening of each window.
    #[serde(deserialize_with = "duration")]
    pub warmup: Duration,
    /// Traffic once before the first case, to leave the idle state of clocks and caches.
    #[serde(deserialize_with = "duration")]
    pub soak: Duration,
}

/// When to let a board cool down before the next block.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cooldown {
    /// Wait while the hottest zone is at or above so many degrees Celsius,
    pub below_c: u16,
    /// but no longer than this.
    #[serde(deserialize_with = "duration")]
    pub at_most: Duration,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pinned {
    threads: Threads,
    senders: Vec<usize>,
    receivers: Vec<usize>,
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    crate::duration::parse(&text).map_err(D::Error::custom)
}

/// It becomes part of a file name, and `auto` is taken.
fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if name.is_empty() || name == "auto" || !name.bytes().all(plain) {
        let cure = "use lower-case letters, digits and dashes, and not auto";
        return Err(D::Error::custom(format!(
            "{name:?} cannot be a name: {cure}"
        )));
    }
    Ok(name)
}

fn axis<'de, D: Deserializer<'de>, T: Deserialize<'de> + PartialEq + fmt::Display>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let values = Vec::deserialize(deserializer)?;
    if values.is_empty() {
        return Err(D::Error::custom(
            "the list is empty: name at least one value",
        ));
    }
    match repeated(&values) {
        Some(value) => Err(D::Error::custom(format!(
            "{value} stands twice in the list"
        ))),
        None => Ok(values),
    }
}

/// A value that stands twice would be measured twice under one key.
pub(crate) fn repeated<T: PartialEq>(values: &[T]) -> Option<&T> {
    let again = |(n, value): &(usize, &T)| values[..*n].contains(value);
    values
        .iter()
        .enumerate()
        .find(again)
        .map(|(_, value)| value)
}

/// Every profile of this build: file name and text. `generic` comes first.
const PROFILES: &[(&str, &str)] = &[
    ("generic.toml", include_str!("../boards/generic.toml")),
    ("rpi-4b.toml", include_str!("../boards/rpi-4b.toml")),
    ("rpi-5.toml", include_str!("../boards/rpi-5.toml")),
];

/// Every profile of this build, `generic` first.
///
/// # Errors
/// None in a build whose tests pass: they parse every profile.
pub fn all() -> Result<Vec<Board>, UsageError> {
    let parse = |(file, text): &(&str, &str)| Board::parse(text, &format!("boards/{file}"));
    PROFILES.iter().map(parse).collect()
}

/// Which profile, and how it was chosen.
#[derive(Clone, Debug)]
pub struct Detected {
    /// The profile.
    pub board: Board,
    /// Why it is this one, as a sentence.
    pub because: String,
}

/// Finds the profile of `host`: an entry of `compatible`, most specific first; else the longest
/// beginning of `model`; else `generic`.
///
/// `compatible` comes first because firmware and vendor kernels rewrite `model` (Raspberry Pi's own
/// documentation, `revision-codes.adoc`, advises the same).
///
/// # Errors
/// As for [`all`].
pub fn detect(host: &Host) -> Result<Detected, UsageError> {
    let mut boards = all()?;
    let by_compatible = host.compatible.iter().find_map(|entry| {
        let index = boards
            .iter()
            .position(|board| board.detect.compatible.contains(entry))?;
        Some((index, format!("the device tree is compatible with {entry}")))
    });
    let by_model = || {
        let model = host.model.as_deref()?;
        let prefixes = boards.iter().enumerate().flat_map(|(index, board)| {
            board.detect.model.iter().map(move |prefix| (index, prefix))
        });
        let (index, prefix) = prefixes
            .filter(|(_, prefix)| model.starts_with(prefix.as_str()))
            .max_by_key(|(_, prefix)| prefix.len())?;
        Some((index, format!("the model, {model}, begins with {prefix}")))
    };
    let (index, because) = by_compatible
        .or_else(by_model)
        .unwrap_or_else(|| (0, nothing_fits(host)));
    Ok(Detected {
        board: boards.swap_remove(index),
        because,
    })
}

fn nothing_fits(host: &Host) -> String {
    match (host.compatible.first(), &host.model) {
        (Some(compatible), _) => format!("no profile knows {compatible}"),
        (None, Some(model)) => format!("no profile knows {model}"),
        (None, None) => "there is no device tree".to_owned(),
    }
}

/// What `--board` said.
///
/// # Errors
/// An unknown name, an unreadable file, or a malformed profile, with its line.
pub fn choose(choice: &str, host: &Host) -> Result<Detected, UsageError> {
    if choice == "auto" {
        return detect(host);
    }
    let because = format!("--board {choice}");
    let is_file = choice.contains('/') || has_toml_extension(choice);
    let board = if is_file {
        let text = std::fs::read_to_string(choice).map_err(|error| {
            UsageError::flag("--board", choice, format!("cannot read it: {error}"))
        })?;
        Board::parse(&text, choice)?
    } else {
        find("--board", choice, "auto, a path to a TOML file, ")?
    };
    Ok(Detected { board, because })
}

fn has_toml_extension(choice: &str) -> bool {
    Path::new(choice)
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

/// The profile of that name, which was given as `place`, where `besides` can be given too.
///
/// # Errors
/// When there is none, with the names that there are.
pub fn find(place: &'static str, name: &str, besides: &str) -> Result<Board, UsageError> {
    let boards = all()?;
    let names: Vec<&str> = boards.iter().map(|board| board.name.as_str()).collect();
    let cure = format!("no such profile; there are {besides}{}", names.join(", "));
    boards
        .into_iter()
        .find(|board| board.name == name)
        .ok_or_else(|| UsageError::flag(place, &format!("'{name}'"), cure))
}

/// The text of the profile of that name, comments and all.
pub fn source(name: &str) -> Option<&'static str> {
    let file = format!("{name}.toml");
    let (_, text) = PROFILES.iter().find(|(profile, _)| *profile == file)?;
    Some(text)
}

impl Board {
    /// Reads a profile. `file` is for messages only.
    ///
    /// # Errors
    /// The file, the line, and what is wrong with it.
    pub fn parse(text: &str, file: &str) -> Result<Self, UsageError> {
        let at = |start: usize, message: &str| {
            let line = text[..start.min(text.len())].matches('\n').count() + 1;
            UsageError::file(file, line, message)
        };
        let board: Self = toml::from_str(text)
            .map_err(|error| at(error.span().map_or(0, |span| span.start), error.message()))?;
        for (n, pinned) in board.loopback.iter().enumerate() {
            let is_same =
                |other: &Spanned<Pinned>| other.get_ref().threads == pinned.get_ref().threads;
            if board.loopback[..n].iter().any(is_same) {
                let threads = pinned.get_ref().threads;
                return Err(at(
                    pinned.span().start,
                    &format!("threads = {threads} stands twice"),
                ));
            }
            pinned
                .get_ref()
                .check()
                .map_err(|message| at(pinned.span().start, &message))?;
        }
        Ok(board)
    }

    /// The most threads that the profile has a placement for. `None`: any number.
    pub fn max_threads(&self) -> Option<usize> {
        let counts = self
            .loopback
            .iter()
            .map(|pinned| pinned.get_ref().threads.count());
        counts.max()
    }

    /// Where the threads of a case go on `host`.
    ///
    /// # Errors
    /// The reason, for the plan.
    pub fn placement(&self, threads: Threads, host: &Host) -> Result<Placed, String> {
        let generic = |fallback| Placed {
            placement: Placement::generic(threads, &host.cpus),
            fallback,
        };
        if self.loopback.is_empty() {
            return Ok(generic(None));
        }
        let fitting = self
            .loopback
            .iter()
            .map(Spanned::get_ref)
            .filter(|pinned| pinned.threads >= threads)
            .min_by_key(|pinned| pinned.threads)
            .and_then(|pinned| Placement::from_lists(threads, &pinned.senders, &pinned.receivers));
        let Some(placement) = fitting else {
            let most = self.max_threads().unwrap_or_default();
            return Err(format!(
                "the profile {} places at most {most} threads; --board generic or --pin lifts that",
                self.name
            ));
        };
        let missing = placement.cpus().flatten().find(|&cpu| !host.has_cpu(cpu));
        Ok(match missing {
            Some(cpu) => generic(Some(format!(
                "the profile {} names CPU {cpu}, but only {} can be used here: generic placement instead",
                self.name,
                host.cpu_list()
            ))),
            None => Placed {
                placement,
                fallback: None,
            },
        })
    }
}

/// Where the threads of a case go.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The CPUs.
    pub placement: Placement,
    /// Why it is not what the profile says, if it is not.
    pub fallback: Option<String>,
}

impl Pinned {
    fn check(&self) -> Result<(), String> {
        let (threads, senders, receivers) =
            (self.threads, self.senders.len(), self.receivers.len());
        if Placement::from_lists(threads, &self.senders, &self.receivers)
            .is_some_and(|placement| placement.cpus().count() == senders + receivers)
        {
            return Ok(());
        }
        Err(if threads.is_alone() {
            format!(
                "one thread needs one CPU in senders and none in receivers, not {senders} and {receivers}"
            )
        } else {
            let (need_senders, need_receivers) = (threads.senders(), threads.receivers());
            format!(
                "threads = {threads} needs {need_senders} CPUs in senders and {need_receivers} in receivers, \
                 not {senders} and {receivers}"
            )
        })
    }
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}
