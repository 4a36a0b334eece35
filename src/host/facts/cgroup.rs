//! Reads the limits of this process's control groups: the cpuset and the quota of CPU time.

use std::path::Path;

use crate::sys::files::{Root, parse_cpu_list};

/// Returns the CPUs of the cpuset that this process is in: `cpuset.cpus.effective` (kernel doc admin-guide/cgroup-v2,
/// "Cpuset Interface Files") of the nearest group that has it, or `cpuset.effective_cpus` of version 1
/// (cgroup-v1/cpusets). `None` if no cpuset is visible.
pub(super) fn cpuset(root: &Root) -> Option<Vec<usize>> {
    let own = groups(root);
    let mut lists = own.iter().flat_map(|(controllers, path)| {
        let (hierarchy, file) = match controllers.as_str() {
            "" => ("", "cpuset.cpus.effective"),
            "cpuset" => ("cpuset", "cpuset.effective_cpus"),
            _ => return Vec::new(),
        };
        let group = Path::new("sys/fs/cgroup").join(hierarchy).join(path);
        let list = group
            .ancestors()
            .find_map(|group| root.text(group.join(file)));
        list.and_then(|list| parse_cpu_list(&list).ok())
            .into_iter()
            .collect()
    });
    lists.find(|cpus| !cpus.is_empty())
}

/// Returns the control groups of this process: the controllers, empty for version 2, and the path without its first
/// slash (cgroups(7)).
fn groups(root: &Root) -> Vec<(String, String)> {
    let own = root.text("proc/self/cgroup").unwrap_or_default();
    let groups = own.lines().filter_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        Some((
            controllers.to_owned(),
            path.trim_start_matches('/').to_owned(),
        ))
    });
    groups.collect()
}

/// Returns the tightest limit of the control groups that this process is in, in CPUs' worth of time: `cpu.max`
/// (kernel doc admin-guide/cgroup-v2, "CPU Interface Files"), or `cpu.cfs_quota_us` of version 1
/// (scheduler/sched-bwc).
pub(super) fn quota(root: &Root) -> Option<f64> {
    let own = groups(root);
    let limits = own.iter().filter_map(|(controllers, path)| {
        if controllers.is_empty() {
            tightest(&Path::new("sys/fs/cgroup").join(path), |group| {
                let text = root.text(group.join("cpu.max"))?;
                let (quota, period) = text.split_once(' ')?;
                // Without a limit the file has the word `max`, which does not parse.
                Some((quota.parse().ok()?, period.parse().ok()?))
            })
        } else if controllers.split(',').any(|controller| controller == "cpu") {
            tightest(&Path::new("sys/fs/cgroup/cpu").join(path), |group| {
                let quota: i32 = root.number(group.join("cpu.cfs_quota_us"))?;
                let period: i32 = root.number(group.join("cpu.cfs_period_us"))?;
                // No limit is shown as -1.
                (quota > 0).then_some((quota.into(), period.into()))
            })
        } else {
            None
        }
    });
    limits.min_by(f64::total_cmp)
}

/// Returns the tightest limit of a group and its ancestors.
fn tightest(group: &Path, limit: impl Fn(&Path) -> Option<(f64, f64)>) -> Option<f64> {
    let limits = group.ancestors().filter_map(limit);
    limits
        .map(|(quota, period)| quota / period)
        .min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::*;

    fn quota_of(files: &[(&str, &str)]) -> Option<f64> {
        let (_dir, root) = tree(files);
        quota(&root)
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
