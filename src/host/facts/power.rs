//! Reads the clocks and idle states that the kernel controls.

use serde::{Deserialize, Serialize};

use super::joined;
use crate::sys::files::Root;

/// One cpufreq policy: CPUs that share a clock (kernel doc admin-guide/pm/cpufreq).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

const CPUFREQ: &str = "sys/devices/system/cpu/cpufreq";

/// Returns every policy, by number.
pub(super) fn policies(root: &Root) -> Vec<CpufreqPolicy> {
    let policy = |name: String| {
        let directory = format!("{CPUFREQ}/{name}");
        let file = |file: &str| format!("{directory}/{file}");
        CpufreqPolicy {
            cpus: root.text(file("related_cpus")).unwrap_or_default(),
            driver: root.text(file("scaling_driver")),
            governor: root.text(file("scaling_governor")),
            min_khz: root.number(file("scaling_min_freq")),
            max_khz: root.number(file("scaling_max_freq")),
            current_khz: root.number(file("scaling_cur_freq")),
            hardware_max_khz: root.number(file("cpuinfo_max_freq")),
            name,
        }
    };
    root.names(CPUFREQ, "policy")
        .into_iter()
        .map(policy)
        .collect()
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
