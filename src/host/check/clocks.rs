//! Checks clocks, heat and power.

use super::{Finding, Subject};
use crate::host::facts::CpufreqPolicy;
use crate::sys::sensors::throttle_words;

pub(super) fn findings(subject: &Subject) -> Vec<Finding> {
    let mut findings: Vec<Finding> = [
        governor(subject),
        firmware(subject),
        cooling(subject),
        heat(subject),
        blind(subject),
        nonsense(subject),
    ]
    .into_iter()
    .flatten()
    .collect();
    let policies = &subject.host.cpufreq;
    findings.extend(policies.iter().filter_map(held));
    findings.extend(policies.iter().filter_map(capped));
    findings
}

const GOVERNORS: &str = "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor";

/// Finds governors that may change the clock.
fn governor(subject: &Subject) -> Option<Finding> {
    let moving = subject.host.cpufreq.iter().filter(|policy| moves(policy));
    let mut governors: Vec<&str> = moving.filter_map(|it| it.governor.as_deref()).collect();
    governors.sort_unstable();
    governors.dedup();
    (!governors.is_empty()).then(|| {
        Finding::invalid(
            format!("the cpufreq governor is {}", governors.join("+")),
            "the clock follows the load or stays low: engines that wait more run at a lower clock",
            format!("echo performance | sudo tee {GOVERNORS}"),
        )
    })
}

/// Returns whether a governor may choose another clock than the highest one. It cannot if it has no choice, or if
/// somebody set the highest one by hand (`userspace`, kernel doc admin-guide/pm/cpufreq).
fn moves(policy: &CpufreqPolicy) -> bool {
    let has_choice = policy.max_khz.is_none() || policy.min_khz != policy.max_khz;
    match policy.governor.as_deref() {
        None | Some("performance") => false,
        Some("userspace") => has_choice && policy.current_khz.is_none(),
        Some(_) => has_choice,
    }
}

/// Finds a clock that stays low: after an under-voltage or `initial_turbo`, the governor is `performance` all the
/// same (raspberrypi/firmware #1469).
fn held(policy: &CpufreqPolicy) -> Option<Finding> {
    let (now_khz, max_khz) = (policy.current_khz?, policy.max_khz?);
    let (cpus, governor) = (&policy.cpus, policy.governor.as_deref()?);
    let is_low = now_khz < max_khz / 100 * LEAST_PCT;
    (is_low && !moves(policy) && !measures(policy)).then(|| {
        let (now, most) = (now_khz / 1000, max_khz / 1000);
        Finding::invalid(
            format!("CPUs {cpus} run at {now} MHz of {most}, and the governor is {governor}"),
            "the numbers would be those of a slower board",
            format!(
                "echo powersave | sudo tee {GOVERNORS}\n\
                 echo performance | sudo tee {GOVERNORS}\n\
                 if it stays low: power supply, cooling; on a Raspberry Pi, vcgencmd measure_clock arm"
            ),
        )
    })
}

/// Lowest clock in percent of the highest one that still counts as the highest: drivers round the requested clock.
const LEAST_PCT: u64 = 95;

/// Returns whether the driver shows the measured clock, which is low while a CPU idles, and not the requested one.
fn measures(policy: &CpufreqPolicy) -> bool {
    let driver = policy.driver.as_deref().unwrap_or_default();
    let measuring = ["pstate", "intel_cpufreq", "acpi-cpufreq", "cppc"];
    measuring.iter().any(|name| driver.contains(name))
}

/// Finds clocks that are capped, by the administrator or by the kernel because of heat. Cooling devices show which.
fn capped(policy: &CpufreqPolicy) -> Option<Finding> {
    let (max_khz, hardware_khz) = (policy.max_khz?, policy.hardware_max_khz?);
    let CpufreqPolicy { name, cpus, .. } = policy;
    (max_khz < hardware_khz).then(|| {
        Finding::note(
            format!(
                "CPUs {cpus} are capped at {} MHz of {}",
                max_khz / 1000,
                hardware_khz / 1000
            ),
            "this is slower than the board can run",
            format!(
                "echo {hardware_khz} | sudo tee /sys/devices/system/cpu/cpufreq/{name}/scaling_max_freq"
            ),
        )
    })
}

