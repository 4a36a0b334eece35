//! Reads the CPUs: the usable ones, their topology and their speed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{cgroup, cpuinfo, mounts};
use crate::sys::affinity;
use crate::sys::files::{Root, parse_cpu_list};

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
        let is_small = cpuinfo::is_small(self.part);
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
    if mounts::is_covered(root, &format!("{CPUS}/online")) {
        return Some("another file is mounted over it".to_owned());
    }
    let forgotten = |cpus: &[usize]| cpus.iter().any(|cpu| !online.contains(cpu));
    // The kernel leaves offline CPUs in an affinity mask, but not in what it uses of it, nor in a cpuset.
    let scheduled = scheduled(root);
    if scheduled.as_deref().is_some_and(forgotten) {
        return Some("the kernel runs this process on other CPUs".to_owned());
    }
    if cgroup::cpuset(root).as_deref().is_some_and(forgotten) {
        return Some("the cpuset of this process has other CPUs".to_owned());
    }
    let masked = masked(root);
    let is_apart = !masked.is_empty() && !masked.iter().any(|cpu| online.contains(cpu));
    is_apart.then(|| "the affinity mask of this process has other CPUs".to_owned())
}

/// Returns the CPUs that the kernel schedules this process on (sched_getaffinity(2)). `None` below another root.
fn scheduled(root: &Root) -> Option<Vec<usize>> {
    root.is_real().then(affinity::own).flatten()
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
    let parts = cpuinfo::parts(root);
    let cpus = scheduled(root).unwrap_or_else(from_files);
    cpus.into_iter().map(|id| cpu(root, &parts, id)).collect()
}

