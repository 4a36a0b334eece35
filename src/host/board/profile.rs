//! The keys of a profile. What a single value must be is refused here, what only several together show in
//! [`super::rules`].

use std::fmt;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::repeated;
use crate::data::{Payload, Threads};

/// A profile in `boards/*.toml`. Every field is explained in `boards/README.md`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// What `--board` takes and the results show: lower-case letters, digits and dashes.
    #[serde(deserialize_with = "name")]
    pub name: String,
    /// For people.
    #[serde(deserialize_with = "text")]
    pub title: String,
    /// Where and when it was run on hardware. Empty: never.
    #[serde(deserialize_with = "texts")]
    pub verified_on: Vec<String>,
    /// Rust's target triples that run on it, the best first. At least one.
    #[serde(deserialize_with = "targets")]
    pub targets: Vec<String>,
    /// What the board cannot do, or does not let measure well: sentences for people.
    #[serde(deserialize_with = "texts")]
    pub limits: Vec<String>,
    /// How it is recognised. A profile without is never detected.
    #[serde(default)]
    pub detect: Detect,
    /// The CPUs that the placements rely on. [`Board::contradiction`] holds a host against it.
    pub cpus: Option<Cpus>,
    /// What runs when the command line does not say.
    pub defaults: Defaults,
    /// What happens before measuring.
    pub timing: Timing,
    /// When to let it cool down.
    pub cooldown: Option<Cooldown>,
    /// When heat slows it down.
    pub throttle: Option<Throttle>,
    /// CPUs per thread count on loopback. Empty: computed from the topology, for any thread count.
    #[serde(default)]
    pub(super) loopback: Vec<Pinned>,
    /// CPUs per thread count where the other role is on another machine.
    #[serde(default)]
    pub(super) wire: Vec<Wired>,
}

/// How a board is recognised.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Detect {
    /// Entries of `/proc/device-tree/compatible`, compared whole.
    #[serde(default, deserialize_with = "texts")]
    pub compatible: Vec<String>,
    /// Texts of `/proc/device-tree/model`, without a revision, compared whole.
    #[serde(default, deserialize_with = "texts")]
    pub model: Vec<String>,
}

/// The CPUs that the placements of a profile rely on.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cpus {
    /// How many the board has, all clusters together.
    pub count: usize,
    /// The numbers of those with the highest `cpu_capacity`. Empty: all are alike.
    #[serde(default)]
    pub big: Vec<usize>,
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

impl Defaults {
    /// Those for which so many CPUs are enough: of the thread counts the smallest at least.
    pub fn on(&self, cpus: usize) -> Self {
        let least = self.threads.iter().min();
        let fits = |count: &&Threads| count.count() <= cpus || Some(*count) == least;
        Self {
            threads: self.threads.iter().filter(fits).copied().collect(),
            payload: self.payload.clone(),
        }
    }
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

/// When to let a board cool down before the next round of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cooldown {
    /// Wait while the hottest zone is at or above so many degrees Celsius,
    pub below_c: u16,
    /// but no longer than this, over all rounds of a block.
    #[serde(deserialize_with = "duration", serialize_with = "duration_text")]
    pub at_most: Duration,
}

/// When heat slows a board down.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Throttle {
    /// From so many degrees Celsius on, firmware or kernel lower the clock.
    pub from_c: u16,
    /// From so many degrees Celsius on, they take their last measure: the deepest cut, or a shutdown.
    pub critical_c: Option<u16>,
}

/// The CPUs for one thread count on loopback.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pinned {
    pub(super) threads: Threads,
    pub(super) senders: Vec<usize>,
    pub(super) receivers: Vec<usize>,
}

/// The CPUs for one thread count of one role.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wired {
    pub(super) threads: Threads,
    pub(super) cpus: Vec<usize>,
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

/// It becomes part of a file name, and `auto` is taken.
fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if name.is_empty() || name == "auto" || !name.bytes().all(plain) {
        let fix = "use lower-case letters, digits and dashes, and not auto";
        return Err(D::Error::custom(format!(
            "{name:?} is not a valid name: {fix}"
        )));
    }
    Ok(name)
}

/// A text that says something: an empty beginning of `model`, say, would fit every machine.
#[derive(Deserialize)]
struct Text(#[serde(deserialize_with = "text")] String);

fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim().is_empty() {
        return Err(D::Error::custom("the text is empty: write one"));
    }
    Ok(text)
}

fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let texts = Vec::<Text>::deserialize(deserializer)?;
    Ok(texts.into_iter().map(|text| text.0).collect())
}

/// A target triple of those that this program can be built for.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Target(String);

impl TryFrom<String> for Target {
    type Error = String;

    fn try_from(triple: String) -> Result<Self, String> {
        let parts: Vec<&str> = triple.split('-').collect();
        let is_linux = matches!(parts[..], [arch, _vendor, "linux", abi] if {
            let is_arm = arch.starts_with("arm") || arch.starts_with("thumb");
            let abis: &[&str] = if is_arm { ARM_ABIS } else { ABIS };
            ARCHS.contains(&arch) && abis.contains(&abi)
        });
        if is_linux {
            return Ok(Self(triple));
        }
        Err(format!(
            "{triple:?} is not a known target: use one such as aarch64-unknown-linux-gnu"
        ))
    }
}

/// The first part of the triples of rustc's "Platform Support" that Linux boards run.
const ARCHS: &[&str] = &[
    "aarch64",
    "arm",
    "armv5te",
    "armv7",
    "i686",
    "loongarch64",
    "riscv64gc",
    "thumbv7neon",
    "x86_64",
];
const ABIS: &[&str] = &["gnu", "musl"];
const ARM_ABIS: &[&str] = &["gnueabi", "gnueabihf", "musleabi", "musleabihf"];

fn targets<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let targets = Vec::<Target>::deserialize(deserializer)?;
    distinct(targets.into_iter().map(|target| target.0).collect())
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    crate::term::duration::parse(&text).map_err(D::Error::custom)
}

fn duration_text<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&humantime::format_duration(*duration))
}

fn axis<'de, D: Deserializer<'de>, T: Deserialize<'de> + PartialEq + fmt::Display>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    distinct(Vec::deserialize(deserializer)?)
}

/// Some values, none of them twice.
fn distinct<E: serde::de::Error, T: PartialEq + fmt::Display>(values: Vec<T>) -> Result<Vec<T>, E> {
    if values.is_empty() {
        return Err(E::custom("the list is empty: it needs at least one value"));
    }
    match repeated(&values) {
        Some(value) => Err(E::custom(format!("{value} is listed twice"))),
        None => Ok(values),
    }
}
