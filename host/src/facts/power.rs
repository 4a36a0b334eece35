//! Reads the clocks and idle states that the kernel controls.

use serde::{Deserialize, Serialize};

use super::joined;
use crate::sys::files::Root;

/// One cpufreq policy: CPUs that share a clock (kernel doc admin-guide/pm/cpufreq).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpufreqPolicy {
    /// Name in the kernel, such as `policy4`.
    pub name: String,
    /// CPUs, as the kernel lists them.
    pub cpus: String,
    /// Driver that sets the clock.
    pub driver: Option<String>,
    /// Governor that chooses the clock.
    pub governor: Option<String>,
    /// Lowest clock that the governor may choose, in kHz.
    pub min_khz: Option<u64>,
    /// Highest clock that the governor may choose, in kHz.
    pub max_khz: Option<u64>,
    /// Last requested clock, in kHz. On a Raspberry Pi the firmware may run a lower one.
    pub current_khz: Option<u64>,
    /// Highest clock of the hardware, in kHz.
    pub hardware_max_khz: Option<u64>,
}

const CPUS: &str = "sys/devices/system/cpu";

impl CpufreqPolicy {
    /// Returns the directory of the policy's files, below the root.
    pub fn directory(&self) -> String {
        if self.is_of_cpu() {
            format!("{CPUS}/{}/cpufreq", self.name)
        } else {
            format!("{CPUS}/cpufreq/{}", self.name)
        }
    }

    /// Returns the pattern that matches a file of all policies of this machine, for a shell.
    pub fn files(&self, file: &str) -> String {
        if self.is_of_cpu() {
            format!("/{CPUS}/cpu*/cpufreq/{file}")
        } else {
            format!("/{CPUS}/cpufreq/policy*/{file}")
        }
    }

    /// Returns whether the policy is below a CPU, and named after it.
    fn is_of_cpu(&self) -> bool {
        self.name.starts_with("cpu")
    }

    fn read(root: &Root, name: String) -> Self {
        let mut policy = Self {
            name,
            ..Self::default()
        };
        let directory = policy.directory();
        let text = |file: &str| root.text(format!("{directory}/{file}"));
        let number = |file: &str| root.number(format!("{directory}/{file}"));
        policy.cpus = text("related_cpus")
            .or_else(|| text("affected_cpus"))
            .unwrap_or_default();
        policy.driver = text("scaling_driver");
        policy.governor = text("scaling_governor");
        policy.min_khz = number("scaling_min_freq");
        policy.max_khz = number("scaling_max_freq");
        policy.current_khz = number("scaling_cur_freq");
        policy.hardware_max_khz = number("cpuinfo_max_freq");
        policy
    }
}

/// Returns every policy, by number: those of `cpufreq/policyN`, and then those below CPUs that none of these has.
///
/// Before Linux 4.x there is no directory `cpufreq/policyN`: each CPU has the files in a directory of its own, or a link
/// to that of the CPU that it shares its clock with ("cpufreq: create cpu/cpufreq/policyX directories", 2015).
pub(crate) fn policies(root: &Root) -> Vec<CpufreqPolicy> {
    let read = |names: Vec<String>| {
        names
            .into_iter()
            .map(|name| CpufreqPolicy::read(root, name))
    };
    let mut found: Vec<CpufreqPolicy> =
        read(root.names(format!("{CPUS}/cpufreq"), "policy")).collect();
    let mut cpus = root.names(CPUS, "cpu");
    let number = |name: &String| name.trim_start_matches("cpu").parse::<usize>().ok();
    cpus.retain(|name| {
        number(name).is_some() && root.path(format!("{CPUS}/{name}/cpufreq")).is_dir()
    });
    cpus.sort_unstable_by_key(number);
    for mut policy in read(cpus) {
        if policy.cpus.is_empty() {
            policy
                .name
                .trim_start_matches("cpu")
                .clone_into(&mut policy.cpus);
        }
        // Other CPUs of a policy show it again, and so do new kernels below each CPU.
        let is_same = |known: &CpufreqPolicy| known.cpus.is_empty() || known.cpus == policy.cpus;
        if !found.iter().any(is_same) {
            found.push(policy);
        }
    }
    found
}

/// Returns the governors in use.
pub(super) fn governor(root: &Root) -> Option<String> {
    let governors = policies(root).into_iter().map(|policy| policy.governor);
    joined(governors.flatten().collect())
}

/// Returns the driver that puts idle CPUs to sleep. Without one, the kernel says `none`.
pub(super) fn cpuidle_driver(root: &Root) -> Option<String> {
    root.text("sys/devices/system/cpu/cpuidle/current_driver")
        .filter(|driver| driver != "none")
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::*;

    #[test]
    fn old_kernels_have_their_clocks_below_each_cpu() {
        let file = |cpu: usize, name: &str| format!("{CPUS}/cpu{cpu}/cpufreq/{name}");
        let mut files = Vec::new();
        for cpu in [0, 1, 2, 10] {
            let cpus = if cpu < 2 { "0 1" } else { "2 10" };
            files.push((file(cpu, "related_cpus"), cpus));
            files.push((file(cpu, "scaling_governor"), "ondemand\n"));
            files.push((file(cpu, "scaling_cur_freq"), "96000\n"));
        }
        files.push((format!("{CPUS}/cpufreq/ondemand/up_threshold"), "95\n"));
        files.push((format!("{CPUS}/cpuidle/current_driver"), "none\n"));
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, *text)).collect();
        let (_dir, root) = tree(&files);
        let found = policies(&root);
        let seen: Vec<(&str, &str, Option<u64>)> = found
            .iter()
            .map(|policy| (&*policy.name, &*policy.cpus, policy.current_khz))
            .collect();
        assert_eq!(
            seen,
            [
                ("cpu0", "0 1", Some(96_000)),
                ("cpu2", "2 10", Some(96_000))
            ]
        );
        assert_eq!(governor(&root).as_deref(), Some("ondemand"));
        // One that a new kernel lists is read once, and the others as well.
        let mixed = files.iter().copied().chain([
            ("sys/devices/system/cpu/cpufreq/policy0/related_cpus", "0 1"),
            (
                "sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq",
                "5\n",
            ),
        ]);
        let (_dir, mixed) = tree(&mixed.collect::<Vec<_>>());
        let names: Vec<String> = policies(&mixed).into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["policy0", "cpu2"]);
        let (directory, pattern) = (found[1].directory(), found[1].files("scaling_governor"));
        assert_eq!(directory, "sys/devices/system/cpu/cpu2/cpufreq");
        assert_eq!(
            pattern,
            "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
        );
    }
}
