//! Explains the counters of drivers that count lost packets.

mod causes;

use self::causes::CAUSES;
use crate::sys::nic::{family, is_named, way};

/// A reason why drivers lose packets, with the counters that show it.
#[derive(Debug, PartialEq, Eq)]
pub struct Cause {
    /// Drivers that have these counters. Empty: many.
    drivers: &'static [&'static str],
    /// Names of the counters. `#` stands for a number.
    counters: &'static [&'static str],
    /// The reason in a sentence.
    pub means: &'static str,
    /// Fix, mostly a command. `NIC` stands for the interface.
    helps: &'static [&'static str],
    /// Source of this: files below `drivers/net` in Linux, manuals, issues.
    source: &'static str,
}

impl Cause {
    /// Returns whether a counter of this name shows this reason.
    pub(super) fn has(&self, counter: &str) -> bool {
        self.counters.iter().any(|name| is_named(counter, name))
    }

    /// Returns what helps, and the source, as lines. `interface` is the name of the interface.
    pub(super) fn fix(&self, interface: &str) -> String {
        let mut lines: Vec<String> = self
            .helps
            .iter()
            .map(|line| line.replace("NIC", interface))
            .collect();
        lines.push(format!("see {}", self.source));
        lines.join("\n")
    }
}

/// Returns the reason for losses that a counter of a driver counts. Without a `driver`, it is the only one of counters
/// with this name. `None`: the counter is not known here, or counters of several drivers have the name.
pub fn cause(driver: Option<&str>, counter: &str) -> Option<&'static Cause> {
    let mut known = CAUSES.iter().filter(|cause| cause.has(counter));
    let Some(driver) = driver else {
        return known.next().filter(|_| known.next().is_none());
    };
    // Causes of all drivers hold only where the driver's counter is known to count losses.
    way(Some(driver), counter)?;
    let family = family(driver)?;
    let own = known.clone().find(|cause| cause.drivers.contains(&family));
    own.or_else(|| known.find(|cause| cause.drivers.is_empty()))
}

#[cfg(test)]
mod tests;
