//! Reads the CPUs: the usable ones, their topology and their speed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{cgroup, cpuinfo};
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
    /// Returns a key that orders the CPUs of one machine by speed: `cpu_capacity`, then the kind of core, then the
    /// highest clock. Kernels without `capacity-dmips-mhz` in their device tree show the same capacity for all CPUs.
    ///
    /// The kind comes before the clock: an S922X runs its small cores at up to 1896 MHz and its big ones at 1704
    /// (linux meson-g12b-s922x.dtsi). In a chip with two kinds, Arm's bigger one has the higher number.
    pub fn speed(&self) -> (u32, u16, u64) {
        (self.capacity, self.part, self.max_khz)
    }
}

const CPUS: &str = "sys/devices/system/cpu";

/// Reads a CPU list of the kernel, such as `online` and `present`.
pub(super) fn listed(root: &Root, file: &str) -> Option<Vec<usize>> {
    parse_cpu_list(&root.text(format!("{CPUS}/{file}"))?).ok()
}

/// Returns the CPUs of the machine that are not online.
pub(super) fn offline(root: &Root) -> Vec<usize> {
    let (present, online) = (listed(root, "present"), listed(root, "online"));
    let mut offline = present.unwrap_or_default();
    offline.retain(|cpu| online.as_ref().is_some_and(|online| !online.contains(cpu)));
    offline
}

/// Returns the CPUs in `Cpus_allowed_list`: the online CPUs that the affinity mask and cpusets allow.
pub(in crate::host) fn usable(root: &Root) -> Vec<Cpu> {
    let status = root.text("proc/self/status").unwrap_or_default();
    let allowed = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .and_then(|list| parse_cpu_list(list).ok())
        .unwrap_or_default();
    let online = listed(root, "online");
    let is_online = |id: &usize| online.as_ref().is_none_or(|online| online.contains(id));
    let parts = cpuinfo::parts(root);
    allowed
        .into_iter()
        .filter(is_online)
        .map(|id| cpu(root, &parts, id))
        .collect()
}

/// Returns the CPUs that a thread of this process can be pinned to: the CPUs in its mask, and other online CPUs that
/// the kernel accepts. Below another root that cannot be tried out, so the cpuset decides.
pub(super) fn pinnable(root: &Root, masked: &[Cpu]) -> Vec<usize> {
    let mut others = listed(root, "online").unwrap_or_default();
    others.retain(|id| masked.iter().all(|cpu| cpu.id != *id));
    if root.is_real() {
        others = affinity::accepted(&others);
    } else if let Some(cpuset) = cgroup::cpuset(root) {
        others.retain(|id| cpuset.contains(id));
    }
    others.extend(masked.iter().map(|cpu| cpu.id));
    others.sort_unstable();
    others
}

fn cpu(root: &Root, parts: &BTreeMap<usize, u16>, id: usize) -> Cpu {
    let directory = format!("{CPUS}/cpu{id}");
    let first_of = |file: &str| {
        let list = root.text(format!("{directory}/{file}"))?;
        parse_cpu_list(&list).ok()?.first().copied()
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
            assert_eq!(offline(&root), expected, "{present:?} {online:?}");
        }
    }
}
