//! Reads the limits of this process's control groups: the cpuset and the quota of CPU time.

use std::path::{Path, PathBuf};

use crate::sys::files::Root;

/// Returns the CPUs of the cpuset that this process is in: `cpuset.cpus.effective` (kernel doc admin-guide/cgroup-v2,
/// "Cpuset Interface Files") of the nearest group that has it, or `cpuset.effective_cpus` of version 1
/// (cgroup-v1/cpusets). `None` if no cpuset is visible.
pub(super) fn cpuset(root: &Root) -> Option<Vec<usize>> {
    let own = groups(root);
    let mut lists = own.iter().filter_map(|group| {
        let (hierarchy, file) = if group.controllers.is_empty() {
            ("", "cpuset.cpus.effective")
        } else if group.controls("cpuset") {
            ("cpuset", "cpuset.effective_cpus")
        } else {
            return None;
        };
        let mut directories = group.directories(hierarchy).into_iter();
        directories.find_map(|directory| root.cpu_list(directory.join(file)))
    });
    lists.find(|cpus| !cpus.is_empty())
}

/// A control group of this process (cgroups(7)).
struct Group {
    /// Controllers of its hierarchy, such as `cpu,cpuacct`. Empty for version 2.
    controllers: String,
    /// Path below the root of the hierarchy, without its first slash.
    path: String,
}

impl Group {
    /// Returns whether a hierarchy of version 1 has this controller.
    fn controls(&self, controller: &str) -> bool {
        self.controllers.split(',').any(|it| it == controller)
    }

    /// Returns the directory of the group and those of its ancestors, up to the root of the hierarchy. Version 1 has a
    /// link in the name of each controller to the directory of co-mounted ones.
    fn directories(&self, hierarchy: &str) -> Vec<PathBuf> {
        let top = Path::new("sys/fs/cgroup").join(hierarchy);
        let group = top.join(&self.path);
        let ancestors = group.ancestors().take_while(|it| it.starts_with(&top));
        ancestors.map(Path::to_owned).collect()
    }
}

/// Returns the control groups of this process.
fn groups(root: &Root) -> Vec<Group> {
    let own = root.text("proc/self/cgroup").unwrap_or_default();
    let groups = own.lines().filter_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        Some(Group {
            controllers: controllers.to_owned(),
            path: path.trim_start_matches('/').to_owned(),
        })
    });
    groups.collect()
}

/// Returns the tightest limit of the control groups that this process is in, in CPUs' worth of time: `cpu.max`
/// (kernel doc admin-guide/cgroup-v2, "CPU Interface Files"), or `cpu.cfs_quota_us` of version 1
/// (scheduler/sched-bwc).
pub(super) fn quota(root: &Root) -> Option<f64> {
    let limits = groups(root).into_iter().flat_map(|group| {
        let (hierarchy, limit): (_, fn(&Root, &Path) -> Option<f64>) =
            if group.controllers.is_empty() {
                ("", quota_v2)
            } else if group.controls("cpu") {
                ("cpu", quota_v1)
            } else {
                return Vec::new();
            };
        let directories = group.directories(hierarchy).into_iter();
        let limits = directories.filter_map(|directory| limit(root, &directory));
        limits.collect()
    });
    limits.min_by(f64::total_cmp)
}

fn quota_v2(root: &Root, group: &Path) -> Option<f64> {
    let text = root.text(group.join("cpu.max"))?;
    let (quota, period) = text.split_once(' ')?;
    // Without a limit the file has the word `max`, which does not parse.
    Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
}

fn quota_v1(root: &Root, group: &Path) -> Option<f64> {
    let quota: f64 = root.number(group.join("cpu.cfs_quota_us"))?;
    let period: f64 = root.number(group.join("cpu.cfs_period_us"))?;
    // No limit is shown as -1.
    (quota > 0.0).then_some(quota / period)
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
    fn a_cpuset_is_found_where_it_shares_a_hierarchy_and_not_above_its_root() {
        let found = |files: &[(&str, &str)]| {
            let (_dir, root) = tree(files);
            cpuset(&root)
        };
        let shared = ("proc/self/cgroup", "3:cpuset,cpu:/box/inner\n");
        let outer = ("sys/fs/cgroup/cpuset/box/cpuset.effective_cpus", "1-2\n");
        assert_eq!(found(&[shared, outer]), Some(vec![1, 2]));
        let unified = ("proc/self/cgroup", "0::/box\n");
        let top = ("sys/fs/cgroup/cpuset.cpus.effective", "0-3\n");
        assert_eq!(found(&[unified, top]), Some(vec![0, 1, 2, 3]));
        let above = ("sys/fs/cpuset.cpus.effective", "0\n");
        assert_eq!(found(&[unified, above]), None);
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
