//! Tests of `udpbench check`, and of its findings in a sweep.

use std::fs;
use std::os::unix::fs::symlink;

use crate::common::{Place, rows, stderr, stdout};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use udpbench::results::row::Row;

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

/// Returns the output of `check` and its exit code, without the part that a debug build adds to both.
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
                     --ip v4 --duration 6ms --warmup 0s --heat 0s -o out.csv";
    let output = place.run(arguments);
    let said = stderr(&output);
    let warning = "RPS hands packets of lo to CPUs 0,1";
    assert_eq!(said.matches(warning).count(), 1, "{said}");
    assert!(said.contains("fix: echo 0 | sudo tee"), "{said}");
    let rows = rows(&place.path("out.csv"));
    assert_eq!(rows.len(), 4, "{said}");
    for row in rows {
        assert!(
            row.warnings.iter().any(|it| it.to_string() == warning),
            "{row:?}"
        );
        assert_eq!(row.rps_cpus, "0+1");
        assert_eq!(row.temp_c_max, Some(45.0));
        assert_eq!(
            (row.freq_max_mhz, row.isolated_cpus.as_str()),
            (Some(1800.0), "")
        );
    }
}

/// A sensor of hwmon, or a thermal zone: its directory, its name, what it shows.
fn sensor<'a>(directory: &str, name: &'a str, shown: &'a str) -> Vec<(String, &'a str)> {
    let (name_in, value_in) = if directory.contains("hwmon") {
        ("name", "temp1_input")
    } else {
        ("type", "temp")
    };
    let file = |file: &str| format!("sys/class/{directory}/{file}");
    vec![(file(name_in), name), (file(value_in), shown)]
}

/// Changes to a fit Pi 4B, texts that `check` must print then, and texts that it must not print.
type Case<'a> = (Vec<(String, &'a str)>, &'a [&'a str], &'a [&'a str]);

fn judge(cases: &[Case]) {
    for (changes, said, unsaid) in cases {
        let place = Place::new();
        let files = changes.iter().map(|(path, text)| (path.as_str(), *text));
        board(&place, &files.collect::<Vec<_>>());
        let (text, _) = check(&place);
        for part in *said {
            assert!(text.contains(part), "{part:?} for {changes:?}:\n{text}");
        }
        for part in *unsaid {
            assert!(!text.contains(part), "{part:?} for {changes:?}:\n{text}");
        }
    }
}

#[test]
fn only_a_temperature_that_the_cpus_can_have_is_believed() {
    let zone0 = |shown| sensor("thermal/thermal_zone0", "cpu-thermal\n", shown);
    let two = |second| [zone0("48686\n"), second].concat();
    judge(&[
        (
            two(sensor(
                "thermal/thermal_zone1",
                "bogus-thermal\n",
                "2147483647\n",
            )),
            &[
                "hottest   48.7 C (cpu-thermal)\n",
                "note     ignored, as no chip is that hot or cold: bogus-thermal (2147483.6 C)\n",
            ],
            &["INVALID  the temperature"],
        ),
        (
            zone0("-650788984\n"),
            &[
                "ignored, as no chip is that hot or cold: cpu-thermal (-650789.0 C)\n",
                "reports no temperature of the CPUs",
            ],
            &["hottest"],
        ),
        (
            two(sensor("thermal/thermal_zone1", "iwlwifi_1\n", "84000\n")),
            &["hottest   48.7 C (cpu-thermal)\n"],
            &["iwlwifi", "the temperature is"],
        ),
        (
            [
                zone0("\n"),
                sensor("hwmon/hwmon0", "cpu_thermal\n", "84000\n"),
            ]
            .concat(),
            &[
                "hottest   84.0 C (cpu_thermal)\n",
                "INVALID  the temperature is 84 C",
            ],
            &["no temperature"],
        ),
    ]);
}

