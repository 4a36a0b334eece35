//! Tests the explanations against counters of drivers as the public has shown them (`tests/fixtures/drivers`).

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::*;
use crate::sys::nic::{loss_counters, way};

/// Returns the drivers of the fixtures, each with the names of its counters.
fn dumps() -> Vec<(String, Vec<String>)> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/drivers");
    let files = fs::read_dir(fixtures).expect("the fixtures are there");
    let dump = |path: &Path| {
        let text = fs::read_to_string(path).expect("readable");
        let lines = text.lines().filter(|line| line.starts_with(' '));
        let names = lines.map(|line| {
            let (name, value) = line.rsplit_once(": ").expect("a name and a value");
            value.parse::<u64>().expect("a number");
            name.trim().to_owned()
        });
        let driver = path.file_stem().expect("a name").to_string_lossy();
        (driver.into_owned(), names.collect())
    };
    let mut dumps: Vec<_> = files
        .map(|file| dump(&file.expect("readable").path()))
        .collect();
    dumps.sort();
    dumps
}

#[test]
fn every_counter_of_losses_is_explained() {
    for (driver, name) in loss_counters() {
        let name = name.replace('#', "0");
        assert!(cause(Some(driver), &name).is_some(), "{driver} {name}");
    }
    for cause in &CAUSES.cause {
        for name in &cause.counters {
            let name = name.replace('#', "0");
            assert!(
                way(None, &name).is_some(),
                "{name}: explained, and not counted"
            );
        }
        for driver in &cause.drivers {
            assert_eq!(family(driver), Some(&**driver), "it is of a family");
        }
    }
}

#[test]
fn a_counter_is_explained_by_its_driver_and_not_by_its_name() {
    let missed = |driver| cause(driver, "rx_missed").map(|cause| &*cause.means);
    let (pci, usb) = (missed(Some("r8169")), missed(Some("r8152")));
    assert!(pci.is_some_and(|means| means.contains("PCIe")), "{pci:?}");
    assert!(usb.is_some_and(|means| means.contains("USB")), "{usb:?}");
    assert_eq!(missed(Some("r8125")), pci);
    // Neither a driver that is not known, nor none.
    assert_eq!(missed(Some("e1000e")), None);
    assert_eq!(missed(None), None);
    let only = cause(None, "rbuf_ovflow_cnt").expect("only one driver has it");
    assert_eq!(only.drivers, ["bcmgenet"]);
    let rockchip = cause(Some("rk_gmac-dwmac"), "mmc_rx_fifo_overflow").expect("a stmmac");
    assert_eq!(rockchip.drivers, ["stmmac"]);
}

#[test]
fn an_explanation_is_short_and_says_what_to_type() {
    for cause in &CAUSES.cause {
        let fix = cause.fix("enp1s0f0");
        assert!(!fix.contains("NIC"), "{fix}");
        for line in fix.lines().chain([&*cause.means]) {
            assert!(line.len() <= 92, "{} columns: {line}", line.len() + 8);
        }
    }
}

#[test]
fn a_counter_that_drivers_share_is_explained_for_the_one_at_hand() {
    let discard = cause(Some("mvneta"), "rx_discard").expect("known");
    assert!(
        discard.drivers.contains(&"mvneta".to_owned()),
        "{discard:?}"
    );
    let of_veth = cause(Some("veth"), "rx_queue_3_xdp_drops").expect("known");
    assert!(of_veth.means.contains("XDP"), "{of_veth:?}");
    assert_eq!(cause(Some("macb"), "rx_frames"), None);
}

#[test]
fn counters_in_public_dumps_are_losses_with_a_reason_or_named_here() {
    let mut text = String::new();
    for (driver, names) in dumps() {
        let known = names
            .iter()
            .filter(|name| way(Some(&driver), name).is_some());
        let known: Vec<&String> = known.collect();
        assert!(!known.is_empty(), "{driver}");
        for name in known {
            let cause = cause(Some(&driver), name).expect("every counter of losses is explained");
            writeln!(text, "{driver}: {name}\n    {}", cause.means).expect("a string");
        }
        let others: Vec<&str> = names
            .iter()
            .filter(|name| way(Some(&driver), name).is_none())
            .map(String::as_str)
            .collect();
        writeln!(
            text,
            "{driver}: no losses, or counted elsewhere: {}\n",
            others.join(", ")
        )
        .expect("a string");
    }
    insta::assert_snapshot!(text);
}
