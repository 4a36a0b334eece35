//! Checks the build, the machine, the kernel, the CPUs that are available, and the network stack.

use serde_json::json;

use super::{Finding, Subject, Unfit};
use crate::data::Ip;
use crate::facts::{Host, Nic, loopback_fix};
use crate::sys::files::parse_cpu_list;
use crate::sys::processes::BusyProcess;
use crate::text::cpu_list::{join, ranges};

pub(super) fn findings(subject: &Subject) -> Vec<Finding> {
    let all = [
        cfg!(debug_assertions).then(|| Finding::unfit(Unfit::DebugBuild)),
        emulated(subject),
        foreign_binary(subject),
        quota(subject),
        other_programs(&subject.busy, subject.host.cpus.len()),
    ];
    all.into_iter()
        .flatten()
        .chain(cpus(subject.host))
        .chain(board_and_kernel(subject))
        .collect()
}

/// Returns the findings about CPUs that threads cannot run on, or that others leave alone.
fn cpus(host: &Host) -> impl Iterator<Item = Finding> {
    let listed = |cpus: &Option<String>| {
        let list = cpus.as_ref().and_then(|list| parse_cpu_list(list).ok());
        list.unwrap_or_default()
    };
    let (pinnable, offline) = (&host.pinnable_cpus, &host.offline_cpus);
    let isolated = listed(&host.isolated_cpus);
    let is_forbidden =
        !pinnable.is_empty() && host.online_cpus.is_some_and(|it| pinnable.len() < it);
    // The kernel leaves isolated CPUs out of every mask.
    let mut masked = pinnable.clone();
    masked.retain(|cpu| !host.has_cpu(*cpu) && !isolated.contains(cpu));
    // Other threads may share CPUs without the scheduler's tick that are not isolated.
    let mut shared = listed(&host.nohz_full_cpus);
    shared.retain(|cpu| !isolated.contains(cpu));
    let values = json!({
        "contradiction": host.online_contradiction,
        "offline": ranges(offline),
        "each": join(offline, " "),
        "pinnable": ranges(pinnable),
        "online": host.online_cpus,
        "cpus": host.cpu_list(),
        "masked": ranges(&masked),
        "isolated": host.isolated_cpus,
        "shared": ranges(&shared),
    });
    let found = [
        // lxcfs makes another list for containers (lxcfs #401, #731).
        (host.online_contradiction.is_some(), "covered-cpu-list"),
        // Such as by `maxcpus=1` (raspberrypi) or a power mode (jetbot #153).
        (!offline.is_empty(), "offline"),
        (is_forbidden, "cpuset"),
        (!masked.is_empty(), "affinity-mask"),
        (!isolated.is_empty(), "isolated"),
        (!shared.is_empty(), "without-tick"),
    ];
    let found = found.into_iter().filter(|(is_so, _)| *is_so);
    found.map(move |(_, name)| Finding::noted(name, &values))
}

fn board_and_kernel(subject: &Subject) -> impl Iterator<Item = Finding> {
    let (host, board) = (subject.host, subject.board);
    let is_unknown = board.name == "generic" && !host.compatible.is_empty();
    let values = json!({"model": host.model.as_deref().unwrap_or("this board")});
    let contradiction = board.contradiction(host);
    let all = [
        // Docker masks /sys/firmware, where /proc/device-tree leads (moby #43419).
        note_if(host.hides_device_tree, "hidden-device-tree"),
        is_unknown.then(|| Finding::noted("unknown-board", &values)),
        contradiction.map(|contradiction| Finding::unfit(Unfit::OtherCpus { contradiction })),
        // The kernel accounts the time of softirqs by itself.
        note_if(
            host.irq_time_accounting == Some(true),
            "irq-time-accounting",
        ),
    ];
    all.into_iter().flatten()
}

/// Returns the findings about the network stack: loopback, buffers, RPS, conntrack and interrupts.
pub(super) fn network(subject: &Subject) -> Vec<Finding> {
    let all = [
        loopback(subject, Ip::V4),
        loopback(subject, Ip::V6),
        rcvbuf(subject),
        // As under `nsenter -n`.
        note_if(subject.host.sys_is_foreign, "foreign-sys"),
        rps(subject),
        conntrack(subject),
    ];
    let nics = subject.host.nics.iter();
    let interrupts = nics.filter_map(|nic| interrupts(subject, nic));
    all.into_iter().flatten().chain(interrupts).collect()
}

fn note_if(is_so: bool, name: &str) -> Option<Finding> {
    is_so.then(|| Finding::noted(name, &json!({})))
}

/// Finds emulators and hypervisors. A virtual machine is worth a note only, but no emulated board runs at its own
/// speed.
fn emulated(subject: &Subject) -> Option<Finding> {
    let by = subject.host.virtualization.clone()?;
    Some(if subject.host.compatible.is_empty() {
        Finding::noted("virtual-machine", &json!({"by": by}))
    } else {
        Finding::unfit(Unfit::Emulated { by })
    })
}

