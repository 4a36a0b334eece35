//! Explains the counters of drivers that count lost packets.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::sys::nic::{family, is_named, way};

/// A reason why drivers lose packets, with the counters that show it.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    /// Drivers that have these counters. Empty: many.
    #[serde(default)]
    drivers: Vec<String>,
    /// Names of the counters. `#` stands for a number.
    counters: Vec<String>,
    /// The reason in a sentence.
    pub means: String,
    /// Fix, mostly a command, or the name of one of [`Causes::common`]. `NIC` stands for the interface.
    helps: Vec<String>,
    /// Source of this: files below `drivers/net` in Linux, manuals, issues.
    source: String,
}

/// All known reasons.
#[derive(Deserialize)]
struct Causes {
    /// What helps against several of them.
    common: BTreeMap<String, String>,
    cause: Vec<Cause>,
}

static CAUSES: LazyLock<Causes> =
    LazyLock::new(|| toml::from_str(include_str!("causes.toml")).expect("tests read it"));

impl Cause {
    /// Returns whether a counter of this name shows this reason.
    pub(super) fn has(&self, counter: &str) -> bool {
        self.counters.iter().any(|name| is_named(counter, name))
    }

    /// Returns what helps, and the source, as lines. `interface` is the name of the interface.
    pub(super) fn fix(&self, interface: &str) -> String {
        let lines = self.helps.iter().map(|line| {
            let line = CAUSES.common.get(line).unwrap_or(line);
            line.replace("NIC", interface) + "\n"
        });
        format!("{}see {}", lines.collect::<String>(), self.source)
    }
}

/// Returns the reason for losses that a counter of a driver counts. Without a `driver`, it is the only one of counters
/// with this name. `None`: the counter is not known here, or counters of several drivers have the name.
pub fn cause(driver: Option<&str>, counter: &str) -> Option<&'static Cause> {
    let mut known = CAUSES.cause.iter().filter(|cause| cause.has(counter));
    let Some(driver) = driver else {
        return known.next().filter(|_| known.next().is_none());
    };
    // Causes of all drivers hold only where the driver's counter is known to count losses.
    way(Some(driver), counter)?;
    let family = family(driver)?;
    let own = known
        .clone()
        .find(|cause| cause.drivers.iter().any(|it| it == family));
    own.or_else(|| known.find(|cause| cause.drivers.is_empty()))
}

#[cfg(test)]
mod tests;
