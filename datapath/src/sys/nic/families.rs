//! Drivers whose counters of lost packets (`ethtool -S`) are known, with these counters.

use std::sync::LazyLock;

use serde::Deserialize;

/// Drivers with the same counters.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Family {
    /// Names in sysfs and of `ethtool -i`. `*` stands for any text. The first one names the family.
    pub(super) drivers: Vec<String>,
    /// Counters of packets lost on the way in. `#` stands for a number.
    pub(super) into: Vec<String>,
    /// Counters of packets lost on the way out.
    pub(super) out: Vec<String>,
}

impl Family {
    /// Returns whether a driver of this name has these counters.
    pub(super) fn has(&self, driver: &str) -> bool {
        let fits = |pattern: &String| match pattern.split_once('*') {
            None => driver == *pattern,
            Some((before, after)) => {
                let rest = driver.strip_prefix(before);
                rest.is_some_and(|rest| rest.contains(after))
            }
        };
        self.drivers.iter().any(fits)
    }
}

/// Frames that a radio gave up after all retries ([`Wireless::tx_failed`](super::Wireless::tx_failed)). It is a counter
/// of nl80211, and of no driver.
pub(super) const WIFI_TX_FAILED: &str = "wifi_tx_failed";

/// Known drivers: `families.toml`.
pub(super) static FAMILIES: LazyLock<Vec<Family>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct Table {
        family: Vec<Family>,
    }
    let table: Result<Table, _> = toml::from_str(include_str!("families.toml"));
    table.expect("a test reads the table").family
});
