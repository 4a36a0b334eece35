//! Reads the CPUs: the usable ones, their topology and their speed, and the limits of this process's control groups.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::model;
use crate::sys::files::{Root, parse_cpu_list};
use crate::sys::scheduling;

/// A CPU in the affinity mask of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// Number of the CPU in Linux.
    pub id: usize,
    /// `cpu_capacity`: 1024 for the biggest kind, and where it is unknown (kernel ABI doc sysfs-devices-system-cpu).
    pub capacity: u32,
    /// Arm's number for the kind of core, such as 0xd08; 0: another maker, or unknown.
    pub part: u16,
    /// Highest clock of the hardware, in kHz; 0: unknown.
    pub max_khz: u64,
    /// Lowest CPU number of the core: equal for SMT siblings.
    pub core: usize,
    /// Lowest CPU number that shares the last-level cache.
    pub cache: usize,
}

impl Cpu {
    /// Returns a key that orders the CPUs of one machine by speed: `cpu_capacity`, then small kinds of cores after all
    /// others, then the highest clock, then the part number. Kernels without `capacity-dmips-mhz` in their device tree
    /// show the same capacity for all CPUs.
    ///
    /// Small kinds come before the clock: an S922X runs its small cores at up to 1896 MHz and its big ones at 1704
    /// (linux meson-g12b-s922x.dtsi). The clock comes before the number: a Cortex-X925 (0xd85) is bigger than a
    /// Cortex-A725 (0xd87).
    pub fn speed(&self) -> (u32, bool, u64, u16) {
        let is_small = model::is_small(self.part);
        (self.capacity, !is_small, self.max_khz, self.part)
    }
}

const CPUS: &str = "sys/devices/system/cpu";

/// Reads a CPU list of the kernel, such as `online` and `present`.
fn listed(root: &Root, file: &str) -> Option<Vec<usize>> {
    root.cpu_list(format!("{CPUS}/{file}"))
}

/// Returns the CPUs in `Cpus_allowed_list`, which may name offline CPUs.
fn masked(root: &Root) -> Vec<usize> {
    let status = root.text("proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let list = lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.and_then(|list| parse_cpu_list(list).ok())
        .unwrap_or_default()
}

/// Returns the reason why `online` is not the kernel's own list, if there is one.
///
/// In a container, lxcfs puts a list with as many CPUs as its cpuset has in that place, by other numbers (lxcfs #731).
/// The affinity mask and the cpuset come from the scheduler itself, so they are believed before any file.
pub(super) fn online_contradiction(root: &Root) -> Option<String> {
    let online = listed(root, "online")?;
    if is_covered(root, &format!("{CPUS}/online")) {
        return Some("another file is mounted over it".to_owned());
    }
    let forgotten = |cpus: Vec<usize>| cpus.iter().any(|cpu| !online.contains(cpu));
    // The kernel leaves offline CPUs in an affinity mask, but not in what it uses of it, nor in a cpuset.
    let lists = [scheduled(root), cpuset(root)];
    let masked = masked(root);
    let is_apart = !masked.is_empty() && !masked.iter().any(|cpu| online.contains(cpu));
    let is_contradicted = is_apart || lists.into_iter().flatten().any(forgotten);
    is_contradicted.then(|| "this process may run on other CPUs".to_owned())
}

/// Returns the CPUs that the kernel schedules this process on (sched_getaffinity(2)). `None` below another root.
fn scheduled(root: &Root) -> Option<Vec<usize>> {
    root.is_real().then(scheduling::own_cpus).flatten()
}

/// Returns the online CPUs. `None`: unknown, also if the list is not the kernel's own.
pub(crate) fn online(root: &Root) -> Option<Vec<usize>> {
    listed(root, "online").filter(|_| online_contradiction(root).is_none())
}

/// Returns the CPUs of the machine that are not online, by the file that each CPU has, or by the lists.
pub(super) fn offline(root: &Root, pinnable: &[usize]) -> Vec<usize> {
    let online = online(root);
    let is_off = |cpu: &usize| {
        let own: Option<u8> = root.number(format!("{CPUS}/cpu{cpu}/online"));
        let listed = || online.as_ref().is_some_and(|online| !online.contains(cpu));
        own.map_or_else(listed, |own| own == 0)
    };
    let mut offline = listed(root, "present").unwrap_or_default();
    offline.retain(|cpu| !pinnable.contains(cpu) && is_off(cpu));
    offline
}

/// Returns the CPUs that this process may use: online CPUs that its affinity mask and cpusets allow.
pub(crate) fn usable(root: &Root) -> Vec<Cpu> {
    let from_files = || {
        let (mut cpus, online) = (masked(root), online(root));
        cpus.retain(|id| online.as_ref().is_none_or(|online| online.contains(id)));
        cpus
    };
    let parts = model::parts(root);
    let cpus = scheduled(root).unwrap_or_else(from_files);
    cpus.into_iter().map(|id| cpu(root, &parts, id)).collect()
}

/// Returns the CPUs that a thread of this process can be pinned to: the CPUs in its mask, and others that the kernel
/// accepts. Below another root that cannot be tried out, so the list of online CPUs and the cpuset decide.
pub(super) fn pinnable(root: &Root, masked: &[Cpu]) -> Vec<usize> {
    let mut others = if root.is_real() {
        // Lists may be short of CPUs, but none has CPUs that the kernel would accept wrongly.
        let lists = ["online", "present"].map(|file| listed(root, file).unwrap_or_default());
        scheduling::accepted_cpus(&lists.concat())
    } else {
        let mut online = online(root).unwrap_or_default();
        if let Some(cpuset) = cpuset(root) {
            online.retain(|id| cpuset.contains(id));
        }
        online
    };
    others.extend(masked.iter().map(|cpu| cpu.id));
    others.sort_unstable();
    others.dedup();
    others
}

fn cpu(root: &Root, parts: &BTreeMap<usize, u16>, id: usize) -> Cpu {
    let directory = format!("{CPUS}/cpu{id}");
    let first_of = |file: &str| {
        let list = root.cpu_list(format!("{directory}/{file}"))?;
        list.first().copied()
    };
    let caches = root.names(format!("{directory}/cache"), "index");
    Cpu {
        id,
        capacity: root
            .number(format!("{directory}/cpu_capacity"))
            .unwrap_or(1024),
        part: parts.get(&id).copied().unwrap_or(0),
        max_khz: root
            .number(format!("{directory}/cpufreq/cpuinfo_max_freq"))
            .unwrap_or(0),
        core: first_of("topology/thread_siblings_list").unwrap_or(id),
        // Cache directories are sorted by level, so the last one is the last-level cache.
        cache: caches
            .last()
            .and_then(|index| first_of(&format!("cache/{index}/shared_cpu_list")))
            .unwrap_or(0),
    }
}

/// Returns whether a file below `/proc` or `/sys` is not the kernel's own: something is mounted over it, or over a
/// directory on its way (`/proc/self/mountinfo`, proc_pid_mountinfo(5)). False if the mounts are unknown.
fn is_covered(root: &Root, path: &str) -> bool {
    let mounts = root.text("proc/self/mountinfo").unwrap_or_default();
    let path = Path::new("/").join(path);
    // The place and the kind of file system of a line.
    let mount = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        Some((
            before.split(' ').nth(4)?.to_owned(),
            after.split(' ').next()?.to_owned(),
        ))
    };
    // The last mount on the way is the visible one.
    let mut on_the_way = mounts.lines().filter_map(mount);
    let last = on_the_way.rfind(|(place, _)| path.starts_with(place));
    last.is_some_and(|(place, kind)| place != "/" && !["proc", "sysfs"].contains(&&*kind))
}

