//! Checks network interfaces, for runs between two hosts: kind, link and radio here, and what they count and queue.
//!
//! Numbers after `#` are issues of raspberrypi/linux, unless another repository is named.

mod counted;
mod queues;

use std::collections::BTreeSet;

use serde_json::json;

pub use self::counted::{Cause, cause};
use super::{Finding, Subject, Unfit};
use crate::facts::{Interface, InterfaceKind};

pub(super) fn findings(subject: &Subject) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    for interface in subject.interfaces.iter().flat_map(Interface::with_below) {
        // Two interfaces may be on top of the same one.
        if seen.insert(&interface.name) {
            findings.extend(of_link(interface));
            findings.extend(queues::findings(interface, subject));
            findings.extend(counted::findings(interface));
        }
    }
    if !subject.interfaces.is_empty() {
        findings.extend(queues::unused_rmem_max(subject));
    }
    findings
}

fn of_link(it: &Interface) -> Vec<Finding> {
    let interface = it.name.clone();
    let state = it.state.as_deref().unwrap_or_default();
    let is_down = matches!(state, "down" | "lowerlayerdown" | "notpresent");
    let is_wireless = it.kind == InterfaceKind::Wireless;
    let is_half = it.duplex.as_deref() == Some("half");
    let problem = |is_so: bool, problem: fn(String) -> Unfit| {
        is_so.then(|| Finding::unfit(problem(interface.clone())))
    };
    let all = [
        problem(is_down, |interface| Unfit::LinkDown { interface }),
        problem(is_wireless, |interface| Unfit::Wireless { interface }),
        software(it),
        sleeping(it),
        unknown_sleep(it),
        problem(is_half, |interface| Unfit::HalfDuplex { interface }),
        slow(it),
        unpaused(it),
        radio_sleeps(it),
        weak_signal(it),
        given_up(it),
    ];
    all.into_iter().flatten().collect()
}

fn software(interface: &Interface) -> Option<Finding> {
    let is_wireless = interface.kind == InterfaceKind::Wireless;
    let kind = interface.kind.word().filter(|_| !is_wireless)?;
    let below: Vec<&str> = interface.below.iter().map(|it| &*it.name).collect();
    let fix = if !below.is_empty() {
        format!(
            "none needed: what is below it is checked, too ({})",
            below.join(", ")
        )
    } else if interface.below_is_elsewhere {
        "what is below it is in another network namespace: check there, as on a container's host"
            .to_owned()
    } else {
        "check the one below it (ip -d link), or that packets take: ip route get ADDRESS".to_owned()
    };
    let values = json!({"interface": interface.name, "kind": kind, "fix": fix});
    Some(Finding::noted("software", &values))
}

/// Drivers that lose packets, or wake up late, with Energy-efficient Ethernet: #7511 (macb: 5 to 20 % lost, every
/// counter 0), #7365 (bcmgenet), #4289, #6065, #6855 (2026-11).
const SLEEP_BADLY: [&str; 3] = ["bcmgenet", "lan78xx", "macb"];

fn sleeping(interface: &Interface) -> Option<Finding> {
    let name = &interface.name;
    let eee = interface.eee.filter(|eee| eee.is_active)?;
    let driver = interface.driver.as_deref().unwrap_or_default();
    let after = match eee.sleeps_after_us {
        0 => String::new(),
        us if eee.sleeps => format!(" after {us} us of silence"),
        _ => String::new(),
    };
    let interface = name.clone();
    let sleeps = Unfit::LinkSleeps { interface, after };
    Some(if SLEEP_BADLY.contains(&driver) {
        Finding::unfit_with(sleeps, json!({"driver": driver}))
    } else {
        let values = json!({"sleeps": sleeps.to_string(), "interface": name});
        Finding::noted("link-naps", &values)
    })
}

/// Finds a driver that does not know the state of EEE, although the other end may have it active (#6065, #7115).
fn unknown_sleep(interface: &Interface) -> Option<Finding> {
    // Only a driver that was asked, and that answers for a copper link, keeps this back.
    let speed = interface.speed_mbps.filter(|&speed| speed >= 100)?;
    let keeps_back = interface.modes.is_some() && interface.eee.is_none();
    let driver = interface.driver.as_deref().unwrap_or("its driver");
    let values = json!({"interface": interface.name, "driver": driver, "speed": speed});
    keeps_back.then(|| Finding::noted("link-may-sleep", &values))
}

/// Finds gigabit hardware with a slower link.
fn slow(interface: &Interface) -> Option<Finding> {
    let name = &interface.name;
    let mbps = interface.speed_mbps.filter(|&mbps| mbps < 1000)?;
    let modes = interface.modes.filter(|modes| modes.supports_gigabit)?;
    let fix = match (modes.advertises_gigabit, modes.partner_gigabit) {
        (false, _) => format!("sudo ethtool -s {name} autoneg on advertise 0x203f"),
        (true, Some(false)) => "connect it to a port of 1000 Mb/s: this one offers less".to_owned(),
        (true, _) => "use another cable: 1000 Mb/s needs all four pairs".to_owned(),
    };
    let interface = name.clone();
    let seen = Unfit::SlowLink { interface, mbps };
    Some(Finding::unfit_with(seen, json!({"fix": fix})))
}

/// Finds missing flow control on a lan78xx: behind USB 2 it takes less than its wire brings (#2996, #2449).
fn unpaused(interface: &Interface) -> Option<Finding> {
    let is_it = interface.driver.as_deref() == Some("lan78xx");
    let ours = interface.pause.is_some_and(|pause| pause.rx && pause.tx);
    let partners = interface.modes.and_then(|modes| modes.partner_pause);
    let lacking = match (ours, partners) {
        (true, Some(false)) => "the other end of the link offers no flow control",
        (false, _) if interface.pause.is_some() => "flow control is off",
        _ => return None,
    };
    let values = json!({"interface": interface.name, "lacking": lacking});
    is_it.then(|| Finding::noted("no-flow-control", &values))
}

/// Finds power save of Wi-Fi. The access point keeps packets for a radio that sleeps until its next beacon, each 102
/// ms: on Raspberry Pis, half of the round trips took 49 to 127 ms instead of 6 (#7533, #7568, #6049).
fn radio_sleeps(interface: &Interface) -> Option<Finding> {
    let sleeps = interface.wireless?.power_save == Some(true);
    let interface = interface.name.clone();
    sleeps.then(|| Finding::unfit(Unfit::RadioSleeps { interface }))
}

fn weak_signal(interface: &Interface) -> Option<Finding> {
    /// Weakest signal at which radios still use their fast modulations, in dBm.
    const WEAKEST_DBM: i8 = -70;
    let radio = interface.wireless?;
    let signal = radio.signal_dbm.filter(|&dbm| dbm < WEAKEST_DBM)?;
    let rate = radio.tx_kbps.map_or("?".to_owned(), |kbps| {
        format!("{:.1}", f64::from(kbps) / 1e3)
    });
    let values = json!({"interface": interface.name, "signal": signal, "rate": rate});
    Some(Finding::noted("weak-signal", &values))
}

fn given_up(interface: &Interface) -> Option<Finding> {
    /// Least share of frames, as one in this many, that is worth a finding.
    const ONE_IN: u32 = 1000;
    let radio = interface.wireless?;
    let (sent, failed) = (radio.tx_packets?, radio.tx_failed?);
    let values = json!({"interface": interface.name, "radio": radio});
    (failed > 0 && failed >= sent / ONE_IN).then(|| Finding::noted("unacknowledged", &values))
}

#[cfg(test)]
mod tests;
