//! Tests that a healthy board has no findings, and that each problem has exactly one.

use super::*;
use crate::board;
use crate::facts::{Conntrack, Cpu, CpufreqPolicy, Nic};
use crate::sys::processes::BusyProcess;
use crate::sys::sensors::SensorReadings;
use crate::sys::temperature::{Reading, Temperatures};

fn policy() -> CpufreqPolicy {
    CpufreqPolicy {
        name: "policy0".to_owned(),
        cpus: "0-3".to_owned(),
        driver: Some("cpufreq-dt".to_owned()),
        governor: Some("performance".to_owned()),
        min_khz: Some(600_000),
        max_khz: Some(1_800_000),
        current_khz: Some(1_800_000),
        hardware_max_khz: Some(1_800_000),
        directory: "sys/devices/system/cpu/cpufreq/policy0".to_owned(),
    }
}

/// Returns four policies with these governors.
fn policies(governors: [&str; 4]) -> Vec<CpufreqPolicy> {
    let policy = |governor: &str| CpufreqPolicy {
        governor: Some(governor.to_owned()),
        ..policy()
    };
    governors.map(policy).to_vec()
}

fn impossible(name: &str) -> (String, String) {
    (name.to_owned(), "2147483.6 C".to_owned())
}

/// Returns a Pi 4B that is fit to measure on.
fn healthy() -> Host {
    let cpu = |id| Cpu {
        id,
        capacity: 1024,
        part: 0xd08,
        max_khz: 1_800_000,
        core: id,
        cache: 0,
    };
    Host {
        compatible: vec![
            "raspberrypi,4-model-b".to_owned(),
            "brcm,bcm2711".to_owned(),
        ],
        model: Some("Raspberry Pi 4 Model B Rev 1.4".to_owned()),
        cpus: (0..4).map(cpu).collect(),
        pinnable_cpus: (0..4).collect(),
        online_cpus: Some(4),
        isolated_cpus: Some(String::new()),
        machine: Some(std::env::consts::ARCH.to_owned()),
        irq_time_accounting: Some(false),
        governor: Some("performance".to_owned()),
        cpufreq: vec![policy()],
        load_1min: Some(0.1),
        rmem_max: Some(4 << 20),
        lo_rps_cpus: Some(Vec::new()),
        nics: vec![Nic {
            name: "eth0".to_owned(),
            irqs: vec![31],
            irq_cpus: vec![0],
            rps_cpus: Vec::new(),
        }],
        ..Host::default()
    }
}

fn hottest(millic: i32) -> Temperatures {
    let sensor = "cpu-thermal".to_owned();
    Temperatures {
        hottest: Some(Reading { sensor, millic }),
        ignored: Vec::new(),
    }
}

pub(super) struct Seen {
    pub(super) host: Host,
    board: Board,
    rcvbuf_bytes: u32,
    temperatures: Temperatures,
    sensors: SensorReadings,
    busy: Vec<BusyProcess>,
    pub(super) interfaces: Vec<Interface>,
}

/// Returns the findings after `change`, without the finding about debug builds.
pub(super) fn found(change: impl FnOnce(&mut Seen)) -> Vec<Finding> {
    let mut seen = Seen {
        host: healthy(),
        board: board::find("a test", "rpi-4b", "").expect("compiled in"),
        rcvbuf_bytes: 4 << 20,
        temperatures: hottest(48_000),
        sensors: SensorReadings {
            throttle_bits: Some(0),
            under_voltage: Some(false),
            cooling: Some(false),
            ..SensorReadings::default()
        },
        busy: Vec::new(),
        interfaces: Vec::new(),
    };
    change(&mut seen);
    let subject = Subject {
        host: &seen.host,
        board: &seen.board,
        rcvbuf_bytes: seen.rcvbuf_bytes,
        temperatures: seen.temperatures,
        sensors: seen.sensors,
        busy: seen.busy,
        interfaces: seen.interfaces,
    };
    let mut findings = subject.findings();
    let is_debug = |it: &Problem| it.unfit == Unfit::DebugBuild;
    findings.retain(|finding| !finding.problem().is_some_and(is_debug));
    findings
}

pub(super) fn texts(findings: &[Finding]) -> Vec<String> {
    let text = |finding: &Finding| {
        let Finding { seen, why, fix } = finding;
        let gravity = match seen {
            super::Seen::Problem(_) => "Invalid",
            super::Seen::Note(_) => "Note",
        };
        let is_filled = |text: &str| !text.contains(['{', '}']);
        assert!(is_filled(&format!("{seen}{why}{fix}")), "{finding:?}");
        format!(
            "{gravity}: {seen}\n   {why}\n   {}",
            fix.replace('\n', "\n   ")
        )
    };
    findings.iter().map(text).collect()
}

#[test]
fn a_healthy_board_has_no_findings() {
    assert_eq!(found(|_| {}), []);
}

type Change = fn(&mut Seen);