#[test]
fn cpus_and_clocks_that_are_not_to_be_had_are_said() {
    let cpu = |file: &str| format!("sys/devices/system/cpu/{file}");
    let status = "proc/self/status".to_owned();
    judge(&[
        (
            vec![
                (cpu("online"), "0\n"),
                (cpu("present"), "0-3\n"),
                (status.clone(), "Cpus_allowed_list:\t0-3\n"),
            ],
            &[
                "note     CPUs 1-3 are offline\n",
                "fix    for n in 1 2 3; do echo 1 | sudo tee",
                "no maxcpus=",
            ],
            &["affinity", "cpuset"],
        ),
        (
            vec![(cpu("cpufreq/policy0/scaling_cur_freq"), "600000\n")],
            &["INVALID  CPUs 0-3 run at 600 MHz of 1800, and the governor is performance\n"],
            &["the cpufreq governor is"],
        ),
        (
            vec![
                (status.clone(), "Cpus_allowed_list:\t0-1\n"),
                (cpu("isolated"), "2-3\n"),
            ],
            &["note     CPUs 2-3 are isolated", "name them with --pin"],
            &["affinity", "cpuset"],
        ),
        (
            vec![(status.clone(), "Cpus_allowed_list:\t0\n")],
            &["note     the affinity mask of this process has CPUs 0, and not 1-3\n"],
            &["cpuset leaves"],
        ),
        (
            vec![
                (status, "Cpus_allowed_list:\t0-1\n"),
                ("proc/self/cgroup".to_owned(), "0::/box\n"),
                (
                    "sys/fs/cgroup/box/cpuset.cpus.effective".to_owned(),
                    "0-1\n",
                ),
            ],
            &["note     a cpuset leaves this process CPUs 0-1 of 4\n"],
            &["affinity"],
        ),
    ]);
}

#[test]
fn pin_takes_every_cpu_that_no_cpuset_forbids() {
    let place = Place::new();
    let online = "sys/devices/system/cpu/online";
    let present = "sys/devices/system/cpu/present";
    let group = "sys/fs/cgroup/box/cpuset.cpus.effective";
    let changes = [
        ("proc/self/status", "Cpus_allowed_list:\t0\n"),
        ("proc/self/cgroup", "0::/box\n"),
        (group, "0,2\n"),
        (online, "0-2\n"),
        (present, "0-3\n"),
    ];
    board(&place, &changes);
    let plan = |pin: &str| {
        let what = "--engine std --threads 2 --payload 300 --connection connected --ip v4";
        place.run(&format!("plan --details --root root {what} --pin {pin}"))
    };
    let planned = plan("2:0");
    assert!(stdout(&planned).contains("CPUs 2>0"), "{planned:?}");
    for (pin, problem) in [
        (
            "1:0",
            "CPU 1 is not there, or a cpuset forbids it; usable: 0,2",
        ),
        ("0:3", "CPU 3 is offline; usable: 0,2"),
        (
            "0:9",
            "CPU 9 is not there, or a cpuset forbids it; usable: 0,2",
        ),
    ] {
        let refused = plan(pin);
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        assert!(stderr(&refused).contains(problem), "{refused:?}");
    }
}

#[test]
fn threads_are_pinned_to_cpus_outside_of_the_inherited_mask() {
    let own = sched_getaffinity(Pid::from_raw(0)).expect("may be asked");
    let cpus: Vec<usize> = (0..CpuSet::count())
        .filter(|cpu| own.is_set(*cpu) == Ok(true))
        .collect();
    let [first, .., last] = cpus[..] else {
        eprintln!("SKIPPED: this needs two CPUs");
        return;
    };
    // As `taskset` does; only this thread, and what it starts.
    let mut only = CpuSet::new();
    only.set(first).expect("in range");
    sched_setaffinity(Pid::from_raw(0), &only).expect("it is in the mask");
    let place = Place::new();
    let output = place.run(&format!(
        "--full --engine std --no-reference --threads 2 --payload 100 --connection connected --ip v4 --rounds 5 \
         --duration 6ms --warmup 0s --heat 0s -q --pin {last}:{first} -o out.csv"
    ));
    assert!(output.status.success(), "{output:?}");
    let rows = rows(&place.path("out.csv"));
    let placed: Vec<String> = rows.iter().map(Row::cpus).collect();
    assert_eq!(placed, [format!("{last}>{first}")]);
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
        text.contains("note     lo is no device of its own (loopback)"),
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
