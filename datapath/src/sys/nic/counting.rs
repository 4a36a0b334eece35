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

/// Returns all interfaces below one. Empty if netlink does not tell.
pub(super) fn all_below(index: u32) -> Vec<Counting> {
    let lower = link::all_below(index, &link::links().unwrap_or_default()).into_iter();
    let open = |(link, is_added): (Link, bool)| Counting::open(&link.name, is_added).ok();
    lower.filter_map(open).collect()
}
