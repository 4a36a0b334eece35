//! Columns and warnings about temperature, power supply and CPU clocks, from sensor readings around the windows of a
//! case.

use std::fmt;

use super::CaseWarning;
use super::derived;
use super::rounding::decimals;
use crate::data::Sample;
use crate::sys::cpu_speed::CpuSpeed;
use crate::sys::idle_states::IdleTimes;
use crate::sys::sensors::{SensorReadings, throttle_words};

/// Limit below which a CPU counts as slower, in percent of its own speed at the start. Judgement, not yet tried on a
/// board: the smallest known step of a Raspberry Pi is a seventh, from 1400 to 1200 MHz on a 3B+ (documentation,
/// `config_txt/overclocking.adoc`). On a virtual machine, up to one window in five read less than 95.
const SAME_CLOCK_PCT: f64 = 90.0;

/// Returns a temperature in degrees Celsius.
pub(super) fn celsius(millic: Option<i32>) -> Option<f64> {
    millic.map(|millic| f64::from(millic) / 1000.0)
}

/// Returns the highest temperature of all readings, in degrees Celsius.
pub(super) fn temp_c_max(samples: &[Sample]) -> Option<f64> {
    let readings = samples.iter().map(|sample| sample.climate.hottest_millic);
    celsius(readings.max()?)
}

/// Returns the lowest clock that cpufreq requested at the closing of a window, in MHz.
pub(super) fn freq_low_mhz(samples: &[Sample]) -> Option<f64> {
    let readings = samples.iter().filter_map(|it| it.climate.lowest_khz);
    readings.min().map(|khz| khz as f64 / 1000.0)
}

/// Returns the speed of the slowest CPU of the bench threads in a window, in percent of its own speed at the start.
fn clock_pct(sample: &Sample, at_start: &[CpuSpeed]) -> Option<f64> {
    let percents = sample.threads.iter().filter_map(|thread| {
        let now = thread.pace?;
        let then = at_start.iter().find(|pace| pace.cpu == now.cpu)?;
        Some(100.0 * then.chain_ns as f64 / now.chain_ns as f64)
    });
    percents.min_by(f64::total_cmp)
}

/// Returns the speed of the slowest CPU in the slowest window, in percent of its own speed at the start.
pub(super) fn clock_min_pct(samples: &[Sample], at_start: &[CpuSpeed]) -> Option<f64> {
    let percents = samples.iter().filter_map(|it| clock_pct(it, at_start));
    percents.min_by(f64::total_cmp).map(decimals::<1>)
}

/// Returns whether a CPU in a window was slower than at the start.
pub(super) fn is_slow(sample: &Sample, at_start: &[CpuSpeed]) -> bool {
    clock_pct(sample, at_start).is_some_and(|percent| percent < SAME_CLOCK_PCT)
}

/// Returns the idle states of the CPUs of the bench threads, each with its share of the windows. Empty: not counted.
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
    let states = all.states.iter();
    let shares = states.map(|state| (&state.name, 100.0 * state.ns as f64 / window_ns));
    let used = shares.filter(|(_, pct)| *pct >= NEGLIGIBLE_PCT);
    let used = used.map(|(name, pct)| format!("{name} {:.0} %", pct.min(100.0)));
    let used: Vec<String> = used.collect();
    if used.is_empty() && !all.is_empty() {
        "no".to_owned()
    } else {
        used.join(", ")
    }
}

/// Throttling of a board during a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Throttled {
    /// No sensor tells.
    #[default]
    Unknown,
    /// None.
    No,
    /// None by the kernel. No firmware says whether it throttled.
    NotByKernel,
    /// The board throttled, in these ways.
    Yes(String),
}

impl fmt::Display for Throttled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "",
            Self::No => "no",
            Self::NotByKernel => "not by the kernel",
            Self::Yes(how) => how,
        })
    }
}

/// Returns how the board throttled, if it did.
pub(super) fn throttled(samples: &[Sample]) -> Throttled {
    let climates = || samples.iter().map(|sample| sample.climate);
    let bits = climates().filter_map(|climate: SensorReadings| climate.throttle_bits);
    let bits = bits.reduce(|a, b| a | b);
    let cooling = climates().filter_map(|climate| climate.cooling).max();
    let low = climates().filter_map(|climate| climate.under_voltage).max();
    if bits.is_none() && cooling.is_none() && low != Some(true) {
        return Throttled::Unknown;
    }
    let under_voltage = u32::from(low == Some(true));
    let mut words = throttle_words(bits.unwrap_or(0) | under_voltage);
    if cooling == Some(true) {
        words.push("cooled by its clock");
    }
    match (words.is_empty(), bits) {
        (false, _) => Throttled::Yes(words.join("+")),
        // Firmware can throttle without the kernel, so only the firmware can rule it out.
        (true, Some(_)) => Throttled::No,
        (true, None) => Throttled::NotByKernel,
    }
}

/// Returns whether the board was throttled in a window.
pub(super) fn is_throttled(sample: &Sample) -> bool {
    let climate = sample.climate;
    climate.under_voltage == Some(true)
        || climate.cooling == Some(true)
        || climate.throttle_bits.is_some_and(|bits| bits != 0)
}

/// Returns the warnings about throttling, temperature and slow CPUs.
pub(super) fn warnings(
    samples: &[Sample],
    at_start: &[CpuSpeed],
    throttles_from_c: Option<u16>,
) -> Vec<CaseWarning> {
    let mut warnings = Vec::new();
    if let Throttled::Yes(how) = throttled(samples) {
        warnings.push(CaseWarning::Throttled { how });
    }
    let hottest_c = temp_c_max(samples);
    let is_reached = |&from_c: &u16| hottest_c.is_some_and(|c| c >= f64::from(from_c));
    if let Some(throttles_from_c) = throttles_from_c.filter(is_reached) {
        warnings.push(CaseWarning::Hot { throttles_from_c });
    }
    let slow = samples.iter().filter(|it| is_slow(it, at_start)).count();
    if derived::move_estimates(slow, samples.len()) {
        warnings.push(CaseWarning::SlowerCpu);
    }
    warnings
}
