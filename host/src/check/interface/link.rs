//! Checks the link: kind, energy saving, duplex mode, speed and flow control.

use std::fmt::Display;

use super::{Finding, Unfit};
use crate::facts::Interface;
use crate::facts::interface::InterfaceKind;

pub(super) fn findings(interface: &Interface) -> Vec<Finding> {
    let all = [
        down(interface),
        wireless(interface),
        software(interface),
        sleeping(interface),
        unknown_sleep(interface),
        half_duplex(interface),
        slow(interface),
        unpaused(interface),
    ];
    all.into_iter().flatten().collect()
}

fn down(interface: &Interface) -> Option<Finding> {
    let state = interface.state.as_deref()?;
    let is_down = matches!(state, "down" | "lowerlayerdown" | "notpresent");
    let interface = interface.name.clone();
    is_down.then(|| Finding::unfit(Unfit::LinkDown { interface }, &[]))
}

fn wireless(interface: &Interface) -> Option<Finding> {
    let is_wireless = interface.kind == InterfaceKind::Wireless;
    let interface = interface.name.clone();
    is_wireless.then(|| Finding::unfit(Unfit::Wireless { interface }, &[]))
}

fn software(interface: &Interface) -> Option<Finding> {
    let is_wireless = interface.kind == InterfaceKind::Wireless;
    let kind = interface.kind.word().filter(|_| !is_wireless)?;
    let below: Vec<&str> = interface.below.iter().map(|it| it.name.as_str()).collect();
    let fix = if !below.is_empty() {
        format!(
            "none needed: what is below it is checked, too ({})",
            below.join(", ")
        )
    } else if interface.below_is_elsewhere {
        "what is below it is in another network namespace: check there, as on a container's host"
            .to_owned()
    } else if interface.kind.is_on_top() {
        "check the interface below it, too: ip -d link shows which that is".to_owned()
    } else {
        "name the one that packets to the other host take: ip route get ADDRESS".to_owned()
    };
    let values: &[(&str, &dyn Display)] = &[
        ("interface", &interface.name),
        ("kind", &kind),
        ("fix", &fix),
    ];
    Some(Finding::noted("software", values))
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
    let interface = interface.name.clone();
    let sleeps = Unfit::LinkSleeps { interface, after };
    Some(if SLEEP_BADLY.contains(&driver) {
        Finding::unfit(sleeps, &[("driver", &driver)])
    } else {
        let values: &[(&str, &dyn Display)] = &[("sleeps", &sleeps), ("interface", name)];
        Finding::noted("link-naps", values)
    })
}

/// Finds a driver that does not know the state of EEE, although the other end may have it active (#6065, #7115).
fn unknown_sleep(interface: &Interface) -> Option<Finding> {
    // Only a driver that was asked, and that answers for a copper link, keeps this back.
    let speed = interface.speed_mbps.filter(|&speed| speed >= 100)?;
    let keeps_back = interface.modes.is_some() && interface.eee.is_none();
    let values: &[(&str, &dyn Display)] = &[
        ("interface", &interface.name),
        (
            "driver",
            &interface.driver.as_deref().unwrap_or("its driver"),
        ),
        ("speed", &speed),
    ];
    keeps_back.then(|| Finding::noted("link-may-sleep", values))
}

fn half_duplex(interface: &Interface) -> Option<Finding> {
    let is_half = interface.duplex.as_deref() == Some("half");
    let interface = interface.name.clone();
    is_half.then(|| Finding::unfit(Unfit::HalfDuplex { interface }, &[]))
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
    Some(Finding::unfit(
        Unfit::SlowLink { interface, mbps },
        &[("fix", &fix)],
    ))
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
    let values: &[(&str, &dyn Display)] = &[("interface", &interface.name), ("lacking", &lacking)];
    is_it.then(|| Finding::noted("no-flow-control", values))
}