/// Changes that each cause one kind of problem, by name.
const TROUBLES: &[(&str, Change)] = &[
    ("varying governors", |seen| {
        seen.host.cpufreq = policies(["ondemand", "performance", "schedutil", "ondemand"]);
    }),
    ("governor of an old kernel", |seen| {
        seen.host.cpufreq = policies(["ondemand"; 4]);
        seen.host.cpufreq[0].directory = "sys/devices/system/cpu/cpu10/cpufreq".to_owned();
    }),
    ("governor powersave", |seen| {
        seen.host.cpufreq[0].governor = Some("powersave".to_owned());
    }),
    ("lowest clock despite performance", |seen| {
        seen.host.cpufreq[0].current_khz = Some(600_000);
    }),
    ("userspace below the highest clock", |seen| {
        seen.host.cpufreq[0].governor = Some("userspace".to_owned());
        seen.host.cpufreq[0].current_khz = Some(1_500_000);
    }),
    ("limit below the highest clock", |seen| {
        seen.host.cpufreq[0].max_khz = Some(1_500_000);
        seen.host.cpufreq[0].current_khz = Some(1_500_000);
    }),
    ("throttled and under voltage now", |seen| {
        seen.sensors.throttle_bits = Some(0x5_0005);
    }),
    ("soft temperature limit since boot", |seen| {
        seen.sensors.throttle_bits = Some(0x8_0000);
    }),
    ("under voltage, by the kernel alone", |seen| {
        (seen.sensors.throttle_bits, seen.sensors.under_voltage) = (None, Some(true));
    }),
    ("under voltage, by firmware and kernel", |seen| {
        (seen.sensors.throttle_bits, seen.sensors.under_voltage) = (Some(0x1_0001), Some(true));
    }),
    ("cooling slows the CPUs", |seen| {
        seen.sensors.cooling = Some(true);
    }),
    ("hot", |seen| seen.temperatures = hottest(80_000)),
    ("warm", |seen| seen.temperatures = hottest(60_500)),
    ("no sensor", |seen| {
        seen.temperatures = Temperatures::default();
    }),
    ("no sensor and no cpufreq", |seen| {
        (seen.host.cpufreq, seen.temperatures) = (Vec::new(), Temperatures::default());
    }),
    ("an impossible temperature", |seen| {
        seen.temperatures.ignored = vec![impossible("bogus-thermal")];
    }),
    ("several impossible temperatures", |seen| {
        seen.temperatures.ignored = ["a", "b", "c"].map(impossible).to_vec();
    }),
    ("an emulated board", |seen| {
        seen.host.virtualization = Some("qemu".to_owned());
    }),
    ("a virtual machine", |seen| {
        (seen.host.virtualization, seen.host.compatible) = (Some("kvm".to_owned()), Vec::new());
    }),
    ("another architecture", |seen| {
        seen.host.machine = Some("riscv64".to_owned());
    }),
    ("a quota of CPU time", |seen| {
        seen.host.cpu_quota = Some(1.5);
    }),
    ("busy programs", |seen| {
        seen.busy = [
            (0.95, "cargo"),
            (0.5, "rustc"),
            (0.05, "sshd"),
            (0.05, "cat"),
        ]
        .map(|(cpus, name)| BusyProcess {
            pid: 4_194_304,
            name: name.to_owned(),
            cpus,
        })
        .to_vec();
    }),
    ("a cpuset", |seen| seen.host.online_cpus = Some(8)),
    ("several CPUs offline", |seen| {
        seen.host.offline_cpus = vec![1, 2, 3];
    }),
    ("a CPU offline", |seen| seen.host.offline_cpus = vec![3]),
    ("a limit of buffers that is hidden", |seen| {
        (seen.host.rmem_max, seen.host.rmem_max_is_of_host) = (None, true);
    }),
    ("a /sys of another network namespace", |seen| {
        seen.host.sys_is_foreign = true;
    }),
    ("a list of CPUs by lxcfs", |seen| {
        seen.host.online_cpus = None;
        seen.host.online_contradiction = Some("another file is mounted over it".to_owned());
    }),
    ("an affinity mask", |seen| seen.host.cpus.truncate(1)),
    ("isolated CPUs", |seen| {
        seen.host.isolated_cpus = Some("2-3".to_owned());
    }),
    ("isolated CPUs out of reach", |seen| {
        seen.host.isolated_cpus = Some("2-3".to_owned());
        seen.host.cpus.truncate(2);
    }),
    ("isolated CPUs that do not exist", |seen| {
        seen.host.isolated_cpus = Some("5".to_owned());
    }),
    ("a hidden device tree", |seen| {
        seen.host.hides_device_tree = true;
    }),
    ("a hidden device tree and no model", |seen| {
        (seen.host.hides_device_tree, seen.host.model) = (true, None);
    }),
    ("an unknown board", |seen| {
        seen.board = board::find("a test", "generic", "").expect("compiled in");
    }),
    ("other CPU numbers than the profile's", |seen| {
        (seen.host.cpus[3].id, seen.host.pinnable_cpus[3]) = (7, 7);
    }),
    ("interrupts in the CPU time of threads", |seen| {
        seen.host.irq_time_accounting = Some(true);
    }),
    ("a low limit of receive buffers", |seen| {
        seen.host.rmem_max = Some(212_992);
    }),
    ("a low limit of receive buffers in a container", |seen| {
        (seen.host.rmem_max, seen.host.rmem_max_is_of_host) = (Some(212_992), true);
    }),
    ("RPS on loopback", |seen| {
        seen.host.lo_rps_cpus = Some(vec![0, 1]);
    }),
    ("conntrack on loopback", |seen| {
        seen.host.conntrack = Some(Conntrack {
            entries: 12,
            follows_loopback: Some(true),
        });
    }),
    ("CPUs without tick", |seen| {
        seen.host.nohz_full_cpus = Some("2-3".to_owned());
    }),
    ("interrupts on a bench thread's CPU", |seen| {
        seen.host.nics[0].irq_cpus = vec![2];
    }),
    ("no IPv4 loopback", |seen| {
        seen.host.v4_refusal = Some("127.0.0.1 cannot be used here: x".to_owned());
    }),
    ("no IPv6 loopback", |seen| {
        seen.host.v6_refusal = Some("::1 cannot be used here: x".to_owned());
    }),
];

