//! What heat, power and clocks did to a case, from what the sensors said around its windows.

use super::numbers;
use super::rounding::decimals;
use crate::data::Sample;
use crate::sys::cpu_speed::CpuSpeed;
use crate::sys::idle::IdleTimes;
use crate::sys::sensors::{SensorReadings, throttle_words};

/// A CPU below this, in percent of its own clock at the start, ran slower. Judgement, not yet tried on a board:
/// the smallest step known of a Raspberry Pi is a seventh, of a 3B+ from 1400 to 1200 MHz (documentation,
/// `config_txt/overclocking.adoc`), and on a virtual machine up to one window in five read less than 95.
const SAME_CLOCK_PCT: f64 = 90.0;

fn celsius(millic: Option<i32>) -> Option<f64> {
    millic.map(|millic| f64::from(millic) / 1000.0)
}

/// Before the first window, in degrees Celsius.
pub(super) fn temp_c_start(samples: &[Sample]) -> Option<f64> {
    celsius(samples.first()?.climate.first_millic)
}

/// After the last window.
pub(super) fn temp_c_end(samples: &[Sample]) -> Option<f64> {
    celsius(samples.last()?.climate.last_millic)
}

/// The highest of all readings.
pub(super) fn temp_c_max(samples: &[Sample]) -> Option<f64> {
    let readings = samples.iter().map(|sample| sample.climate.hottest_millic);
    celsius(readings.max()?)
}

/// The lowest clock that cpufreq asked for at the closing of a window, in MHz.
pub(super) fn freq_low_mhz(samples: &[Sample]) -> Option<f64> {
    let readings = samples
        .iter()
        .filter_map(|sample| sample.climate.lowest_khz);
    readings.min().map(|khz| khz as f64 / 1000.0)
}

/// How fast the slowest of a window's lanes had its CPU, in percent of that CPU's own clock at the start.
fn clock_pct(sample: &Sample, at_start: &[CpuSpeed]) -> Option<f64> {
    let percents = sample.lanes.iter().filter_map(|lane| {
        let now = lane.pace?;
        let then = at_start.iter().find(|pace| pace.cpu == now.cpu)?;
        Some(100.0 * then.chain_ns as f64 / now.chain_ns as f64)
    });
    percents.min_by(f64::total_cmp)
}

/// The same of the slowest window.
pub(super) fn clock_min_pct(samples: &[Sample], at_start: &[CpuSpeed]) -> Option<f64> {
    let percents = samples
        .iter()
        .filter_map(|sample| clock_pct(sample, at_start));
    percents.min_by(f64::total_cmp).map(decimals::<1>)
}

/// Whether a CPU of a window ran slower than at the start.
pub(super) fn is_slow(sample: &Sample, at_start: &[CpuSpeed]) -> bool {
    clock_pct(sample, at_start).is_some_and(|percent| percent < SAME_CLOCK_PCT)
}

/// What the lanes' CPUs did while they had nothing to do: each of their idle states, and the part of the windows that
/// they were in it. Empty: nothing counts them.
pub(super) fn idle_states(samples: &[Sample]) -> String {
    const NEGLIGIBLE_PCT: f64 = 0.5;
    let (mut all, mut window_ns) = (IdleTimes::default(), 0.0);
    for sample in samples {
        all.add(&sample.idle_times);
        window_ns += sample.window_ns as f64 * sample.idle_times.cpus as f64;
    }
    if window_ns <= 0.0 {
        return String::new();
    }
    let shares = all.states.iter();
    let shares = shares.map(|state| {
        (
            &state.name,
            (100.0 * state.ns as f64 / window_ns).min(100.0),
        )
    });
    let used = shares.filter(|(_, pct)| *pct >= NEGLIGIBLE_PCT);
    let used: Vec<String> = used
        .map(|(name, pct)| format!("{name} {pct:.0} %"))
        .collect();
    if used.is_empty() && !all.is_empty() {
        "no".to_owned()
    } else {
        used.join(", ")
    }
}

/// The kernel has not cooled a CPU by its clock, and there is no firmware to ask.
const UNSEEN: &str = "not by the kernel";

/// Whether, and how, the board protected itself. Empty: it has no such sensor.
pub(super) fn throttled(samples: &[Sample]) -> String {
    let climates = || samples.iter().map(|sample| sample.climate);
    let bits = climates().filter_map(|climate: SensorReadings| climate.throttle_bits);
    let bits = bits.reduce(|a, b| a | b);
    let cooling = climates().filter_map(|climate| climate.cooling).max();
    let low = climates().filter_map(|climate| climate.under_voltage).max();
    if bits.is_none() && cooling.is_none() && low != Some(true) {
        return String::new();
    }
    let under_voltage = u32::from(low == Some(true));
    let mut words = throttle_words(bits.unwrap_or(0) | under_voltage);
    if cooling == Some(true) {
        words.push("cooled by its clock");
    }
    if words.is_empty() {
        // Where a firmware throttles behind the kernel's back, only the firmware can say that it did not.
        let known = if bits.is_some() { "no" } else { UNSEEN };
        known.to_owned()
    } else {
        words.join("+")
    }
}

/// Whether the board protected itself in a window.
pub(super) fn is_throttled(sample: &Sample) -> bool {
    let climate = sample.climate;
    climate.under_voltage == Some(true)
        || climate.cooling == Some(true)
        || climate.throttle_bits.is_some_and(|bits| bits != 0)
}

/// What of it may mislead.
pub(super) fn warnings(
    samples: &[Sample],
    at_start: &[CpuSpeed],
    throttles_from_c: Option<u16>,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let throttled = throttled(samples);
    if !["", "no", UNSEEN].contains(&throttled.as_str()) {
        warnings.push(format!("the board was throttled: {throttled}"));
    }
    if let (Some(from_c), Some(hottest)) = (throttles_from_c, temp_c_max(samples)) {
        if hottest >= f64::from(from_c) {
            warnings.push(format!(
                "the temperature reached {from_c} C, where this board throttles (temp_c_max)"
            ));
        }
    }
    let slow = samples
        .iter()
        .filter(|sample| is_slow(sample, at_start))
        .count();
    if numbers::move_estimates(slow, samples.len()) {
        warnings
            .push("a CPU ran more than 10 % slower than at the start (clock_min_pct)".to_owned());
    }
    warnings
}
