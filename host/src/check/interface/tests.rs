//! Tests that a healthy interface has no findings, and that each problem has exactly one.

use crate::check::Finding;
use crate::check::tests::{Seen, found, texts};
use crate::facts::Interface;
use crate::facts::interface::{Counted, InterfaceKind};
use crate::sys::nic::{Coalescing, Eee, LinkModes, Pause, Rings, Wireless};

/// Returns the interface of a healthy Pi 4B.
fn healthy() -> Interface {
    Interface {
        name: "eth0".to_owned(),
        driver: Some("bcmgenet".to_owned()),
        bus: Some("platform".to_owned()),
        state: Some("up".to_owned()),
        speed_mbps: Some(1000),
        duplex: Some("full".to_owned()),
        modes: Some(LinkModes {
            supports_gigabit: true,
            advertises_gigabit: true,
            partner_gigabit: Some(true),
            partner_pause: Some(true),
        }),
        mtu: Some(1500),
        rx_queues: 5,
        tx_queues: 5,
        rings: Some(Rings {
            rx: 512,
            tx: 512,
            rx_max: 512,
            tx_max: 512,
        }),
        // One packet causes an interrupt.
        coalescing: Some(Coalescing {
            rx_usecs: 57,
            rx_frames: 1,
            tx_usecs: 0,
            tx_frames: 10,
            adapts_rx: false,
        }),
        gro_flush_timeout_ns: Some(0),
        napi_defer_hard_irqs: Some(0),
        eee: Some(Eee {
            is_active: false,
            is_enabled: false,
            sleeps: false,
            sleeps_after_us: 34,
        }),
        pause: Some(Pause {
            is_negotiated: true,
            rx: true,
            tx: true,
        }),
        rps_cpus: Some(Vec::new()),
        xps_cpus: Some(vec![0, 1, 2, 3]),
        irqs: vec![31, 32],
        irq_cpus: vec![0],
        qdisc: Some("mq".to_owned()),
        carrier_changes: Some(2),
        counted: Counted {
            rx_packets: Some(1_200_000),
            tx_packets: Some(1_200_000),
            rx_dropped: Some(3),
            rx_errors: Some(0),
            driver_in_drops: Some(Vec::new()),
            ..Counted::default()
        },
        ..Interface::default()
    }
}

/// Returns an interface by another name.
fn named(name: &str, interface: Interface) -> Interface {
    Interface {
        name: name.to_owned(),
        ..interface
    }
}

fn found_at(change: fn(&mut Interface)) -> Vec<Finding> {
    found(|seen: &mut Seen| {
        let mut eth0 = healthy();
        change(&mut eth0);
        seen.interfaces = vec![eth0];
    })
}

#[test]
fn a_healthy_interface_has_no_findings() {
    assert_eq!(found_at(|_| {}), []);
    assert_eq!(found_at(|eth0| eth0.wireless = Some(radio(|_| {}))), []);
    // An interface without any known value has no findings either.
    assert_eq!(
        found(|seen| seen.interfaces = vec![Interface::default()]),
        []
    );
}

fn sleeping(driver: &str) -> impl Fn(&mut Interface) {
    let driver = driver.to_owned();
    move |eth0| {
        eth0.driver = Some(driver.clone());
        if let Some(eee) = &mut eth0.eee {
            (eee.is_active, eee.is_enabled, eee.sleeps) = (true, true, true);
        }
    }
}

/// Returns a driver's counters of losses.
fn lost(counters: &[(&str, u64)]) -> Vec<(String, u64)> {
    let counters = counters
        .iter()
        .map(|(name, count)| ((*name).to_owned(), *count));
    counters.collect()
}

/// Returns the state of a radio that is fit, with a change.
fn radio(change: fn(&mut Wireless)) -> Wireless {
    let mut radio = Wireless {
        power_save: Some(false),
        frequency_mhz: Some(5180),
        signal_dbm: Some(-52),
        tx_kbps: Some(433_000),
        rx_kbps: Some(390_000),
        tx_packets: Some(90_000),
        tx_retries: Some(4000),
        tx_failed: Some(3),
    };
    change(&mut radio);
    radio
}

