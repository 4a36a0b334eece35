//! Tests of CPUs and control groups.

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
