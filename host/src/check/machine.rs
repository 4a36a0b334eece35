//! Checks the build, the machine, the kernel, and the CPUs that are available.

use std::fmt::Display;

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
        irq_time_accounting(subject),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn debug_build() -> Option<Finding> {
    cfg!(debug_assertions).then(|| Finding::unfit(Unfit::DebugBuild, &[]))
}

/// Finds emulators and hypervisors. A virtual machine is worth a note only, but no emulated board runs at its own
/// speed.
fn emulated(subject: &Subject) -> Option<Finding> {
    let by = subject.host.virtualization.clone()?;
    Some(if subject.host.compatible.is_empty() {
        Finding::noted("virtual-machine", &[("by", &by)])
    } else {
        Finding::unfit(Unfit::Emulated { by }, &[])
    })
}

/// Compares the architecture of the binary with the kernel's.
fn foreign_binary(subject: &Subject) -> Option<Finding> {
    let machine = subject.host.machine.clone()?;
    let target = crate::TARGET.to_owned();
    match (std::env::consts::ARCH, &*machine) {
        ("arm", machine) if machine.starts_with("arm") => None,
        ("arm", "aarch64") | ("x86", "x86_64") => {
            let values: &[(&str, &dyn Display)] = &[("target", &target), ("machine", &machine)];
            Some(Finding::noted("narrow-binary", values))
        }
        ("x86", machine) if machine.starts_with('i') => None,
        (arch, machine) if arch == machine => None,
        _ => Some(Finding::unfit(
            Unfit::ForeignBinary { target, machine },
            &[],
        )),
    }
}

fn quota(subject: &Subject) -> Option<Finding> {
    let (granted, cpus) = (subject.host.cpu_quota?, subject.host.cpus.len());
    let is_less = granted < cpus as f64;
    is_less.then(|| Finding::unfit(Unfit::CpuQuota { granted, cpus }, &[]))
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
    let seen = Unfit::OtherPrograms {
        used,
        cpus,
        busiest: named.collect::<Vec<String>>().join(", "),
    };
    (used >= OTHERS_CPUS).then(|| Finding::unfit(seen, &[]))
}

/// Finds CPUs that are offline, such as by `maxcpus=1` (raspberrypi) or a power mode (jetbot #153).
fn offline(subject: &Subject) -> Option<Finding> {
    let offline = &subject.host.offline_cpus;
    let cpus = match &offline[..] {
        [] => return None,
        [only] => format!("CPU {only} is"),
        several => format!("CPUs {} are", ranges(several)),
    };
    let each = join(offline, " ");
    Some(Finding::noted(
        "offline",
        &[("cpus", &cpus), ("each", &each)],
    ))
}

/// Finds a list of online CPUs that is not the kernel's, as lxcfs makes one for containers (lxcfs #401, #731).
fn contradicted(subject: &Subject) -> Option<Finding> {
    let contradiction = subject.host.online_contradiction.as_ref()?;
    Some(Finding::noted(
        "covered-cpu-list",
        &[("contradiction", contradiction)],
    ))
}

/// Finds CPUs that a cpuset forbids.
fn forbidden(subject: &Subject) -> Option<Finding> {
    let (pinnable, online) = (&subject.host.pinnable_cpus, subject.host.online_cpus?);
    let list = ranges(pinnable);
    (!pinnable.is_empty() && pinnable.len() < online)
        .then(|| Finding::noted("cpuset", &[("pinnable", &list), ("online", &online)]))
}

/// Finds usable CPUs that are not in the affinity mask.
fn masked(subject: &Subject) -> Option<Finding> {
    let host = subject.host;
    // Isolated CPUs have a finding of their own: the kernel leaves them out of every mask.
    let isolated = listed(host.isolated_cpus.as_ref());
    let mut others = host.pinnable_cpus.clone();
    others.retain(|cpu| !host.has_cpu(*cpu) && !isolated.contains(cpu));
    let (cpus, list) = (host.cpu_list(), ranges(&others));
    (!others.is_empty())
        .then(|| Finding::noted("affinity-mask", &[("cpus", &cpus), ("others", &list)]))
}

fn listed(cpus: Option<&String>) -> Vec<usize> {
    cpus.and_then(|list| parse_cpu_list(list).ok())
        .unwrap_or_default()
}

fn isolated(subject: &Subject) -> Option<Finding> {
    let isolated = subject.host.isolated_cpus.as_ref();
    let isolated = isolated.filter(|cpus| !cpus.is_empty())?;
    let mut pinnable = listed(Some(isolated));
    pinnable.retain(|cpu| subject.host.pinnable_cpus.contains(cpu));
    let such_as = match pinnable[..] {
        [] => ", in a cpuset that has them".to_owned(),
        [only] => format!(", such as --pin {only}"),
        [first, second, ..] => format!(", such as --pin {second}:{first}"),
    };
    let values: &[(&str, &dyn Display)] = &[("isolated", isolated), ("such_as", &such_as)];
    Some(Finding::noted("isolated", values))
}

/// Finds CPUs without the scheduler's tick that are not isolated: other threads may then share them.
fn without_tick(subject: &Subject) -> Option<Finding> {
    let isolated = listed(subject.host.isolated_cpus.as_ref());
    let mut shared = listed(subject.host.nohz_full_cpus.as_ref());
    shared.retain(|cpu| !isolated.contains(cpu));
    let cpus = ranges(&shared);
    (!shared.is_empty()).then(|| Finding::noted("without-tick", &[("cpus", &cpus)]))
}

/// Finds a hidden device tree: Docker masks /sys/firmware, where /proc/device-tree leads (moby #43419).
fn hidden(subject: &Subject) -> Option<Finding> {
    let why = match subject.host.model {
        Some(_) => "the model in /proc/cpuinfo tells which board it is; nothing else says so",
        None => "nothing tells which board this is, and the profile is generic",
    };
    let is_hidden = subject.host.hides_device_tree;
    is_hidden.then(|| Finding::noted("hidden-device-tree", &[("why", &why)]))
}

/// Finds CPUs that contradict the profile of the board.
fn contradiction(subject: &Subject) -> Option<Finding> {
    let contradiction = subject.board.contradiction(subject.host)?;
    Some(Finding::unfit(Unfit::OtherCpus { contradiction }, &[]))
}

fn unknown_board(subject: &Subject) -> Option<Finding> {
    let unknown = subject.board.name == "generic" && !subject.host.compatible.is_empty();
    let model = subject.host.model.as_deref().unwrap_or("this board");
    unknown.then(|| Finding::noted("unknown-board", &[("model", &model)]))
}

/// Finds a kernel that accounts the time of softirqs by itself.
fn irq_time_accounting(subject: &Subject) -> Option<Finding> {
    let is_on = subject.host.irq_time_accounting == Some(true);
    is_on.then(|| Finding::noted("irq-time-accounting", &[]))
}