/// Returns the directories of the control groups that this process is in (cgroups(7)), each before its ancestors, up to
/// the root of its hierarchy. Version 1 has a hierarchy, or a link to one, in the name of each controller.
fn groups(root: &Root) -> Vec<PathBuf> {
    let own = root.text("proc/self/cgroup").unwrap_or_default();
    let mut groups = Vec::new();
    for line in own.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        for controller in controllers.split(',') {
            let top = Path::new("sys/fs/cgroup").join(controller);
            let group = top.join(path.trim_start_matches('/'));
            let ancestors = group.ancestors().take_while(|it| it.starts_with(&top));
            groups.extend(ancestors.map(Path::to_owned));
        }
    }
    groups
}

/// Returns the CPUs of the cpuset that this process is in: `cpuset.cpus.effective` (kernel doc admin-guide/cgroup-v2,
/// "Cpuset Interface Files") of the nearest group that has it, or `cpuset.effective_cpus` of version 1
/// (cgroup-v1/cpusets). `None` if no cpuset is visible.
fn cpuset(root: &Root) -> Option<Vec<usize>> {
    let files = ["cpuset.cpus.effective", "cpuset.effective_cpus"];
    let groups = groups(root).into_iter();
    let mut lists = groups.flat_map(|group| files.map(|file| root.cpu_list(group.join(file))));
    lists.find_map(|list| list.filter(|cpus| !cpus.is_empty()))
}

/// Returns the tightest limit of the control groups that this process is in, in CPUs' worth of time: `cpu.max`
/// (kernel doc admin-guide/cgroup-v2, "CPU Interface Files"), or `cpu.cfs_quota_us` of version 1
/// (scheduler/sched-bwc).
pub(super) fn quota(root: &Root) -> Option<f64> {
    let limit = |group: PathBuf| -> Option<f64> {
        let version_1 = || {
            let number = |name| root.text(group.join(format!("cpu.cfs_{name}_us")));
            Some(format!("{} {}", number("quota")?, number("period")?))
        };
        let limit = root.text(group.join("cpu.max")).or_else(version_1)?;
        let (quota, period) = limit.split_once(' ')?;
        // Without a limit there is the word `max`, or -1.
        Some(quota.trim().parse::<f64>().ok()? / period.trim().parse::<f64>().ok()?)
    };
    let limits = groups(root).into_iter().filter_map(limit);
    limits.filter(|cpus| *cpus > 0.0).min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests;
