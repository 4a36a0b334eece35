//! Selects the counters of a driver (`ethtool -S`) that count lost packets, of the drivers whose counters are known.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// Direction of a packet when it was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// On its way in.
    In,
    /// On its way out.
    Out,
}

/// Drivers with the same counters.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    /// Names in sysfs and of `ethtool -i`. `*` stands for any text. The first one names the family.
    drivers: Vec<String>,
    /// Counters of packets lost on the way in. `#` stands for a number.
    into: Vec<String>,
    /// Counters of packets lost on the way out.
    out: Vec<String>,
}

impl Family {
    /// Returns whether a driver of this name has these counters.
    fn has(&self, driver: &str) -> bool {
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
static FAMILIES: LazyLock<Vec<Family>> = LazyLock::new(|| {
    let text = include_str!("families.toml");
    let table: BTreeMap<String, Vec<Family>> =
        toml::from_str(text).expect("a test reads the table");
    table.into_values().flatten().collect()
});

/// Returns the direction of the lost packets that a counter of a driver counts. `None`: it counts no lost packets, or
/// is not known here. A name alone proves nothing, as drivers share names and not meanings. Without a `driver`, the
/// name is one that was chosen by its driver before, as in logs.
///
/// Names that repeat the kernel's own counters (`rx_dropped`) are not known, nor are counters of events
/// (`rx_buf_unav_irq`) or counters that contain another, or are contained in it: `rx0_hw_drop_overruns`; `Rx DMA
/// Overruns` of cpsw (AM335x reference manual, CPSW_STATS); `rx_symbol_errors` of macb (manuals of Microchip's GMAC);
/// `mmc_rx_run_error` and `mmc_rx_jabber_error` of stmmac, which have a wrong CRC as well (manuals of Intel's EMAC).
/// Others may be: `rbuf_err_cnt` of bcmgenet, which no manual defines, and `Rx Fragment Errors` of lan78xx, which its
/// sibling lan743x does not add to its errors.
pub fn way(driver: Option<&str>, name: &str) -> Option<Way> {
    let is_like = |patterns: &[String]| patterns.iter().any(|pattern| is_named(name, pattern));
    let has = |family: &Family| driver.is_none_or(|driver| family.has(driver));
    if driver.is_none() && name == WIFI_TX_FAILED {
        return Some(Way::Out);
    }
    let mut families = FAMILIES.iter().filter(|family| has(family));
    families.find_map(|family| match family {
        it if is_like(&it.into) => Some(Way::In),
        it if is_like(&it.out) => Some(Way::Out),
        _ => None,
    })
}

/// Returns the name of the drivers that have the same counters as this one, such as `stmmac` for `rk_gmac-dwmac`.
/// `None`: its counters are not known here.
pub fn family(driver: &str) -> Option<&'static str> {
    let known = FAMILIES.iter().find(|family| family.has(driver))?;
    known.drivers.first().map(String::as_str)
}

/// Returns the sums of lost packets in the counters of a driver, by their names: in and out.
///
/// A queue's `drops` count or its `xdp_drops`, whichever is larger: in virtio_net the former contain the latter, in
/// veth not.
pub fn drops<'a>(counters: impl IntoIterator<Item = (&'a String, &'a u64)>) -> (u64, u64) {
    let counters: BTreeMap<&str, u64> = counters
        .into_iter()
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    let (mut on_the_way_in, mut on_the_way_out) = (0_u64, 0_u64);
    for (&name, &value) in &counters {
        let queue = name.strip_suffix("_xdp_drops");
        let containing = queue.and_then(|queue| counters.get(format!("{queue}_drops").as_str()));
        let value = value.saturating_sub(containing.copied().unwrap_or(0));
        match way(None, name) {
            Some(Way::In) => on_the_way_in = on_the_way_in.wrapping_add(value),
            Some(Way::Out) => on_the_way_out = on_the_way_out.wrapping_add(value),
            None => {}
        }
    }
    (on_the_way_in, on_the_way_out)
}

