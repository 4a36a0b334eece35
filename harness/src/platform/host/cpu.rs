//! The CPUs: which may be used, how they hang together, what they call themselves.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::joined;
use crate::sys::files::{Root, parse_cpu_list};

/// A CPU that this process may run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// Linux's number.
    pub id: usize,
    /// `cpu_capacity`: 1024 for the biggest kind (kernel ABI doc sysfs-devices-system-cpu).
    pub capacity: u32,
    /// The lowest CPU number of its core: equal for SMT siblings.
    pub core: usize,
    /// The lowest CPU number that shares its last-level cache.
    pub cache: usize,
}

/// The CPUs that are online.
pub(super) fn online(root: &Root) -> Option<Vec<usize>> {
    parse_cpu_list(&root.text("sys/devices/system/cpu/online")?).ok()
}

/// The CPUs in `Cpus_allowed_list`, which is what affinity and cpusets leave of those online.
pub(super) fn usable(root: &Root) -> Vec<Cpu> {
    let status = root.text("proc/self/status").unwrap_or_default();
    let allowed = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .and_then(|list| parse_cpu_list(list).ok())
        .unwrap_or_default();
    let online = online(root);
    let is_online = |id: &usize| online.as_ref().is_none_or(|online| online.contains(id));
    allowed
        .into_iter()
        .filter(is_online)
        .map(|id| cpu(root, id))
        .collect()
}

fn cpu(root: &Root, id: usize) -> Cpu {
    let directory = format!("sys/devices/system/cpu/cpu{id}");
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
        core: first_of("topology/thread_siblings_list").unwrap_or(id),
        // Names sort by level: the last one is the last-level cache.
        cache: caches
            .last()
            .and_then(|index| first_of(&format!("cache/{index}/shared_cpu_list")))
            .unwrap_or(0),
    }
}

/// The tightest limit of the control groups that this process is in, in CPUs' worth of time: `cpu.max` (kernel
/// doc admin-guide/cgroup-v2, "CPU Interface Files"), or `cpu.cfs_quota_us` of version 1 (scheduler/sched-bwc).
pub(super) fn quota(root: &Root) -> Option<f64> {
    let own = root.text("proc/self/cgroup")?;
    let limits = own.lines().filter_map(|line| {
        // hierarchy:controllers:path (cgroups(7))
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let path = path.trim_start_matches('/');
        if controllers.is_empty() {
            tightest(&Path::new("sys/fs/cgroup").join(path), |group| {
                let text = root.text(group.join("cpu.max"))?;
                let (quota, period) = text.split_once(' ')?;
                // `max` is no number.
                Some((quota.parse().ok()?, period.parse().ok()?))
            })
        } else if controllers.split(',').any(|controller| controller == "cpu") {
            tightest(&Path::new("sys/fs/cgroup/cpu").join(path), |group| {
                let quota: i32 = root.number(group.join("cpu.cfs_quota_us"))?;
                let period: i32 = root.number(group.join("cpu.cfs_period_us"))?;
                // -1: no limit.
                (quota > 0).then_some((quota.into(), period.into()))
            })
        } else {
            None
        }
    });
    limits.min_by(f64::total_cmp)
}

/// Of a group and those that it is in.
fn tightest(group: &Path, limit: impl Fn(&Path) -> Option<(f64, f64)>) -> Option<f64> {
    let limits = group.ancestors().filter_map(limit);
    limits
        .map(|(quota, period)| quota / period)
        .min_by(f64::total_cmp)
}

/// x86 prints a name; arm64 prints part numbers, of each CPU its own.
pub(super) fn model(root: &Root) -> Option<String> {
    let info = root.text("proc/cpuinfo")?;
    let values = |name: &'static str| {
        let fields = info.lines().filter_map(|line| line.split_once(':'));
        let named = fields.filter(move |(key, _)| key.trim() == name);
        named.map(|(_, value)| value.trim())
    };
    let parts = values("CPU implementer").zip(values("CPU part"));
    let parts: Vec<String> = parts
        .map(|(implementer, part)| arm_core(implementer, part))
        .collect();
    match joined(parts) {
        Some(parts) => Some(parts),
        None => values("model name").next().map(str::to_owned),
    }
}

fn arm_core(implementer: &str, part: &str) -> String {
    const ARM_LTD: &str = "0x41";
    let known = ARM_PARTS
        .iter()
        .find(|(number, _)| *number == part && implementer == ARM_LTD);
    known.map_or_else(
        || format!("implementer {implementer} part {part}"),
        |(_, name)| (*name).to_owned(),
    )
}

/// Arm Ltd's part numbers, as in the kernel's `arch/arm64/include/asm/cputype.h` and util-linux's
/// `lscpu-arm.c`.
const ARM_PARTS: &[(&str, &str)] = &[
    ("0xb76", "ARM1176"),
    ("0xc07", "Cortex-A7"),
    ("0xc08", "Cortex-A8"),
    ("0xc09", "Cortex-A9"),
    ("0xc0f", "Cortex-A15"),
    ("0xd03", "Cortex-A53"),
    ("0xd04", "Cortex-A35"),
    ("0xd05", "Cortex-A55"),
    ("0xd07", "Cortex-A57"),
    ("0xd08", "Cortex-A72"),
    ("0xd09", "Cortex-A73"),
    ("0xd0a", "Cortex-A75"),
    ("0xd0b", "Cortex-A76"),
    ("0xd0c", "Neoverse-N1"),
    ("0xd0d", "Cortex-A77"),
    ("0xd40", "Neoverse-V1"),
    ("0xd41", "Cortex-A78"),
    ("0xd42", "Cortex-A78AE"),
    ("0xd44", "Cortex-X1"),
    ("0xd46", "Cortex-A510"),
    ("0xd47", "Cortex-A710"),
    ("0xd49", "Neoverse-N2"),
];

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn quota_of(files: &[(&str, &str)]) -> Option<f64> {
        let place = tempfile::TempDir::new().expect("a temporary directory");
        for (path, text) in files {
            let path = place.path().join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("writable");
            fs::write(path, text).expect("writable");
        }
        quota(&Root::new(place.path()))
    }

    #[test]
    fn the_tightest_of_nested_control_groups_counts() {
        let own = ("proc/self/cgroup", "0::/box/inner\n");
        let inner = ("sys/fs/cgroup/box/inner/cpu.max", "max 100000\n");
        let outer = ("sys/fs/cgroup/box/cpu.max", "150000 100000\n");
        assert_eq!(quota_of(&[own, inner, outer]), Some(1.5));
        assert_eq!(quota_of(&[own, inner]), None);
    }

    #[test]
    fn control_groups_of_version_1_are_read_too() {
        let own = (
            "proc/self/cgroup",
            "4:memory:/box\n2:cpu,cpuacct:/box\n0::/\n",
        );
        let quota = "sys/fs/cgroup/cpu/box/cpu.cfs_quota_us";
        let period = ("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
        assert_eq!(quota_of(&[own, (quota, "50000\n"), period]), Some(0.5));
        assert_eq!(quota_of(&[own, (quota, "-1\n"), period]), None);
    }
}
