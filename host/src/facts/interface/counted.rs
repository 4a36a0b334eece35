//! Counters of an interface: the kernel's and the driver's.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::sys::nic::{Way, way};

/// Packets counted since the interface was created.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Packets received.
    pub rx_packets: Option<u64>,
    /// Packets sent.
    #[serde(default)]
    pub tx_packets: Option<u64>,
    /// Packets received and then dropped by the kernel.
    pub rx_dropped: Option<u64>,
    /// Packets damaged, or missed by the interface (`rx_errors` and `rx_missed_errors`).
    pub rx_errors: Option<u64>,
    /// Packets lost on the way in, by the driver's own counters (`ethtool -S`): each counter that is not 0, the
    /// highest first. `None`: the driver has no known one.
    pub driver_in_drops: Option<Vec<(String, u64)>>,
    /// Packets lost on the way out, by the driver's own counters: each counter that is not 0, the highest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub driver_out_drops: Vec<(String, u64)>,
    /// Growth of the driver's counters of lost packets since they were read first
    /// ([`Interface::read_again`](super::Interface::read_again)), of those that have grown.
    #[serde(skip)]
    pub moving: Vec<(String, u64)>,
    /// Packets refused by the backlog queues of the machine. `rx_dropped` of the interfaces includes them.
    pub backlog_drops: u64,
}

impl Counted {
    /// Enters the driver's counters.
    pub(super) fn count_driver(&mut self, driver: Option<&str>, statistics: &[(String, u64)]) {
        // Without a name nothing is known of its counters.
        let way = |name: &str| way(Some(driver?), name);
        let has_some = statistics.iter().any(|(name, _)| way(name).is_some());
        let losses = |wanted: Way| {
            let mut counters = statistics.to_vec();
            counters.retain(|(name, count)| *count > 0 && way(name) == Some(wanted));
            counters.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            counters
        };
        self.driver_in_drops = has_some.then(|| losses(Way::In));
        self.driver_out_drops = losses(Way::Out);
    }

    /// Returns the driver's counters of lost packets that are not 0.
    fn driver_drops(&self) -> impl Iterator<Item = &(String, u64)> {
        let into = self.driver_in_drops.iter().flatten();
        into.chain(&self.driver_out_drops)
    }

    /// Enters the driver's counters again, with their growth.
    pub(super) fn count_driver_again(&mut self, driver: Option<&str>, now: &[(String, u64)]) {
        let before: BTreeMap<String, u64> = self.driver_drops().cloned().collect();
        self.count_driver(driver, now);
        let growth = self.driver_drops().map(|(name, count)| {
            let before = before.get(name).copied().unwrap_or(0);
            (name.clone(), count.saturating_sub(before))
        });
        self.moving = growth.filter(|(_, more)| *more > 0).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(counters: &[(&str, u64)]) -> Vec<(String, u64)> {
        let own = counters.iter();
        own.map(|(name, count)| ((*name).to_owned(), *count))
            .collect()
    }

    #[test]
    fn of_a_drivers_counters_those_of_losses_are_kept() {
        let kept = |statistics: &[(&str, u64)]| {
            let mut counted = Counted::default();
            counted.count_driver(Some("macb"), &counters(statistics));
            (counted.driver_in_drops, counted.driver_out_drops)
        };
        assert_eq!(kept(&[]), (None, Vec::new()));
        assert_eq!(kept(&[("rx_packets", 7)]), (None, Vec::new()));
        assert_eq!(
            kept(&[("rx_packets", 7), ("rx_resource_errors", 0)]),
            (Some(Vec::new()), Vec::new())
        );
        let statistics = [
            ("rx_overruns", 2),
            ("tx_underrun", 9),
            ("rx_packets", 8),
            // Of another driver.
            ("rx_missed", 8),
            ("rx_resource_errors", 3),
        ];
        let (into, out) = kept(&statistics);
        let lost = counters(&[("rx_resource_errors", 3), ("rx_overruns", 2)]);
        assert_eq!(into, Some(lost));
        assert_eq!(out, counters(&[("tx_underrun", 9)]));
    }

    #[test]
    fn counters_that_grow_are_told_apart() {
        let mut counted = Counted::default();
        let driver = Some("macb");
        counted.count_driver(driver, &counters(&[("rx_overruns", 2), ("rx_jabbers", 0)]));
        counted.count_driver_again(driver, &counters(&[("rx_overruns", 2), ("rx_jabbers", 5)]));
        assert_eq!(counted.moving, counters(&[("rx_jabbers", 5)]));
        assert_eq!(
            counted.driver_in_drops,
            Some(counters(&[("rx_jabbers", 5), ("rx_overruns", 2)]))
        );
    }
}
