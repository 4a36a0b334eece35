//! Interfaces that count what they lose: one, and those below it.

use std::collections::BTreeMap;
use std::io;

use super::driver::way;
use super::ethtool::Ethtool;
use super::link::{self, Link};

/// An interface that counts what it loses.
#[derive(Debug)]
pub(super) struct Counting {
    /// Number of the interface.
    pub(super) index: u32,
    driver: Ethtool,
    /// Name of the driver.
    driver_name: String,
    /// True if the kernel adds its counters to those of the interface above.
    pub(super) is_added: bool,
}

impl Counting {
    /// Opens an interface.
    ///
    /// # Errors
    /// Fails if there is no interface of this name.
    pub(super) fn open(interface: &str, is_added: bool) -> io::Result<Self> {
        let driver = Ethtool::open(interface)?;
        Ok(Self {
            index: link::index(interface)?,
            driver_name: driver.driver().unwrap_or_default(),
            driver,
            is_added,
        })
    }

    /// Adds the driver's counters that are known to count lost packets ([`way`]).
    pub(super) fn add_named(&self, named: &mut BTreeMap<String, u64>) {
        for (name, value) in self.driver.statistics().unwrap_or_default() {
            if way(Some(&self.driver_name), &name).is_some() {
                *named.entry(name).or_default() += value;
            }
        }
    }
}

/// Returns all interfaces below one: those directly below, and those below them. Empty if netlink does not tell.
pub(super) fn all_below(index: u32) -> Vec<Counting> {
    let all = link::links().unwrap_or_default();
    let mut uppers: Vec<&Link> = all.iter().filter(|it| it.index == index).collect();
    let (mut found, mut seen) = (Vec::new(), vec![index]);
    while let Some(upper) = uppers.pop() {
        // The counters of a bond contain those of its ports (`bond_get_stats`).
        let is_added = upper.kind.as_deref() == Some("bond");
        for lower in link::below(upper, &all).links {
            if seen.contains(&lower.index) {
                continue;
            }
            seen.push(lower.index);
            found.extend(Counting::open(&lower.name, is_added));
            uppers.extend(all.iter().filter(|it| it.index == lower.index));
        }
    }
    found
}
