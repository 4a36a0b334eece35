//! `udpbench check`, and how the sweep passes on what it finds.

mod common;

use std::fs;
use std::os::unix::fs::symlink;

use common::{Place, rows, stderr, stdout};

/// A Raspberry Pi 4B that is fit, with `changes` to its files.
fn board(place: &Place, changes: &[(&str, &str)]) {
    let cpu = |id: usize, file: &str| format!("sys/devices/system/cpu/cpu{id}/{file}");
    let policy = |file: &str| format!("sys/devices/system/cpu/cpufreq/policy0/{file}");
    let mut files = vec![
        (
            "proc/device-tree/compatible".to_owned(),
            "raspberrypi,4-model-b\0brcm,bcm2711\0",
        ),
        (
            "proc/self/status".to_owned(),
            "Name:\tx\nCpus_allowed_list:\t0-3\n",
        ),
        ("sys/devices/system/cpu/online".to_owned(), "0-3\n"),
        ("proc/loadavg".to_owned(), "0.05 0.10 0.10 1/100 1234\n"),
        ("proc/sys/net/core/rmem_max".to_owned(), "4194304\n"),
        ("sys/class/thermal/thermal_zone0/temp".to_owned(), "45000\n"),
        (policy("related_cpus"), "0-3\n"),
        (policy("scaling_governor"), "performance\n"),
        (policy("scaling_max_freq"), "1800000\n"),
        (policy("cpuinfo_max_freq"), "1800000\n"),
    ];
    files.extend((0..4).map(|id| (cpu(id, "cpu_capacity"), "1024\n")));
    files.extend(changes.iter().map(|&(path, text)| (path.to_owned(), text)));
    for (path, text) in files {
        let path = place.path("root").join(path);
        fs::create_dir_all(path.parent().expect("it has one")).expect("writable");
        fs::write(path, text).expect("writable");
    }
}

/// What `check` prints, and its exit code without what a debug build adds to both.
fn check(place: &Place) -> (String, i32) {
    check_with(place, "")
}

fn check_with(place: &Place, options: &str) -> (String, i32) {
    let output = place.run(&format!("check --root root {options}"));
    let text = stdout(&output);
    let invalid = text
        .lines()
        .filter(|line| line.starts_with("INVALID") && !line.contains("debug build"))
        .count();
    let code = output.status.code().expect("it ends by itself");
    let debug = i32::from(cfg!(debug_assertions));
    assert_eq!(code, debug.max(i32::from(invalid > 0)), "{text}");
    (text, i32::from(invalid > 0))
}

#[test]
fn a_fit_board_passes() {
    let place = Place::new();
    board(&place, &[]);
    let (text, code) = check(&place);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("on Raspberry Pi 4 Model B"), "{text}");
    assert!(text.contains("hottest   45.0 C"), "{text}");
}

