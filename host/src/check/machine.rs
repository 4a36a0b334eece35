//! Checks the build, the machine, and the CPUs that are available.

use super::{Finding, Subject, Unfit};
use crate::sys::busy::Busy;
use crate::sys::files::parse_cpu_list;
use crate::text::cpu_list::{join, ranges};

pub(super) fn findings(subject: &Subject) -> Vec<Finding> {
    [
        debug_build(),
        emulated(subject),
        foreign_binary(subject),
        quota(subject),
        other_programs(&subject.busy, subject.host.cpus.len()),
        contradicted(subject),
        offline(subject),
        forbidden(subject),
        masked(subject),
        isolated(subject),
        without_tick(subject),
        hidden(subject),
        unknown_board(subject),
        contradiction(subject),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn debug_build() -> Option<Finding> {
    cfg!(debug_assertions).then(|| {
        Finding::invalid(
            Unfit::DebugBuild,
            "unoptimised loops cost several times as much as in a release",
            "cargo build --release, or cross build --release",
        )
    })
}

/// Finds emulators and hypervisors. A virtual machine is worth a note only, but no emulated board runs at its own
/// speed.
fn emulated(subject: &Subject) -> Option<Finding> {
    let by = subject.host.virtualization.as_deref()?;
    Some(if subject.host.compatible.is_empty() {
        Finding::note(
            format!("this is a virtual machine ({by})"),
            "other guests of the host take CPU time, and nothing in here shows it",
            "compare only within one sweep, or measure on the machine itself",
        )
    } else {
        Finding::invalid(
            Unfit::Emulated { by: by.to_owned() },
            "the numbers are those of the emulation: they show the format, not a speed",
            "run the same binary on the board itself",
        )
    })
}

/// Compares the architecture of the binary with the kernel's.
fn foreign_binary(subject: &Subject) -> Option<Finding> {
    let machine = subject.host.machine.as_deref()?;
    let target = crate::TARGET;
    match (std::env::consts::ARCH, machine) {
        ("arm", machine) if machine.starts_with("arm") => None,
        ("arm", "aarch64") | ("x86", "x86_64") => Some(Finding::note(
            format!("a 32-bit binary ({target}) on a 64-bit kernel ({machine})"),
            "its system calls take the kernel's compatibility path, whose cost differs from 64-bit programs",
            "if the system runs 64-bit programs, build for aarch64-unknown-linux-gnu (or -musl)",
        )),
        ("x86", machine) if machine.starts_with('i') => None,
        (arch, machine) if arch == machine => None,
        _ => Some(Finding::invalid(
            Unfit::ForeignBinary {
                target: target.to_owned(),
                machine: machine.to_owned(),
            },
            "every instruction is translated: these are not the numbers of any board",
            "run it on the board, or build for this machine",
        )),
    }
}

fn quota(subject: &Subject) -> Option<Finding> {
    let (granted, cpus) = (subject.host.cpu_quota?, subject.host.cpus.len());
    (granted < cpus as f64).then(|| {
        Finding::invalid(
            Unfit::CpuQuota { granted, cpus },
            "once the quota of a period is used up, every thread stops until the next period",
            "run it outside of the container or slice, or lift its CPU limit",
        )
    })
}

/// CPUs in use by others from which on there is a finding. A machine needs less than this for itself.
const OTHERS_CPUS: f64 = 0.2;
const MOST_NAMED: usize = 2;

/// Finds other programs that use CPU time now, of `cpus` CPUs. The load average is no evidence: it includes the past of
/// this program.
pub(super) fn other_programs(busy: &[Busy], cpus: usize) -> Option<Finding> {
    let used: f64 = busy.iter().map(|process| process.cpus).sum();
    // A thread may have used another CPU before.
    let used = used.min(cpus as f64);
    let named = busy.iter().take(MOST_NAMED);
    let named = named.map(|one| format!("{} (pid {}) {:.2}", one.name, one.pid, one.cpus));
    (used >= OTHERS_CPUS).then(|| {
        let busiest = named.collect::<Vec<String>>().join(", ");
        Finding::invalid(
            Unfit::OtherPrograms {
                used,
                cpus,
                busiest,
            },
            "they take CPU time and cache from the bench threads",
            "stop them, or wait until they end",
        )
    })
}

/// Finds CPUs that are offline, such as by `maxcpus=1` (raspberrypi) or a power mode (jetbot #153).
fn offline(subject: &Subject) -> Option<Finding> {
    let offline = &subject.host.offline_cpus;
    let (plural, are) = if offline.len() == 1 {
        ("", "is")
    } else {
        ("s", "are")
    };
    (!offline.is_empty()).then(|| {
        Finding::note(
            format!("CPU{plural} {} {are} offline", ranges(offline)),
            "the rest does the work of all, and the numbers are not those of the whole board",
            format!(
                "for n in {}; do echo 1 | sudo tee /sys/devices/system/cpu/cpu$n/online; done\n\
                 for good: no maxcpus= on the kernel's command line; on a Jetson: sudo nvpmodel -m 0",
                join(offline, " ")
            ),
        )
    })
}

/// Finds a list of online CPUs that is not the kernel's, as lxcfs makes one for containers (lxcfs #401, #731).
fn contradicted(subject: &Subject) -> Option<Finding> {
    let contradiction = subject.host.online_contradiction.as_deref()?;
    Some(Finding::note(
        format!("/sys/devices/system/cpu/online is not the kernel's own ({contradiction})"),
        "the affinity mask counts instead; which CPUs are online or offline is unknown here",
        "none needed; lxcfs does this in containers: for all facts, check on the host",
    ))
}

/// Finds CPUs that a cpuset forbids.
fn forbidden(subject: &Subject) -> Option<Finding> {
    let (pinnable, online) = (&subject.host.pinnable_cpus, subject.host.online_cpus?);
    (!pinnable.is_empty() && pinnable.len() < online).then(|| {
        Finding::note(
            format!(
                "a cpuset leaves this process CPUs {} of {online}",
                ranges(pinnable)
            ),
            "the kernel refuses the others to every thread: placements use the rest",
            "run it in a container or slice that has all CPUs (cpuset.cpus, AllowedCPUs=)",
        )
    })
}

/// Finds usable CPUs that are not in the affinity mask.
fn masked(subject: &Subject) -> Option<Finding> {
    let host = subject.host;
    let mut others = host.pinnable_cpus.clone();
    others.retain(|&cpu| !host.has_cpu(cpu));
    // Isolated CPUs have a finding of their own: the kernel leaves them out of every mask.
    let isolated = host.isolated_cpus.as_deref().unwrap_or_default();
    let isolated = parse_cpu_list(isolated).unwrap_or_default();
    others.retain(|cpu| !isolated.contains(cpu));
    (!others.is_empty()).then(|| {
        Finding::note(
            format!(
                "the affinity mask of this process has CPUs {}, and not {}",
                host.cpu_list(),
                ranges(&others)
            ),
            "placements use those in the mask; --pin may name the others, too",
            "run it without taskset, numactl or CPUAffinity=; or name CPUs with --pin",
        )
    })
}

fn isolated(subject: &Subject) -> Option<Finding> {
    let isolated = subject.host.isolated_cpus.as_deref();
    let isolated = isolated.filter(|cpus| !cpus.is_empty())?;
    let mut pinnable = parse_cpu_list(isolated).unwrap_or_default();
    pinnable.retain(|cpu| subject.host.pinnable_cpus.contains(cpu));
    let such_as = match pinnable[..] {
        [] => ", in a cpuset that has them".to_owned(),
        [only] => format!(", such as --pin {only}"),
        [first, second, ..] => format!(", such as --pin {second}:{first}"),
    };
    Some(Finding::note(
        format!("CPUs {isolated} are isolated from the scheduler"),
        "only pinned threads run there; bench threads on them are disturbed less",
        format!("to measure there, name them with --pin{such_as}"),
    ))
}

/// Finds CPUs without the scheduler's tick that are not isolated: other threads may then share them.
fn without_tick(subject: &Subject) -> Option<Finding> {
    let host = subject.host;
    let list = |cpus: &Option<String>| {
        parse_cpu_list(cpus.as_deref().unwrap_or_default()).unwrap_or_default()
    };
    let (mut shared, isolated) = (list(&host.nohz_full_cpus), list(&host.isolated_cpus));
    shared.retain(|cpu| !isolated.contains(cpu));
    (!shared.is_empty()).then(|| {
        Finding::note(
            format!("CPUs {} are nohz_full, but not isolated", ranges(&shared)),
            "a second thread on such a CPU brings its tick back",
            "isolate them as well (isolcpus=), or leave them to others with --pin",
        )
    })
}

/// Finds a hidden device tree: Docker masks /sys/firmware, where /proc/device-tree leads (moby #43419).
fn hidden(subject: &Subject) -> Option<Finding> {
    subject.host.hides_device_tree.then(|| {
        let why = match subject.host.model {
            Some(_) => "the model in /proc/cpuinfo tells which board it is; nothing else says so",
            None => "nothing tells which board this is, and the profile is generic",
        };
        Finding::note(
            "the device tree is hidden from this process, as in a container",
            why,
            "docker run --security-opt systempaths=unconfined\n\
             podman run --security-opt unmask=/sys/firmware\n\
             or name the profile: --board NAME (udpbench boards lists them)",
        )
    })
}

/// Finds CPUs that contradict the profile of the board.
fn contradiction(subject: &Subject) -> Option<Finding> {
    let contradiction = subject.board.contradiction(subject.host)?;
    Some(Finding::invalid(
        Unfit::OtherCpus { contradiction },
        "the placements of the profile do not fit these CPUs: computed ones are used",
        "udpbench boards --new > my-board.toml, then --board ./my-board.toml; or --pin",
    ))
}

fn unknown_board(subject: &Subject) -> Option<Finding> {
    let unknown = subject.board.name == "generic" && !subject.host.compatible.is_empty();
    unknown.then(|| {
        let model = subject.host.model.as_deref().unwrap_or("this board");
        Finding::note(
            format!("no profile for {model}"),
            "CPU placement is computed from what the kernel shows; warm-up and cool-down are generic",
            "udpbench boards --new > my-board.toml, then --board ./my-board.toml",
        )
    })
}