/// Returns the CPUs that a thread of this process can be pinned to: the CPUs in its mask, and others that the kernel
/// accepts. Below another root that cannot be tried out, so the list of online CPUs and the cpuset decide.
pub(super) fn pinnable(root: &Root, masked: &[Cpu]) -> Vec<usize> {
    let mut others = if root.is_real() {
        // Lists may be short of CPUs, but none has CPUs that the kernel would accept wrongly.
        let lists = ["online", "present"].map(|file| listed(root, file).unwrap_or_default());
        affinity::accepted(&lists.concat())
    } else {
        let mut online = online(root).unwrap_or_default();
        if let Some(cpuset) = cgroup::cpuset(root) {
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

#[cfg(test)]
mod tests {
    use super::super::tests::{File, tree};
    use super::*;

    #[test]
    fn only_a_cpuset_keeps_a_cpu_online_from_being_pinned_to() {
        let online = ("sys/devices/system/cpu/online", "0-3\n");
        let all = [0, 1, 2, 3].as_slice();
        let cases: &[(&str, &[File], &[usize])] = &[
            // An affinity mask alone.
            ("0-1", &[], all),
            ("0", &[("proc/self/cgroup", "0::/\n")], all),
            // Version 2: its own group, one above, the root of a container.
            (
                "0-1",
                &[
                    ("proc/self/cgroup", "0::/box/inner\n"),
                    ("sys/fs/cgroup/box/inner/cpuset.cpus.effective", "0-1\n"),
                    ("sys/fs/cgroup/cpuset.cpus.effective", "0-3\n"),
                ],
                &[0, 1],
            ),
            (
                "0",
                &[
                    ("proc/self/cgroup", "0::/box/inner\n"),
                    ("sys/fs/cgroup/box/cpuset.cpus.effective", "0,2\n"),
                    ("sys/fs/cgroup/cpuset.cpus.effective", "0-3\n"),
                ],
                &[0, 2],
            ),
            (
                "2",
                &[
                    ("proc/self/cgroup", "0::/\n"),
                    ("sys/fs/cgroup/cpuset.cpus.effective", "2-3\n"),
                ],
                &[2, 3],
            ),
            // Version 1, and both.
            (
                "1",
                &[
                    (
                        "proc/self/cgroup",
                        "4:memory:/x\n3:cpuset:/docker/abc\n0::/\n",
                    ),
                    (
                        "sys/fs/cgroup/cpuset/docker/abc/cpuset.effective_cpus",
                        "1-2\n",
                    ),
                ],
                &[1, 2],
            ),
            (
                "1",
                &[
                    ("proc/self/cgroup", "3:cpuset:/docker/abc\n"),
                    ("sys/fs/cgroup/cpuset/cpuset.effective_cpus", "0-1\n"),
                ],
                &[0, 1],
            ),
            // Nonsense is no cpuset, and the CPUs of the mask count whatever the cpuset says.
            (
                "0-1",
                &[
                    ("proc/self/cgroup", "0::/\n"),
                    ("sys/fs/cgroup/cpuset.cpus.effective", "all\n"),
                ],
                all,
            ),
            (
                "0-1",
                &[
                    ("proc/self/cgroup", "0::/\n"),
                    ("sys/fs/cgroup/cpuset.cpus.effective", "\n"),
                ],
                all,
            ),
            (
                "3",
                &[
                    ("proc/self/cgroup", "0::/\n"),
                    ("sys/fs/cgroup/cpuset.cpus.effective", "0\n"),
                ],
                &[0, 3],
            ),
        ];
        for (mask, files, expected) in cases {
            let status = format!("Cpus_allowed_list:\t{mask}\n");
            let own = [online, ("proc/self/status", status.as_str())];
            let (_dir, root) = tree(&[&own, *files].concat());
            let masked = usable(&root);
            assert_eq!(pinnable(&root, &masked), *expected, "{mask} {files:?}");
        }
    }

    #[test]
    fn the_real_machines_own_mask_is_pinnable() {
        let root = Root::default();
        let masked = usable(&root);
        let found = pinnable(&root, &masked);
        assert!(
            masked.iter().all(|cpu| found.contains(&cpu.id)),
            "{found:?} {masked:?}"
        );
    }

    #[test]
    fn cpus_that_are_there_and_not_online_are_offline() {
        let cases = [
            (Some("0-3"), Some("0"), vec![1, 2, 3]),
            (Some("0-3"), Some("0-1,3"), vec![2]),
            (Some("0-3"), Some("0-3"), vec![]),
            (Some("0-3"), None, vec![]),
            (None, Some("0"), vec![]),
            (Some("x"), Some("0"), vec![]),
        ];
        for (present, online, expected) in cases {
            let files = [("present", present), ("online", online)];
            let paths = files.map(|(file, list)| (format!("{CPUS}/{file}"), list));
            let files = paths
                .iter()
                .filter_map(|(path, list)| Some((path.as_str(), (*list)?)));
            let (_dir, root) = tree(&files.collect::<Vec<_>>());
            assert_eq!(offline(&root, &[]), expected, "{present:?} {online:?}");
        }
    }

    #[test]
    fn a_list_of_online_cpus_that_contradicts_the_kernel_is_not_believed() {
        /// Files, the usable CPUs, the CPUs that are offline, whether there is a contradiction.
        type Seen<'a> = (&'a [File<'a>], &'a [usize], &'a [usize], bool);
        let present = ("sys/devices/system/cpu/present", "0-3\n");
        let group = ("proc/self/cgroup", "0::/\n");
        let over = "40 20 0:50 / /sys/devices/system/cpu/online rw - fuse.lxcfs lxcfs rw\n";
        let above = "40 20 0:50 / /sys/devices/system/cpu rw - fuse.lxcfs lxcfs rw\n";
        let beside = "40 20 0:50 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let online = |list| ("sys/devices/system/cpu/online", list);
        let mask = |list| ("proc/self/status", list);
        let cpuset = |list| ("sys/fs/cgroup/cpuset.cpus.effective", list);
        let mounted = |list| ("proc/self/mountinfo", list);
        let off = ("sys/devices/system/cpu/cpu3/online", "0\n");
        let cases: &[Seen] = &[
            // lxcfs: two CPUs, by other numbers.
            (
                &[online("0-1"), mask("Cpus_allowed_list:\t2-3")],
                &[2, 3],
                &[],
                true,
            ),
            (
                &[
                    online("0-1"),
                    mask("Cpus_allowed_list:\t1-2"),
                    group,
                    cpuset("1-2"),
                ],
                &[1, 2],
                &[],
                true,
            ),
            // The same numbers, by chance: the mount tells.
            (
                &[
                    online("0-1"),
                    mask("Cpus_allowed_list:\t0-1"),
                    mounted(over),
                ],
                &[0, 1],
                &[],
                true,
            ),
            (
                &[
                    online("0-1"),
                    mask("Cpus_allowed_list:\t0-1"),
                    mounted(above),
                ],
                &[0, 1],
                &[],
                true,
            ),
            (
                &[
                    online("0-1"),
                    mask("Cpus_allowed_list:\t0-1"),
                    mounted(beside),
                ],
                &[0, 1],
                &[2, 3],
                false,
            ),
            // What each CPU says of itself counts with any list.
            (
                &[
                    online("0-1"),
                    mask("Cpus_allowed_list:\t1-2"),
                    group,
                    cpuset("1-2"),
                    off,
                ],
                &[1, 2],
                &[3],
                true,
            ),
            // The mask of a process names offline CPUs: no contradiction.
            (
                &[online("0-1"), mask("Cpus_allowed_list:\t0-3")],
                &[0, 1],
                &[2, 3],
                false,
            ),
            (
                &[mask("Cpus_allowed_list:\t0-3")],
                &[0, 1, 2, 3],
                &[],
                false,
            ),
        ];
        for (files, cpus, off, contradicts) in cases {
            let (_dir, root) = tree(&[&[present], *files].concat());
            let masked = usable(&root);
            let found: Vec<usize> = masked.iter().map(|cpu| cpu.id).collect();
            assert_eq!(found, *cpus, "{files:?}");
            assert_eq!(offline(&root, &found), *off, "{files:?}");
            assert_eq!(
                online_contradiction(&root).is_some(),
                *contradicts,
                "{files:?}"
            );
        }
    }
}