#[test]
fn every_trouble_is_found_alone_with_its_reason_and_its_fix() {
    let mut all = Vec::new();
    for &(trouble, change) in TROUBLES {
        let findings = found(change);
        assert_eq!(findings.len(), 1, "{trouble}: {findings:#?}");
        all.extend(texts(&findings));
    }
    let all = all.join("\n").replace(crate::TARGET, "TARGET");
    insta::assert_snapshot!(all);
}

#[test]
fn every_line_of_a_finding_fits_a_terminal() {
    for &(trouble, change) in TROUBLES {
        for finding in found(change) {
            let seen = finding.seen.to_string();
            let lines = [&seen, &finding.why, &finding.fix];
            for line in lines.into_iter().flat_map(|text| text.lines()) {
                let columns = line.len() + 8;
                assert!(columns <= 100, "{trouble}, {columns} columns: {line}");
            }
        }
    }
}

#[test]
fn the_graver_findings_come_first() {
    let findings = found(|seen| {
        seen.host.irq_time_accounting = Some(true);
        seen.host.cpufreq[0].governor = Some("powersave".to_owned());
    });
    let are_grave = findings.iter().map(|finding| finding.problem().is_some());
    assert_eq!(are_grave.collect::<Vec<_>>(), [true, false]);
}

#[test]
fn a_clock_is_judged_by_what_it_is_and_not_by_the_name_of_its_governor() {
    const LOW: u64 = 600_000;
    const TOP: u64 = 1_800_000;
    let found_with = |governor: &str, khz: [u64; 3], driver: &str| {
        let [min, max, now] = khz;
        let findings = found(|seen| {
            seen.host.cpufreq = vec![CpufreqPolicy {
                governor: Some(governor.to_owned()),
                driver: Some(driver.to_owned()),
                min_khz: Some(min),
                max_khz: Some(max),
                current_khz: Some(now),
                hardware_max_khz: Some(max),
                ..policy()
            }];
        });
        let texts = findings.into_iter().map(|it| it.seen.to_string());
        texts.collect::<Vec<_>>()
    };
    let silent = [
        // Nobody can choose another clock.
        ("ondemand", [TOP, TOP, TOP], "cpufreq-dt"),
        ("powersave", [TOP, TOP, TOP], "cpufreq-dt"),
        ("userspace", [LOW, TOP, TOP], "cpufreq-dt"),
        ("performance", [LOW, TOP, TOP], "cpufreq-dt"),
        // Drivers round.
        ("performance", [LOW, TOP, TOP - 1000], "BCM2835 CPUFreq"),
        // A boost is above the highest clock.
        ("performance", [LOW, TOP, TOP + LOW], "acpi-cpufreq"),
        // The measured clock of an idle CPU.
        ("performance", [LOW, TOP, LOW], "intel_pstate"),
        ("performance", [LOW, TOP, LOW], "amd-pstate-epp"),
        ("performance", [LOW, TOP, LOW], "cppc_cpufreq"),
    ];
    for (governor, khz, driver) in silent {
        assert_eq!(
            found_with(governor, khz, driver),
            [""; 0],
            "{governor} {khz:?} {driver}"
        );
    }
    let held = "CPUs 0-3 run at 600 MHz of 1800, and the governor is ";
    for governor in ["performance", "userspace"] {
        let said = found_with(governor, [LOW, TOP, LOW], "cpufreq-dt");
        assert_eq!(said, [format!("{held}{governor}")]);
    }
    for governor in ["ondemand", "powersave", "schedutil", "conservative"] {
        for now in [LOW, TOP] {
            let said = found_with(governor, [LOW, TOP, now], "cpufreq-dt");
            assert_eq!(said, [format!("the cpufreq governor is {governor}")]);
        }
    }
}

#[test]
fn other_programs_use_no_more_cpus_than_there_are() {
    let busy = BusyProcess {
        pid: 7,
        name: "sh".to_owned(),
        cpus: 1.2,
    };
    let found = machine::other_programs(&[busy], 1).expect("it is busy");
    let said = "other programs use 1.0 of 1 CPUs now: sh (pid 7) 1.20";
    assert_eq!(found.seen.to_string(), said);
}