#[test]
fn each_finding_says_what_why_and_how_to_fix_it() {
    let place = Place::new();
    let governor = "sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
    let throttled = "sys/devices/platform/soc/soc:firmware/get_throttled";
    board(&place, &[(governor, "ondemand\n"), (throttled, "50005\n")]);
    let (text, code) = check(&place);
    assert_eq!(code, 1, "{text}");
    let fix = "  fix    echo performance | sudo tee /sys/devices/system/cpu/cpufreq/policy*/scaling_governor";
    assert!(
        text.contains("INVALID  the cpufreq governor is ondemand\n  why    "),
        "{text}"
    );
    assert!(text.contains(fix), "{text}");
    assert!(
        text.contains("the firmware reports under-voltage, throttled"),
        "{text}"
    );
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn the_sweep_warns_once_and_marks_its_rows() {
    let place = Place::new();
    board(&place, &[("sys/class/net/lo/queues/rx-0/rps_cpus", "3\n")]);
    let arguments = "--full --root root --engine null --no-reference --threads 2 --payload 1,2 --pin none \
                     --ip v4 --duration 6ms --warmup 0s --soak 0s -o out.csv";
    let output = place.run(arguments);
    let said = stderr(&output);
    let warning = "RPS hands packets of lo to CPUs 0,1";
    assert_eq!(said.matches(warning).count(), 1, "{said}");
    assert!(said.contains("fix: echo 0 | sudo tee"), "{said}");
    let rows = rows(&place.path("out.csv"));
    assert_eq!(rows.len(), 4, "{said}");
    for row in rows {
        assert!(row.warnings.iter().any(|text| text == warning), "{row:?}");
        assert_eq!(row.rps_cpus, "0+1");
        assert_eq!(row.temp_c_max, Some(45.0));
        assert_eq!(
            (row.freq_max_mhz, row.isolated_cpus.as_str()),
            (Some(1800.0), "")
        );
    }
}

/// A file of eth0.
fn of_eth0(file: &str) -> String {
    format!("sys/class/net/eth0/{file}")
}

#[test]
fn an_interface_is_looked_at_when_it_is_named() {
    let place = Place::new();
    let queues = [0, 1].map(|queue| of_eth0(&format!("queues/tx-{queue}/xps_cpus")));
    let [rx, speed, duplex] = ["queues/rx-0/rps_cpus", "speed", "duplex"].map(of_eth0);
    let [mtu, changes] = ["mtu", "carrier_changes"].map(of_eth0);
    board(
        &place,
        &[
            (queues[0].as_str(), "0\n"),
            (queues[1].as_str(), "0\n"),
            (rx.as_str(), "0\n"),
            (speed.as_str(), "100\n"),
            (duplex.as_str(), "half\n"),
            (mtu.as_str(), "1500\n"),
            (changes.as_str(), "2\n"),
        ],
    );
    let device = place.path("root").join(of_eth0("device"));
    symlink("../../../devices/platform/fd580000.ethernet", device).expect("writable");

    let (text, code) = check(&place);
    assert_eq!(code, 0, "{text}");
    let how = "  eth0      not looked at; for runs between two hosts: --interface eth0\n";
    assert!(text.contains(how), "{text}");

    let (text, code) = check_with(&place, "--interface eth0,eth0 --interface eth0");
    assert_eq!(code, 1, "{text}");
    let line = "  eth0      100 Mb/s half, MTU 1500, 1/2 queues\n";
    assert_eq!(text.matches(line).count(), 1, "{text}");
    let finding = "INVALID  eth0 has a half-duplex link\n  why    ";
    assert_eq!(text.matches(finding).count(), 1, "{text}");
    let fix = "  fix    echo a | sudo tee /sys/class/net/eth0/queues/tx-1/xps_cpus\n";
    assert!(text.contains(fix), "{text}");
    assert!(!text.contains("not looked at"), "{text}");
}

#[test]
fn an_interface_that_is_not_there_is_refused_with_those_that_are() {
    let place = Place::new();
    let [eth0, lo] = ["eth0", "lo"].map(|name| format!("sys/class/net/{name}/mtu"));
    board(
        &place,
        &[(eth0.as_str(), "1500\n"), (lo.as_str(), "65536\n")],
    );
    for (name, hint) in [
        ("eth1", "did you mean eth0? "),
        ("wlp2s0", ""),
        ("../net/eth0", ""),
    ] {
        let output = place.run(&format!("check --root root --interface {name}"));
        assert_eq!(output.status.code(), Some(2));
        let problem = format!("there is no such network interface: {hint}there are eth0, lo");
        let message = format!("error: --interface {name}: {problem}\n");
        assert_eq!(stderr(&output), message);
    }
}

#[test]
fn the_drivers_of_this_machine_are_asked() {
    let output = Place::new().run("check --interface lo");
    let text = stdout(&output);
    assert!(text.contains("\n  lo        loopback, MTU "), "{text}");
    assert!(
        text.contains("note     lo is the loopback interface"),
        "{text}"
    );
}

#[test]
fn an_unknown_board_is_refused_with_the_way_to_those_that_there_are() {
    let output = Place::new().run("check --board nope");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("udpbench boards lists"),
        "{}",
        stderr(&output)
    );
}
