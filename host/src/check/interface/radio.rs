//! Checks the radio of a Wi-Fi interface.

use std::fmt::Display;

use super::{Finding, Unfit};
use crate::facts::Interface;
use crate::sys::nic::Wireless;

pub(super) fn findings(interface: &Interface) -> Vec<Finding> {
    let name = &interface.name;
    let Some(radio) = &interface.wireless else {
        return Vec::new();
    };
    let all = [
        sleeping(name, radio),
        weak(name, radio),
        given_up(name, radio),
    ];
    all.into_iter().flatten().collect()
}

/// Finds power save. The access point keeps packets for a radio that sleeps until its next beacon, each 102 ms: on
/// Raspberry Pis, half of the round trips took 49 to 127 ms instead of 6 (#7533, #7568, #6049).
fn sleeping(name: &str, radio: &Wireless) -> Option<Finding> {
    let interface = name.to_owned();
    (radio.power_save == Some(true)).then(|| Finding::unfit(Unfit::RadioSleeps { interface }, &[]))
}

/// Weakest signal at which radios still use their fast modulations, in dBm.
const WEAKEST_DBM: i8 = -70;

fn weak(name: &str, radio: &Wireless) -> Option<Finding> {
    let signal = radio.signal_dbm.filter(|&dbm| dbm < WEAKEST_DBM)?;
    let rate = radio.tx_kbps.map_or_else(String::new, |kbps| {
        format!(", and it sends at {:.1} Mb/s", f64::from(kbps) / 1e3)
    });
    let values: &[(&str, &dyn Display)] =
        &[("interface", &name), ("signal", &signal), ("rate", &rate)];
    Some(Finding::noted("weak-signal", values))
}

/// Least share of frames, as one in this many, that is worth a finding.
const ONE_IN: u32 = 1000;

fn given_up(name: &str, radio: &Wireless) -> Option<Finding> {
    let (sent, failed) = (radio.tx_packets?, radio.tx_failed?);
    let values: &[(&str, &dyn Display)] = &[
        ("interface", &name),
        ("failed", &failed),
        ("sent", &sent),
        ("retries", &radio.tx_retries.unwrap_or(0)),
    ];
    (failed > 0 && failed >= sent / ONE_IN).then(|| Finding::noted("unacknowledged", values))
}
