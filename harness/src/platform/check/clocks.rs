//! Clocks, heat and power.

use super::{Finding, Subject};
use crate::platform::host::CpufreqPolicy;
use crate::sys::sensors::throttle_words;

pub(super) fn findings(subject: &Subject) -> Vec<Finding> {
    let mut findings: Vec<Finding> = [
        governor(subject),
        firmware(subject),
        cooling(subject),
        heat(subject),
        blind(subject),
    ]
    .into_iter()
    .flatten()
    .collect();
    findings.extend(subject.host.cpufreq.iter().filter_map(capped));
    findings
}

const GOVERNORS: &str = "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor";

fn governor(subject: &Subject) -> Option<Finding> {
    let governor = subject.host.governor.as_deref()?;
    (governor != "performance").then(|| {
        Finding::invalid(
            format!("the cpufreq governor is {governor}"),
            "the clock follows the load or stays low: engines that wait more run at a lower clock",
            format!("echo performance | sudo tee {GOVERNORS}"),
        )
    })
}

/// By the administrator, or by the kernel because of heat: the cooling devices show which.
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

/// Bits 0 to 3 are now, 16 to 19 within the last seconds: the kernel clears them every 2 s.
fn firmware(subject: &Subject) -> Option<Finding> {
    const UNDER_VOLTAGE: u32 = 0x1_0001;
    let bits = subject.throttle_bits?;
    let words = throttle_words(bits);
    (!words.is_empty()).then(|| {
        Finding::invalid(
            format!("the firmware reports {}", words.join(", ")),
            "it lowers the clock to protect the board, under every governor",
            if bits & UNDER_VOLTAGE == 0 {
                "cool it: heat sink, fan, upright mounting; then vcgencmd get_throttled must say 0x0"
            } else {
                "use the board's own power supply and a short cable; vcgencmd get_throttled must say 0x0"
            },
        )
    })
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
    let degrees = subject.millic? / 1000;
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
    let no_heat = subject.millic.is_none();
    let missing = match (no_clock, no_heat) {
        (false, false) => return None,
        (true, false) => "no clock (cpufreq)",
        (false, true) => "no temperature (thermal zones)",
        (true, true) => "neither clock (cpufreq) nor temperature (thermal zones)",
    };
    Some(Finding::note(
        format!("the kernel reports {missing}"),
        "the columns for it stay empty; clock_min_pct is timed by the program itself",
        "none needed; on a board, the vendor's kernel may have the driver",
    ))
}
