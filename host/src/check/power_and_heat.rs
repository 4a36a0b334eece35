//! Checks clocks, heat and power supply.

use std::collections::BTreeSet;
use std::fmt::Display;

use super::{Finding, Subject, Unfit};
use crate::facts::CpufreqPolicy;
use crate::sys::sensors::throttle_words;
use crate::sys::temperature::POSSIBLE_MILLIC;

/// Returns the findings about clocks, heat and power supply.
pub(super) fn findings(subject: &Subject) -> Vec<Finding> {
    let mut findings: Vec<Finding> = [
        governor_finding(subject),
        firmware_throttling(subject),
        under_voltage(subject),
        kernel_throttling(subject),
        high_temperature(subject),
        missing_sensors(subject),
        impossible_temperatures(subject),
    ]
    .into_iter()
    .flatten()
    .collect();
    let policies = &subject.host.cpufreq;
    findings.extend(policies.iter().filter_map(low_clock));
    findings.extend(policies.iter().filter_map(capped_clock));
    findings
}

/// Reports governors that may lower the clock.
fn governor_finding(subject: &Subject) -> Option<Finding> {
    let policies = subject.host.cpufreq.iter();
    let policies: Vec<_> = policies.filter(|policy| may_lower_clock(policy)).collect();
    let governors = policies.iter().filter_map(|it| it.governor.as_deref());
    let governors: BTreeSet<&str> = governors.collect();
    let files = policies.first()?.files("scaling_governor");
    let governors = Vec::from_iter(governors).join("+");
    (!governors.is_empty())
        .then(|| Finding::unfit(Unfit::Governor { governors }, &[("files", &files)]))
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
    let (cpus, governor) = (&policy.cpus, policy.governor.as_deref()?);
    let is_low = now_khz < max_khz / 100 * LEAST_PCT;
    let seen = Unfit::LowClock {
        cpus: cpus.clone(),
        now_mhz: now_khz / 1000,
        max_mhz: max_khz / 1000,
        governor: governor.to_owned(),
    };
    let files = policy.files("scaling_governor");
    (is_low && !may_lower_clock(policy) && !reports_measured_clock(policy))
        .then(|| Finding::unfit(seen, &[("files", &files)]))
}

/// Lowest clock in percent of the highest one that still counts as the highest: drivers round the requested clock.
const LEAST_PCT: u64 = 95;

/// Returns whether the driver reports the measured clock, which is low while a CPU idles, instead of the requested one.
fn reports_measured_clock(policy: &CpufreqPolicy) -> bool {
    let driver = policy.driver.as_deref().unwrap_or_default();
    let measuring = ["pstate", "intel_cpufreq", "acpi-cpufreq", "cppc"];
    measuring.iter().any(|name| driver.contains(name))
}

/// Reports a policy whose maximum is below the hardware's. [`kernel_throttling`] tells whether heat is the reason.
fn capped_clock(policy: &CpufreqPolicy) -> Option<Finding> {
    let (max_khz, hardware_khz) = (policy.max_khz?, policy.hardware_max_khz?);
    let values: &[(&str, &dyn Display)] = &[
        ("cpus", &policy.cpus),
        ("max_mhz", &(max_khz / 1000)),
        ("hardware_mhz", &(hardware_khz / 1000)),
        ("hardware_khz", &hardware_khz),
        ("directory", &policy.directory()),
    ];
    (max_khz < hardware_khz).then(|| Finding::noted("capped-clock", values))
}

/// Reports throttling by the firmware. Bits 0 to 3 are the state now, 16 to 19 the state since the firmware was last
/// asked. Kernels with `rpi_volt` ask every 2 s.
fn firmware_throttling(subject: &Subject) -> Option<Finding> {
    const UNDER_VOLTAGE: u32 = 0x1_0001;
    const NOW: u32 = 0xf;
    let bits = subject.throttle_bits?;
    let (now, either) = (throttle_words(bits & NOW), throttle_words(bits));
    if either.is_empty() {
        return None;
    }
    let remedy = if bits & UNDER_VOLTAGE == 0 {
        "cool it: heat sink, fan, upright mounting; then"
    } else {
        "use the board's own power supply and a short cable;"
    };
    let (how, is_over) = (either.join(", "), now.is_empty());
    let seen = Unfit::FirmwareThrottles { how, is_over };
    Some(Finding::unfit(seen, &[("remedy", &remedy)]))
}

/// Reports a supply voltage that the kernel's driver finds too low, on kernels without the firmware's throttle bits.
fn under_voltage(subject: &Subject) -> Option<Finding> {
    let is_low = subject.throttle_bits.is_none() && subject.under_voltage == Some(true);
    is_low.then(|| Finding::unfit(Unfit::UnderVoltage, &[]))
}

/// Reports that the kernel holds a CPU's clock down against heat.
fn kernel_throttling(subject: &Subject) -> Option<Finding> {
    (subject.cooling == Some(true)).then(|| Finding::unfit(Unfit::KernelThrottles, &[]))
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
        return Some(Finding::unfit(seen, &[]));
    }
    let cooldown = subject.board.cooldown.map(|cooldown| cooldown.below_c);
    let below_c = cooldown.filter(reaches)?;
    let values: &[(&str, &dyn Display)] = &[("celsius", &celsius), ("below_c", &below_c)];
    Some(Finding::noted("warm-board", values))
}

/// Reports that clocks or temperatures of the CPUs cannot be read.
fn missing_sensors(subject: &Subject) -> Option<Finding> {
    let no_clock = subject.host.cpufreq.is_empty();
    let no_heat = subject.temperatures.hottest.is_none();
    let missing = match (no_clock, no_heat) {
        (false, false) => return None,
        (true, false) => "no clock (cpufreq)",
        (false, true) => "no temperature of the CPUs (thermal zones, hwmon)",
        (true, true) => "neither clock (cpufreq) nor temperature of the CPUs",
    };
    Some(Finding::noted("no-sensors", &[("missing", &missing)]))
}

/// Reports impossible temperatures, such as 2147483.6 C (amlogic-s9xxx-armbian #696).
fn impossible_temperatures(subject: &Subject) -> Option<Finding> {
    let (first, others) = subject.temperatures.ignored.split_first()?;
    let more = match others.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let values: &[(&str, &dyn Display)] = &[
        ("sensor", &first.0),
        ("value", &first.1),
        ("more", &more),
        ("coldest_c", &(POSSIBLE_MILLIC.start() / 1000)),
        ("hottest_c", &(POSSIBLE_MILLIC.end() / 1000)),
    ];
    Some(Finding::noted("impossible-temperatures", values))
}
