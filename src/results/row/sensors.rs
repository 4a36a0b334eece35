//! Columns and warnings from sensors: temperature, throttling, power supply and clocks of the CPUs, power and energy.

use super::column::decimals;
use super::input::safe;
use super::{CaseWarning, Environment, derived};
use crate::data::Sample;
use crate::stats::{self, Estimate};
use crate::sys::cpu_speed::CpuSpeed;
use crate::sys::idle_states::IdleTimes;
use crate::sys::power::IdlePower;
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
        safe(&used.join(", "))
    }
}

/// What the column `throttled` says if the board did not throttle, as far as that is known.
pub(super) const NOT_THROTTLED: [&str; 3] = ["", "no", "not by the kernel"];

/// Returns how the board throttled, or one of [`NOT_THROTTLED`].
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
    match (words.is_empty(), bits) {
        (false, _) => words.join("+"),
        // Firmware can throttle without the kernel, so only the firmware can rule it out.
        (true, Some(_)) => "no".to_owned(),
        (true, None) => "not by the kernel".to_owned(),
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
pub(super) fn warnings(samples: &[Sample], environment: &Environment) -> Vec<CaseWarning> {
    let mut warnings = Vec::new();
    let how = throttled(samples);
    if !NOT_THROTTLED.contains(&how.as_str()) {
        warnings.push(CaseWarning::Throttled { how });
    }
    let hottest_c = temp_c_max(samples);
    let is_reached = |&from_c: &u16| hottest_c.is_some_and(|c| c >= f64::from(from_c));
    if let Some(throttles_from_c) = environment.throttles_from_c.filter(is_reached) {
        warnings.push(CaseWarning::Hot { throttles_from_c });
    }
    let is_slow = |sample: &&Sample| is_slow(sample, &environment.cpu_speeds);
    let slow = samples.iter().filter(is_slow).count();
    if derived::move_estimates(slow, samples.len()) {
        warnings.push(CaseWarning::SlowerCpu);
    }
    warnings
}

/// Normal quantile of a 95 % interval.
const Z: f64 = 1.96;

/// Estimates of power and energy from the windows of a case.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Energy {
    /// Power of the machine in the windows, in watts.
    pub(super) power_w: Option<Estimate>,
    /// Power of the idle machine, in watts.
    pub(super) idle_w: Option<f64>,
    /// Energy above the idle power per datagram received, in nanojoules.
    pub(super) nj_per_packet: Option<Estimate>,
}

impl Energy {
    /// Estimates them. `idle` has the idle powers before the first window, and after the last one if it was measured by
    /// then.
    ///
    /// `None`: a window lacks its power. A case is compared with others by all of its windows.
    pub(super) fn of(samples: &[Sample], idle: &[IdlePower]) -> Option<Self> {
        if unmetered(samples) > 0 {
            return None;
        }
        let watts = |sample: &Sample| Some(sample.power_uw? as f64 / 1e6);
        let powers: Vec<f64> = samples.iter().filter_map(watts).collect();
        let idle = idle_w(idle);
        // The idle power is the same for all windows. So each window has its own energy, and the error of the idle
        // power is added afterwards.
        let nj_per_packet = idle.and_then(|(idle_w, idle_reach_w)| {
            let per_packet = |sample: &Sample| {
                let pps = derived::received_pps(sample).filter(|&pps| pps > 0.0)?;
                Some((1e9 * (watts(sample)? - idle_w) / pps, 1e9 / pps))
            };
            let (energies, per_watt): (Vec<f64>, Vec<f64>) =
                samples.iter().filter_map(per_packet).unzip();
            let reach = idle_reach_w * stats::estimate(&per_watt)?.middle;
            Some(widened(stats::estimate(&energies)?, reach))
        });
        Some(Self {
            power_w: stats::estimate(&powers),
            idle_w: idle.map(|(idle_w, _)| idle_w),
            nj_per_packet,
        })
    }
}

/// Returns a warning if the power of a window is not known, although the run has a meter.
pub(super) fn power_unknown(samples: &[Sample], meter: Option<&str>) -> Option<CaseWarning> {
    let (meter, without) = (meter?, unmetered(samples));
    (without > 0).then(|| CaseWarning::PowerUnknown {
        meter: meter.to_owned(),
        without,
        windows: samples.len(),
    })
}

/// Returns the number of windows whose power is not known.
fn unmetered(samples: &[Sample]) -> usize {
    let without = samples.iter().filter(|sample| sample.power_uw.is_none());
    without.count()
}

/// Returns the idle power and the reach of its 95 % interval, in watts: the error of the means, or half of the drift
/// from the first measurement to the last if that is more.
fn idle_w(idle: &[IdlePower]) -> Option<(f64, f64)> {
    let count = idle.len() as f64;
    let watts = |uw: u64| uw as f64 / 1e6;
    let means = || idle.iter().map(|idle| watts(idle.mean_uw));
    let lowest = means().min_by(f64::total_cmp)?;
    let highest = means().max_by(f64::total_cmp)?;
    let variances = idle.iter().map(|idle| watts(idle.error_uw).powi(2));
    let error = variances.sum::<f64>().sqrt() / count;
    let reach = (Z * error).max((highest - lowest) / 2.0);
    Some((means().sum::<f64>() / count, reach))
}

/// Widens an interval by an independent error.
fn widened(estimate: Estimate, reach: f64) -> Estimate {
    let side = |bound: f64| (bound - estimate.middle).hypot(reach);
    Estimate {
        low: estimate.low.map(|low| estimate.middle - side(low)),
        high: estimate.high.map(|high| estimate.middle + side(high)),
        ..estimate
    }
}