/// Returns all known counters of lost packets, each with a driver that has it. `#` stands for a number.
pub fn loss_counters() -> impl Iterator<Item = (&'static str, &'static str)> {
    FAMILIES.iter().flat_map(|family| {
        let names = family.into.iter().chain(&family.out);
        names.map(|name| (family.drivers[0].as_str(), name.as_str()))
    })
}

/// Returns whether a name matches the pattern, in which `#` stands for digits.
pub fn is_named(name: &str, pattern: &str) -> bool {
    let Some((before, after)) = pattern.split_once('#') else {
        return name == pattern;
    };
    let between = name
        .strip_prefix(before)
        .and_then(|rest| rest.strip_suffix(after));
    between.is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_passed_over() {
        assert!(is_named("rx_queue_12_drops", "rx_queue_#_drops"));
        assert!(!is_named("rx_queue__drops", "rx_queue_#_drops"));
        assert!(!is_named("rx_queue_x_drops", "rx_queue_#_drops"));
        assert!(!is_named("rx0_hw_drop_overruns", "rx#_hw_drops"));
    }

    #[test]
    fn no_name_is_of_both_ways() {
        let all = |names: fn(&Family) -> &[String]| -> Vec<&str> {
            FAMILIES
                .iter()
                .flat_map(|family| names(family).iter().map(String::as_str))
                .collect()
        };
        let out = all(|family| &family.out);
        for name in all(|family| &family.into) {
            assert!(!out.contains(&name), "{name}");
        }
    }

    #[test]
    fn a_counter_is_known_by_its_driver() {
        for (driver, name, expected) in [
            ("r8169", "rx_missed", Some(Way::In)),
            ("r8152", "rx_missed", Some(Way::In)),
            ("r8125", "tx_aborted", Some(Way::Out)),
            ("rk_gmac-dwmac", "mmc_rx_fifo_overflow", Some(Way::In)),
            ("st_gmac", "mmc_tx_latecol", Some(Way::Out)),
            ("dwmac-sun8i", "rx_missed_cntr", Some(Way::In)),
            ("TI CPSW Driver v1.0", "Late Collisions", Some(Way::Out)),
            // Drivers that nobody looked at may count anything by these names.
            ("ax88179_178a", "rx_missed", None),
            ("mtk_soc_eth", "rx_overruns", None),
            ("igb", "tx_aborted", None),
            ("veth", "rx_missed", None),
        ] {
            assert_eq!(way(Some(driver), name), expected, "{driver} {name}");
        }
        assert_eq!(family("imx-dwmac"), Some("stmmac"));
        assert_eq!(family("nvethernet"), None);
    }

    #[test]
    fn what_others_count_already_is_not_counted() {
        let statistics = [
            ("rx_dropped", 1000),
            ("rx_errors", 1000),
            ("tx_dropped", 1000),
            ("rx_no_buffer_count", 1000),
            ("some_new_errors", 1000),
            ("rbuf_ovflow_cnt", 7),
            ("rx_queue_0_drops", 20),
            ("rx_queue_1_xdp_drops", 3),
            ("Rx DMA Overruns", 1000),
            ("tx_pri3_drop", 5),
        ];
        let statistics = statistics.map(|(name, value)| (name.to_owned(), value));
        assert_eq!(drops(&BTreeMap::from(statistics)), (30, 5));
    }

    #[test]
    fn what_xdp_drops_counts_once() {
        let of_queue = |by_driver, by_xdp| {
            let counters = [
                ("rx_queue_0_drops", by_driver),
                ("rx_queue_0_xdp_drops", by_xdp),
            ];
            let counters = counters.map(|(name, value)| (name.to_owned(), value));
            drops(&BTreeMap::from(counters)).0
        };
        assert_eq!(of_queue(20, 3), 20, "as virtio_net counts");
        assert_eq!(of_queue(0, 3), 3, "as veth counts");
    }
}
