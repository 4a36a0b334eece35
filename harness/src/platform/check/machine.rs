//! What the program runs on, and how much of it.

use super::{Finding, Subject};
use crate::VERSION;

pub(super) fn findings(subject: &Subject) -> Vec<Finding> {
    [
        debug_build(),
        emulated(subject),
        foreign_binary(subject),
        quota(subject),
        busy(subject),
        fewer_cpus(subject),
        isolated(subject),
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
            format!("this is a debug build ({VERSION})"),
            "unoptimised loops cost several times as much as in a release",
            "cargo build --release, or cross build --release",
        )
    })
}

/// A virtual machine is a machine, too; but no board is emulated at its own speed.
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
            format!("this board is emulated or virtualised ({by})"),
            "the numbers are those of the emulation: they show the format, not a speed",
            "run the same binary on the board itself",
        )
    })
}

/// The architecture that the binary is for, against the kernel's.
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
            format!("a binary for {target} on a kernel for {machine}"),
            "every instruction is translated: these are not the numbers of any board",
            "run it on the board, or build for this machine",
        )),
    }
}

fn quota(subject: &Subject) -> Option<Finding> {
    let (quota, cpus) = (subject.host.cpu_quota?, subject.host.cpus.len());
    (quota < cpus as f64).then(|| {
        Finding::invalid(
            format!("this control group grants {quota:.2} CPUs of {cpus} (cpu.max)"),
            "once the quota of a period is used up, every thread stops until the next period",
            "run it outside of the container or slice, or lift its CPU limit",
        )
    })
}

/// Fewer CPUs than this in use by others are what a machine needs for itself.
const OTHERS_CPUS: f64 = 0.2;
const MOST_NAMED: usize = 2;

/// Not the load average, which counts this program's own past, too.
fn busy(subject: &Subject) -> Option<Finding> {
    let cpus: f64 = subject.busy.iter().map(|process| process.cpus).sum();
    let named = subject.busy.iter().take(MOST_NAMED);
    let named = named.map(|one| format!("{} (pid {}) {:.2}", one.name, one.pid, one.cpus));
    (cpus >= OTHERS_CPUS).then(|| {
        Finding::invalid(
            format!(
                "other programs use {cpus:.1} of {} CPUs now: {}",
                subject.host.cpus.len(),
                named.collect::<Vec<String>>().join(", ")
            ),
            "they take CPU time and cache from the benchmark threads",
            "stop them, or wait until they end",
        )
    })
}

fn fewer_cpus(subject: &Subject) -> Option<Finding> {
    let (usable, online) = (subject.host.cpus.len(), subject.host.online_cpus?);
    (usable < online).then(|| {
        Finding::note(
            format!(
                "this process may use CPUs {} of {online}",
                subject.host.cpu_list()
            ),
            "an affinity mask or a cpuset excludes the others: placements use the rest",
            "run it without taskset, or in a cpuset that has all CPUs",
        )
    })
}

fn isolated(subject: &Subject) -> Option<Finding> {
    let isolated = subject.host.isolated_cpus.as_deref();
    let isolated = isolated.filter(|cpus| !cpus.is_empty())?;
    Some(Finding::note(
        format!("CPUs {isolated} are isolated from the scheduler"),
        "only pinned threads run there; benchmark threads on them are disturbed less",
        "to measure there, name them with --pin",
    ))
}

/// The host has other CPUs than the profile of its board.
fn contradiction(subject: &Subject) -> Option<Finding> {
    let contradiction = subject.board.contradiction(subject.host)?;
    Some(Finding::invalid(
        contradiction,
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
