//! What heat, power and clocks did to a case, from what the sensors said around its windows.

use super::numbers::decimals;
use crate::sample::Sample;
use crate::sys::pace::Pace;
use crate::sys::sensors::{Climate, throttle_words};

/// A CPU below this, in percent of its own clock at the start, ran slower: 2 % is more than the timing of
/// the chain wavers, and less than any step of a clock.
const SAME_CLOCK_PCT: f64 = 98.0;

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

/// The slowest that a lane's CPU ran, in percent of its own clock at the start.
pub(super) fn clock_min_pct(samples: &[Sample], at_start: &[Pace]) -> Option<f64> {
    let lanes = samples.iter().flat_map(|sample| &sample.lanes);
    let percents = lanes.filter_map(|lane| {
        let now = lane.pace?;
        let then = at_start.iter().find(|pace| pace.cpu == now.cpu)?;
        Some(100.0 * then.chain_ns as f64 / now.chain_ns as f64)
    });
    percents.min_by(f64::total_cmp).map(decimals::<1>)
}

/// Whether, and how, the board protected itself. Empty: it has no such sensor.
pub(super) fn throttled(samples: &[Sample]) -> String {
    let climates = || samples.iter().map(|sample| sample.climate);
    let bits = climates().filter_map(|climate: Climate| climate.throttle_bits);
    let bits = bits.reduce(|a, b| a | b);
    let cooling = climates().filter_map(|climate| climate.cooling).max();
    if bits.is_none() && cooling.is_none() {
        return String::new();
    }
    let mut words = throttle_words(bits.unwrap_or(0));
    if cooling == Some(true) {
        words.push("cooled by its clock");
    }
    if words.is_empty() {
        "no".to_owned()
    } else {
        words.join("+")
    }
}

/// What of it may mislead.
pub(super) fn warnings(
    samples: &[Sample],
    at_start: &[Pace],
    throttles_from_c: Option<u16>,
) -> Vec<String> {
    let mut warnings = Vec::new();
    let throttled = throttled(samples);
    if !throttled.is_empty() && throttled != "no" {
        warnings.push(format!("the board was not left at full speed: {throttled}"));
    }
    if let (Some(from_c), Some(hottest)) = (throttles_from_c, temp_c_max(samples)) {
        if hottest >= f64::from(from_c) {
            warnings.push(format!(
                "it reached the {from_c} C from which this board throttles (temp_c_max)"
            ));
        }
    }
    if clock_min_pct(samples, at_start).is_some_and(|percent| percent < SAME_CLOCK_PCT) {
        warnings
            .push("a CPU ran more than 2 % slower than at the start (clock_min_pct)".to_owned());
    }
    warnings
}
