//! Checks the link: kind, energy saving, duplex mode, speed and flow control.

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
    let name = &interface.name;
    let state = interface.state.as_deref()?;
    matches!(state, "down" | "lowerlayerdown" | "notpresent").then(|| {
        Finding::invalid(
            Unfit::LinkDown {
                interface: name.clone(),
            },
            "nothing can be sent through it",
            format!("sudo ip link set {name} up; then look at the cable and at its other end"),
        )
    })
}

fn wireless(interface: &Interface) -> Option<Finding> {
    let name = &interface.name;
    (interface.kind == InterfaceKind::Wireless).then(|| {
        Finding::invalid(
            Unfit::Wireless {
                interface: name.clone(),
            },
            "others share the air: rates and losses change by the minute, whatever the program does",
            "use a cable; to measure the radio, near its access point and at a quiet hour",
        )
    })
}

fn software(interface: &Interface) -> Option<Finding> {
    let what = match interface.kind {
        InterfaceKind::Hardware | InterfaceKind::Wireless => return None,
        InterfaceKind::Loopback => "the loopback interface",
        InterfaceKind::Veth => "one end of a pair of software (veth)",
        InterfaceKind::Bridge => "a bridge",
        InterfaceKind::Vlan => "a VLAN",
        InterfaceKind::Bond => "a bond",
        InterfaceKind::Macvlan => "a second interface of another one (macvlan, ipvlan)",
        InterfaceKind::Dsa => "a port of a switch",
        InterfaceKind::Tun => "a tunnel to a program (tun)",
        InterfaceKind::Software => "software",
    };
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
    Some(Finding::note(
        format!("{} is {what}", interface.name),
        "rings, interrupts and losses of hardware are not in sight here",
        fix,
    ))
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
    let seen = Unfit::LinkSleeps {
        interface: name.clone(),
        after,
    };
    let off = format!("sudo ethtool --set-eee {name} eee off");
    Some(if SLEEP_BADLY.contains(&driver) {
        Finding::invalid(
            seen,
            format!("{driver} wakes up late or loses packets then, and no counter shows it"),
            format!(
                "{off}\n\
                 for good, on a Raspberry Pi: dtparam=eee=off in config.txt\n\
                 where ethtool says that it is not supported: turn it off at the link's other end"
            ),
        )
    } else {
        Finding::note(
            seen.to_string(),
            "the first packet after a silence waits for the link: 17 us at 1000 Mb/s, 30 us at 100",
            off,
        )
    })
}

/// Finds a driver that does not know the state of EEE, although the other end may have it active (#6065, #7115).
fn unknown_sleep(interface: &Interface) -> Option<Finding> {
    let name = &interface.name;
    // Only a driver that was asked, and that answers for a copper link, keeps this back.
    let speed = interface.speed_mbps.filter(|&speed| speed >= 100)?;
    let keeps_back = interface.modes.is_some() && interface.eee.is_none();
    let driver = interface.driver.as_deref().unwrap_or("its driver");
    keeps_back.then(|| {
        Finding::note(
            format!("whether the link of {name} sleeps (EEE) is unknown: {driver} does not say"),
            format!("at {speed} Mb/s the other end may have it active; packets then wait, or are lost"),
            "ask the other end: ethtool --show-eee NIC on a host; on a switch, show eee or its page\n\
             (802.3az, Green Ethernet), and turn it off there",
        )
    })
}

fn half_duplex(interface: &Interface) -> Option<Finding> {
    let name = &interface.name;
    (interface.duplex.as_deref() == Some("half")).then(|| {
        Finding::invalid(
            Unfit::HalfDuplex {
                interface: name.clone(),
            },
            "both ends take turns, and packets collide",
            format!("sudo ethtool -s {name} autoneg on; and autonegotiation at the other end, too"),
        )
    })
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
    Some(Finding::invalid(
        Unfit::SlowLink {
            interface: name.clone(),
            mbps,
        },
        "the numbers would be those of the cable or of the port, not of this board",
        fix,
    ))
}

/// Finds missing flow control on a lan78xx: behind USB 2 it takes less than its wire brings (#2996, #2449).
fn unpaused(interface: &Interface) -> Option<Finding> {
    let name = &interface.name;
    let is_it = interface.driver.as_deref() == Some("lan78xx");
    let ours = interface.pause.is_some_and(|pause| pause.rx && pause.tx);
    let partners = interface.modes.and_then(|modes| modes.partner_pause);
    let lacking = match (ours, partners) {
        (true, Some(false)) => "the other end of the link offers no flow control",
        (false, _) if interface.pause.is_some() => "flow control is off",
        _ => return None,
    };
    is_it.then(|| {
        Finding::note(
            format!("{name} (lan78xx): {lacking}"),
            "its wire is faster than its USB: without pause frames it drops what comes in bursts",
            format!(
                "sudo ethtool -A {name} autoneg on rx on tx on; and flow control at the switch"
            ),
        )
    })
}