/// Compares the architecture of the binary with the kernel's.
fn foreign_binary(subject: &Subject) -> Option<Finding> {
    let machine = subject.host.machine.clone()?;
    let target = crate::TARGET.to_owned();
    match (std::env::consts::ARCH, &*machine) {
        ("arm", machine) if machine.starts_with("arm") => None,
        ("arm", "aarch64") | ("x86", "x86_64") => {
            let values = json!({"target": target, "machine": machine});
            Some(Finding::noted("narrow-binary", &values))
        }
        ("x86", machine) if machine.starts_with('i') => None,
        (arch, machine) if arch == machine => None,
        _ => Some(Finding::unfit(Unfit::ForeignBinary { target, machine })),
    }
}

fn quota(subject: &Subject) -> Option<Finding> {
    let (granted, cpus) = (subject.host.cpu_quota?, subject.host.cpus.len());
    let is_less = granted < cpus as f64;
    is_less.then(|| Finding::unfit(Unfit::CpuQuota { granted, cpus }))
}

/// CPUs in use by others from which on there is a finding. A machine needs less than this for itself.
const OTHERS_CPUS: f64 = 0.2;
const MOST_NAMED: usize = 2;

/// Finds other programs that use CPU time now, of `cpus` CPUs. The load average is no evidence: it includes the past of
/// this program.
pub(super) fn other_programs(busy: &[BusyProcess], cpus: usize) -> Option<Finding> {
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
    (used >= OTHERS_CPUS).then(|| Finding::unfit(seen))
}

fn loopback(subject: &Subject, ip: Ip) -> Option<Finding> {
    let problem = subject.host.loopback_problem(ip)?.to_owned();
    let values = json!({"problem": problem, "fix": loopback_fix(ip)});
    Some(match ip {
        Ip::V4 => Finding::unfit_with(Unfit::Loopback { problem }, values),
        Ip::V6 => Finding::noted("loopback-v6", &values),
    })
}

/// Finds a limit on receive buffers that is too low or unknown. No setting affects loss more than the buffer.
fn rcvbuf(subject: &Subject) -> Option<Finding> {
    let host = subject.host;
    let asked_bytes = u64::from(subject.rcvbuf_bytes);
    let mut command = host.command_for_rmem_max(asked_bytes);
    if host.rmem_max_is_of_host {
        command += "\nor start the container in the host's network (--network host)";
    }
    let values = json!({"asked": asked_bytes, "command": command});
    let Some(most_bytes) = host.rmem_max else {
        return (!host.exceeds_rmem_max).then(|| Finding::noted("unknown-buffers", &values));
    };
    let seen = Unfit::SmallBuffers {
        most_bytes,
        asked_bytes,
    };
    let is_small = most_bytes < asked_bytes && !host.exceeds_rmem_max;
    is_small.then(|| Finding::unfit_with(seen, values))
}

fn rps(subject: &Subject) -> Option<Finding> {
    let cpus = subject.host.lo_rps_cpus.as_deref();
    let cpus = join(cpus.filter(|cpus| !cpus.is_empty())?, ",");
    Some(Finding::unfit(Unfit::Rps { cpus }))
}

fn conntrack(subject: &Subject) -> Option<Finding> {
    let follows = subject.host.conntrack?.follows_loopback == Some(true);
    follows.then(|| Finding::unfit(Unfit::Conntrack))
}

/// Finds interrupts on a sender's CPU. Traffic from outside (such as the ssh session) interrupts the CPU that it
/// arrives at.
pub(super) fn interrupts(subject: &Subject, nic: &Nic) -> Option<Finding> {
    let threads = subject.board.defaults.threads.iter();
    let senders: Vec<usize> = threads
        .filter_map(|&threads| subject.board.placement(threads, subject.host).ok())
        .flat_map(|placed| placed.placement.senders)
        .flatten()
        .collect();
    let is_hit = |cpu: &usize| senders.contains(cpu);
    let hit: Vec<usize> = nic.irq_cpus.iter().copied().filter(is_hit).collect();
    if hit.is_empty() {
        return None;
    }
    interrupted(
        "interrupted-sender",
        subject,
        &nic.name,
        &nic.irqs,
        &hit,
        &senders,
    )
}

/// Returns the finding about interrupts on CPUs of threads. `None`: all CPUs have threads, and there is no better
/// place.
pub(super) fn interrupted(
    trouble: &str,
    subject: &Subject,
    interface: &str,
    irqs: &[u32],
    hit: &[usize],
    used: &[usize],
) -> Option<Finding> {
    let mut cpus = subject.host.cpus.iter().map(|cpu| cpu.id);
    let free = cpus.find(|cpu| !used.contains(cpu))?;
    let irqs: Vec<String> = irqs.iter().map(ToString::to_string).collect();
    let values = json!({
        "interface": interface,
        "cpus": join(hit, ","),
        "irqs": irqs.join(" "),
        "free": free,
    });
    Some(Finding::noted(trouble, &values))
}