type Change = fn(&mut Interface);

/// Changes that each cause one kind of problem.
const TROUBLES: &[Change] = &[
    |eth0| eth0.state = Some("down".to_owned()),
    |eth0| eth0.kind = InterfaceKind::Wireless,
    |eth0| eth0.wireless = Some(radio(|radio| radio.power_save = Some(true))),
    |eth0| {
        eth0.wireless = Some(radio(|radio| {
            (radio.signal_dbm, radio.tx_kbps) = (Some(-78), Some(6500));
        }));
    },
    |eth0| eth0.wireless = Some(radio(|radio| radio.tx_failed = Some(700))),
    |eth0| eth0.kind = InterfaceKind::Veth,
    |eth0| eth0.kind = InterfaceKind::Vlan,
    |eth0| {
        eth0.kind = InterfaceKind::Macvlan;
        eth0.below_is_elsewhere = true;
    },
    |eth0| {
        eth0.kind = InterfaceKind::Dsa;
        eth0.below = vec![named("eth7", healthy())];
    },
    |eth0| sleeping("macb")(eth0),
    |eth0| sleeping("r8169")(eth0),
    |eth0| eth0.duplex = Some("half".to_owned()),
    |eth0| eth0.speed_mbps = Some(100),
    |eth0| {
        eth0.speed_mbps = Some(100);
        eth0.modes = eth0.modes.map(|modes| LinkModes {
            partner_gigabit: Some(false),
            ..modes
        });
    },
    |eth0| {
        eth0.speed_mbps = Some(10);
        eth0.modes = eth0.modes.map(|modes| LinkModes {
            advertises_gigabit: false,
            ..modes
        });
    },
    |eth0| {
        eth0.driver = Some("lan78xx".to_owned());
        eth0.pause = eth0.pause.map(|pause| Pause { rx: false, ..pause });
    },
    |eth0| {
        eth0.driver = Some("lan78xx".to_owned());
        eth0.modes = eth0.modes.map(|modes| LinkModes {
            partner_pause: Some(false),
            ..modes
        });
    },
    |eth0| eth0.xps_cpus = Some(Vec::new()),
    |eth0| (eth0.xps_cpus, eth0.tx_queues) = (Some(Vec::new()), 3),
    |eth0| eth0.irq_cpus = vec![3],
    |eth0| {
        eth0.coalescing = eth0.coalescing.map(|held| Coalescing {
            rx_frames: 16,
            adapts_rx: true,
            ..held
        });
    },
    |eth0| (eth0.gro_flush_timeout_ns, eth0.napi_defer_hard_irqs) = (Some(20_000), Some(2)),
    |eth0| eth0.rings = eth0.rings.map(|rings| Rings { rx: 256, ..rings }),
    |eth0| eth0.counted.rx_dropped = Some(5321),
    |eth0| (eth0.counted.rx_dropped, eth0.counted.driver_in_drops) = (Some(5321), None),
    |eth0| {
        eth0.driver = Some("ax88179_178a".to_owned());
        (eth0.counted.rx_dropped, eth0.counted.driver_in_drops) = (Some(5321), None);
    },
    |eth0| {
        eth0.driver = Some("macb".to_owned());
        eth0.counted.driver_in_drops =
            Some(lost(&[("rx_resource_errors", 17_800), ("rx_overruns", 12)]));
    },
    |eth0| {
        eth0.driver = Some("rk_gmac-dwmac".to_owned());
        eth0.counted.driver_in_drops = Some(lost(&[("mmc_rx_crc_error", 250)]));
    },
    |eth0| eth0.counted.driver_out_drops = lost(&[("tx_late_col", 900)]),
    |eth0| {
        eth0.counted.driver_in_drops = Some(lost(&[("rx_missed", 7)]));
        eth0.counted.moving = lost(&[("rx_missed", 5)]);
        eth0.driver = Some("r8169".to_owned());
    },
    |eth0| {
        eth0.counted.driver_in_drops = Some(lost(&[("rx_missed", 7)]));
        eth0.counted.moving = lost(&[("rx_missed", 5)]);
        eth0.driver = Some("r8152".to_owned());
    },
    |eth0| eth0.counted.rx_errors = Some(600_000),
    |eth0| (eth0.driver, eth0.eee) = (Some("macb".to_owned()), None),
    |eth0| eth0.carrier_changes = Some(14),
];

