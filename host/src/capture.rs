//! Captures of hosts: one text file with those files of `/proc` and `/sys` that show what a machine is. Tests of
//! detection and placement run on them.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::sys::files::Root;

/// The captured files. A `*` stands for any text within one component of a path.
const FILES: &[&str] = &[
    "proc/cpuinfo",
    "proc/device-tree/compatible",
    "proc/device-tree/hypervisor/compatible",
    "proc/device-tree/model",
    "proc/interrupts",
    "proc/irq/*/effective_affinity_list",
    "proc/irq/*/smp_affinity_list",
    "proc/loadavg",
    "proc/self/cgroup",
    "proc/self/status",
    "proc/sys/kernel/arch",
    "proc/sys/kernel/osrelease",
    "proc/sys/kernel/sched_rt_period_us",
    "proc/sys/kernel/sched_rt_runtime_us",
    "proc/sys/net/core/rmem_max",
    "proc/sys/net/netfilter/nf_conntrack_count",
    "proc/version",
    "sys/class/dmi/id/bios_vendor",
    "sys/class/dmi/id/board_vendor",
    "sys/class/dmi/id/product_name",
    "sys/class/dmi/id/product_version",
    "sys/class/dmi/id/sys_vendor",
    "sys/class/hwmon/hwmon*/curr*_input",
    "sys/class/hwmon/hwmon*/curr*_label",
    "sys/class/hwmon/hwmon*/energy*_input",
    "sys/class/hwmon/hwmon*/energy*_label",
    "sys/class/hwmon/hwmon*/in*_input",
    "sys/class/hwmon/hwmon*/in*_label",
    "sys/class/hwmon/hwmon*/in0_lcrit_alarm",
    "sys/class/hwmon/hwmon*/name",
    "sys/class/hwmon/hwmon*/power*_average",
    "sys/class/hwmon/hwmon*/power*_input",
    "sys/class/hwmon/hwmon*/power*_label",
    "sys/class/hwmon/hwmon*/temp*_input",
    "sys/class/hwmon/hwmon*/temp*_label",
    "sys/class/net/*/device",
    "sys/class/net/*/queues/rx-*/rps_cpus",
    "sys/class/power_supply/*/current_now",
    "sys/class/power_supply/*/power_now",
    "sys/class/power_supply/*/status",
    "sys/class/power_supply/*/voltage_now",
    "sys/class/powercap/*/energy_uj",
    "sys/class/powercap/*/max_energy_range_uj",
    "sys/class/powercap/*/name",
    "sys/class/thermal/cooling_device*/cur_state",
    "sys/class/thermal/cooling_device*/type",
    "sys/class/thermal/thermal_zone*/temp",
    "sys/class/thermal/thermal_zone*/trip_point_*_temp",
    "sys/class/thermal/thermal_zone*/trip_point_*_type",
    "sys/class/thermal/thermal_zone*/type",
    "sys/devices/platform/soc*/soc*/get_throttled",
    "sys/devices/system/clocksource/clocksource0/current_clocksource",
    "sys/devices/system/cpu/cpu*/cache/index*/shared_cpu_list",
    "sys/devices/system/cpu/cpu*/cpu_capacity",
    "sys/devices/system/cpu/cpu*/cpufreq",
    "sys/devices/system/cpu/cpu*/online",
    "sys/devices/system/cpu/cpu*/topology/thread_siblings_list",
    "sys/devices/system/cpu/cpufreq/policy*/affected_cpus",
    "sys/devices/system/cpu/cpufreq/policy*/cpuinfo_max_freq",
    "sys/devices/system/cpu/cpufreq/policy*/cpuinfo_min_freq",
    "sys/devices/system/cpu/cpufreq/policy*/related_cpus",
    "sys/devices/system/cpu/cpufreq/policy*/scaling_cur_freq",
    "sys/devices/system/cpu/cpufreq/policy*/scaling_driver",
    "sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
    "sys/devices/system/cpu/cpufreq/policy*/scaling_max_freq",
    "sys/devices/system/cpu/cpufreq/policy*/scaling_min_freq",
    "sys/devices/system/cpu/cpuidle/current_driver",
    "sys/devices/system/cpu/isolated",
    "sys/devices/system/cpu/nohz_full",
    "sys/devices/system/cpu/online",
    "sys/devices/system/cpu/present",
    "sys/hypervisor/type",
    "sys/kernel/realtime",
];

/// Returns the capture of the host below `root`, a line per file: its path, a tab, and its text as a JSON string of
/// Latin-1 characters, or `-> ` and the target of a symbolic link. Leaves out files that this process cannot read and
/// the serial number of the board.
pub fn capture(root: &Root) -> String {
    let paths = FILES.iter().flat_map(|pattern| matching(root, pattern));
    let line = |path: String| Some(format!("{path}\t{}\n", captured(&root.path(&path))?));
    paths.filter_map(line).collect()
}

/// Returns the paths below the root that match the pattern, sorted.
fn matching(root: &Root, pattern: &str) -> Vec<String> {
    let mut paths = vec![String::new()];
    for component in pattern.split('/') {
        let below = |path: String| match component.split_once('*') {
            None => vec![format!("{path}{component}/")],
            Some((prefix, suffix)) => {
                let names = root.names(&path, prefix);
                let names = names.iter().filter(|name| matches(name, prefix, suffix));
                names.map(|name| format!("{path}{name}/")).collect()
            }
        };
        paths = paths.into_iter().flat_map(below).collect();
    }
    let without_slash = |path: String| path.trim_end_matches('/').to_owned();
    paths.into_iter().map(without_slash).collect()
}

fn matches(name: &str, prefix: &str, suffix: &str) -> bool {
    name.strip_prefix(prefix)
        .is_some_and(|rest| rest.ends_with(suffix))
}

/// Returns the captured text of a file, or the target of a link. `None`: it does not exist, or is not readable.
fn captured(path: &Path) -> Option<String> {
    if let Ok(target) = fs::read_link(path) {
        return Some(format!("-> {}", target.display()));
    }
    let text: String = fs::read(path).ok()?.into_iter().map(char::from).collect();
    let lines = text.split_inclusive('\n');
    let public = lines.filter(|line| !line.starts_with("Serial"));
    Some(Value::from(public.collect::<String>()).to_string())
}
