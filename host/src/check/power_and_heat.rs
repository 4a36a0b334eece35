//! Checks clocks, heat and power supply.

use std::collections::BTreeSet;

use serde_json::json;

use super::{Finding, Subject, Unfit};
use crate::facts::CpufreqPolicy;
use crate::sys::sensors::throttle_words;
use crate::sys::temperature::POSSIBLE_MILLIC;

/// Returns the findings about clocks, heat and power supply.
pub(super) fn findings(subject: &Subject) -> Vec<Finding> {
    let sensors = &subject.sensors;
    // By the kernel's driver, where there are no throttle bits of the firmware.
    let under_voltage = sensors.throttle_bits.is_none() && sensors.under_voltage == Some(true);
    let throttles = sensors.cooling == Some(true);
    let all = [
        governor_finding(subject),
        firmware_throttling(subject),
        under_voltage.then(|| Finding::unfit(Unfit::UnderVoltage)),
        throttles.then(|| Finding::unfit(Unfit::KernelThrottles)),
        high_temperature(subject),
        missing_sensors(subject),
        impossible_temperatures(subject),
    ];
    let policies = &subject.host.cpufreq;
    let clocks = policies.iter().filter_map(low_clock);
    let caps = policies.iter().filter_map(capped_clock);
    all.into_iter()
        .flatten()
        .chain(clocks)
        .chain(caps)
        .collect()
}

/// Reports governors that may lower the clock.
fn governor_finding(subject: &Subject) -> Option<Finding> {
    let policies = subject.host.cpufreq.iter();
    let policies: Vec<_> = policies.filter(|policy| may_lower_clock(policy)).collect();
    let governors = policies.iter().filter_map(|it| it.governor.as_deref());
    let governors = Vec::from_iter(governors.collect::<BTreeSet<_>>()).join("+");
    let values = json!({"files": policies.first()?.files("scaling_governor")});
    Some(Finding::unfit_with(Unfit::Governor { governors }, values))
}

/// Returns whether a governor may choose another clock than the highest one. Under `userspace`, somebody sets the clock
/// by hand (kernel doc admin-guide/pm/cpufreq): a readable clock then counts as fixed, and [`low_clock`] checks its
/// height.
fn may_lower_clock(policy: &CpufreqPolicy) -> bool {
    let has_choice = policy.max_khz.is_none() || policy.min_khz != policy.max_khz;
    match policy.governor.as_deref() {
        None | Some("performance") => false,
        Some("userspace") => has_choice && policy.current_khz.is_none(),
        Some(_) => has_choice,
    }
}

/// Reports CPUs that run below their maximum although the governor should hold it there, as after an under-voltage or
/// `initial_turbo` (raspberrypi/firmware #1469).
fn low_clock(policy: &CpufreqPolicy) -> Option<Finding> {
    let (now_khz, max_khz) = (policy.current_khz?, policy.max_khz?);
    let is_low = now_khz < max_khz / 100 * LEAST_PCT;
    let seen = Unfit::LowClock {
        cpus: policy.cpus.clone(),
        now_mhz: now_khz / 1000,
        max_mhz: max_khz / 1000,
        governor: policy.governor.clone()?,
    };
    let values = json!({"files": policy.files("scaling_governor")});
    (is_low && !may_lower_clock(policy) && !reports_measured_clock(policy))
        .then(|| Finding::unfit_with(seen, values))
}

/// Lowest clock in percent of the highest one that still counts as the highest: drivers round the requested clock.
const LEAST_PCT: u64 = 95;

/// Returns whether the driver reports the measured clock, which is low while a CPU idles, instead of the requested one.
fn reports_measured_clock(policy: &CpufreqPolicy) -> bool {
    let driver = policy.driver.as_deref().unwrap_or_default();
    let measuring = ["pstate", "intel_cpufreq", "acpi-cpufreq", "cppc"];
    measuring.iter().any(|name| driver.contains(name))
}

/// Reports a policy whose maximum is below the hardware's. The finding about throttling tells whether heat is the
/// reason.
fn capped_clock(policy: &CpufreqPolicy) -> Option<Finding> {
    let (max_khz, hardware_khz) = (policy.max_khz?, policy.hardware_max_khz?);
    let values = json!({
        "cpus": policy.cpus,
        "directory": policy.directory,
        "hardware_khz": hardware_khz,
        "max_mhz": max_khz / 1000,
        "hardware_mhz": hardware_khz / 1000,
    });
    (max_khz < hardware_khz).then(|| Finding::noted("capped-clock", &values))
}

/// Reports throttling by the firmware. Bits 0 to 3 are the state now, 16 to 19 the state since the firmware was last
/// asked. Kernels with `rpi_volt` ask every 2 s.
fn firmware_throttling(subject: &Subject) -> Option<Finding> {
    const NOW: u32 = 0xf;
    let bits = subject.sensors.throttle_bits?;
    let how = throttle_words(bits).join(", ");
    let is_over = bits & NOW == 0;
    (!how.is_empty()).then(|| Finding::unfit(Unfit::FirmwareThrottles { how, is_over }))
}

/// Reports a temperature at which the board throttles, or for which the profile wants a cool-down.
fn high_temperature(subject: &Subject) -> Option<Finding> {
    let celsius = subject.temperatures.hottest.as_ref()?.millic / 1000;
    let reaches = |limit_c: &u16| celsius >= i32::from(*limit_c);
    let throttle = subject.board.throttle.map(|throttle| throttle.from_c);
    if let Some(throttles_from_c) = throttle.filter(reaches) {
        let seen = Unfit::HotBoard {
            celsius,
            throttles_from_c,
        };
        return Some(Finding::unfit(seen));
    }
    let cooldown = subject.board.cooldown.map(|cooldown| cooldown.below_c);
    let values = json!({"celsius": celsius, "below_c": cooldown.filter(reaches)?});
    Some(Finding::noted("warm-board", &values))
}

/// Reports that clocks or temperatures of the CPUs cannot be read.
fn missing_sensors(subject: &Subject) -> Option<Finding> {
    let mut missing = Vec::new();
    if subject.host.cpufreq.is_empty() {
        missing.push("no clock (cpufreq)");
    }
    if subject.temperatures.hottest.is_none() {
        missing.push("no temperature of the CPUs (thermal zones, hwmon)");
    }
    let values = json!({"missing": missing.join(", ")});
    (!missing.is_empty()).then(|| Finding::noted("no-sensors", &values))
}

/// Reports impossible temperatures, such as 2147483.6 C (amlogic-s9xxx-armbian #696).
fn impossible_temperatures(subject: &Subject) -> Option<Finding> {
    let ignored = &subject.temperatures.ignored;
    let each = ignored
        .iter()
        .map(|(sensor, value)| format!("{sensor} ({value})"));
    let values = json!({
        "each": each.collect::<Vec<_>>().join(", "),
        "coldest_c": POSSIBLE_MILLIC.start() / 1000,
        "hottest_c": POSSIBLE_MILLIC.end() / 1000,
    });
    (!ignored.is_empty()).then(|| Finding::noted("impossible-temperatures", &values))
}