/// Finds throttling that the firmware reports. Bits 0 to 3 are the state now, 16 to 19 the state since the firmware
/// was last asked. Kernels with `rpi_volt` ask every 2 s.
fn firmware(subject: &Subject) -> Option<Finding> {
    const UNDER_VOLTAGE: u32 = 0x1_0001;
    const NOW: u32 = 0xf;
    let bits = subject.throttle_bits?;
    let (now, either) = (throttle_words(bits & NOW), throttle_words(bits));
    let seen = match (now.is_empty(), either.is_empty()) {
        (_, true) => return None,
        (false, _) => format!("the firmware reports {}", either.join(", ")),
        (true, _) => format!(
            "the firmware reports {}: not now, but since it was last asked",
            either.join(", ")
        ),
    };
    Some(Finding::invalid(
        seen,
        "it lowers the clock to protect the board, under every governor",
        if bits & UNDER_VOLTAGE == 0 {
            "cool it: heat sink, fan, upright mounting; then vcgencmd get_throttled must say 0x0"
        } else {
            "use the board's own power supply and a short cable; vcgencmd get_throttled must say 0x0"
        },
    ))
}

fn cooling(subject: &Subject) -> Option<Finding> {
    subject.cooling.filter(|&is_on| is_on).map(|_| {
        Finding::invalid(
            "the kernel throttles a CPU because of heat",
            "a cooling device of kind cpufreq in /sys/class/thermal is not in its state 0",
            "cool it: heat sink, fan; then check again",
        )
    })
}

fn heat(subject: &Subject) -> Option<Finding> {
    let degrees = subject.temperatures.hottest.as_ref()?.millic / 1000;
    let throttle_from = subject
        .board
        .throttle
        .as_ref()
        .map(|throttle| throttle.from_c);
    let limit = subject.board.cooldown.map(|cooldown| cooldown.below_c);
    if let Some(from_c) = throttle_from.filter(|&from_c| degrees >= i32::from(from_c)) {
        return Some(Finding::invalid(
            format!("the temperature is {degrees} C, and this board throttles from {from_c} C on"),
            "the clock drops during the measurement",
            "let it cool down, or add a heat sink or fan",
        ));
    }
    let below_c = limit.filter(|&below_c| degrees >= i32::from(below_c))?;
    Some(Finding::note(
        format!("the temperature is {degrees} C, and the profile asks for less than {below_c} C"),
        "the sweep waits for that before each block, up to the time limit in the profile",
        "let it cool down, or add a fan",
    ))
}

fn blind(subject: &Subject) -> Option<Finding> {
    let no_clock = subject.host.cpufreq.is_empty();
    let no_heat = subject.temperatures.hottest.is_none();
    let missing = match (no_clock, no_heat) {
        (false, false) => return None,
        (true, false) => "no clock (cpufreq)",
        (false, true) => "no temperature of the CPUs (thermal zones, hwmon)",
        (true, true) => "neither clock (cpufreq) nor temperature of the CPUs",
    };
    Some(Finding::note(
        format!("the kernel reports {missing}"),
        "the columns for it stay empty; clock_min_pct is timed by the program itself",
        "none needed; on a board, the vendor's kernel may have the driver",
    ))
}

/// Finds impossible temperatures, such as 2147483.6 C (amlogic-s9xxx-armbian #696).
fn nonsense(subject: &Subject) -> Option<Finding> {
    let ignored = &subject.temperatures.ignored;
    let shown = ignored.iter().take(MOST_SENSORS);
    let shown: Vec<String> = shown
        .map(|(name, value)| format!("{name} ({value})"))
        .collect();
    let more = ignored.len().saturating_sub(MOST_SENSORS);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    (!ignored.is_empty()).then(|| {
        Finding::note(
            format!(
                "ignored, as no chip is that hot or cold: {}{more}",
                shown.join(", ")
            ),
            "the sensor or its driver is broken: nothing waits for it, and no column has it",
            "none needed; what is believed is between -40 and 150 C",
        )
    })
}

/// Largest number of sensors named in one line.
const MOST_SENSORS: usize = 1;