#[test]
fn every_trouble_is_found_alone_with_its_reason_and_its_fix() {
    let mut all = Vec::new();
    for &trouble in TROUBLES {
        let findings = found_at(trouble);
        assert_eq!(findings.len(), 1, "{findings:#?}");
        all.extend(texts(&findings));
    }
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn every_line_of_a_finding_fits_a_terminal() {
    for &trouble in TROUBLES {
        for finding in found_at(trouble) {
            let seen = finding.seen.to_string();
            let lines = [&seen, &finding.why, &finding.fix];
            for line in lines.into_iter().flat_map(|text| text.lines()) {
                assert!(line.len() <= 92, "{} columns: {line}", line.len() + 8);
            }
        }
    }
}

#[test]
fn what_other_counters_explain_is_no_finding() {
    // Drops of the backlog, which `rx_dropped` includes.
    let explained: Change = |eth0| {
        (eth0.counted.rx_dropped, eth0.counted.backlog_drops) = (Some(5321), 5000);
        eth0.counted.rx_packets = Some(12_000_000);
    };
    assert_eq!(found_at(explained), []);
    // Losses that the driver counts itself.
    let by_driver: Change = |eth0| {
        (eth0.counted.rx_dropped, eth0.counted.driver_in_drops) =
            (Some(5321), Some(lost(&[("rbuf_ovflow_cnt", 100)])));
    };
    assert_eq!(found_at(by_driver), []);
    let by_driver: Change = |eth0| {
        eth0.driver = Some("macb".to_owned());
        (eth0.counted.rx_errors, eth0.counted.driver_in_drops) =
            (Some(17_800), Some(lost(&[("rx_resource_errors", 17_800)])));
    };
    assert_eq!(found_at(by_driver).len(), 1, "said once");
    // Fewer than one in ten thousand.
    let few: Change = |eth0| eth0.counted.rx_errors = Some(119);
    assert_eq!(found_at(few), []);
}

#[test]
fn what_an_interface_below_loses_is_found_once_and_at_its_name() {
    let lossy = || {
        let mut eth7 = named("eth7", healthy());
        eth7.counted.rx_errors = Some(52_000);
        eth7
    };
    let on_top = |name: &str, kind| Interface {
        kind,
        below: vec![lossy()],
        ..named(name, healthy())
    };
    let findings = found(|seen| {
        // A bond has the sum.
        let mut bond0 = on_top("bond0", InterfaceKind::Bond);
        bond0.counted.rx_errors = Some(52_000);
        seen.interfaces = vec![on_top("eth0.5", InterfaceKind::Vlan), bond0, lossy()];
    });
    let lines = findings.iter().map(|finding| finding.seen.to_string());
    let lines: Vec<String> = lines.collect();
    assert_eq!(
        lines,
        [
            "eth0.5 is no device of its own (vlan)",
            "eth7 has counted 52000 errors of receiving (4.2 % of the packets)",
            "bond0 is no device of its own (bond)",
        ]
    );
}

#[test]
fn a_limit_that_nobody_uses_is_told_once_and_only_with_an_interface() {
    let raised = |seen: &mut Seen| seen.host.rmem_max = Some(64 << 20);
    assert_eq!(found(raised), []);
    let findings = found(|seen| {
        raised(seen);
        seen.interfaces = vec![healthy(), healthy()];
    });
    assert_eq!(findings.len(), 1, "{findings:#?}");
    insta::assert_snapshot!(texts(&findings).join("\n"));
}
