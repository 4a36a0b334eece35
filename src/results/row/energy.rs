//! Power and energy of a case.

use super::CaseWarning;
use super::derived::received_pps;
use crate::data::Sample;
use crate::stats::{self, Estimate};
use crate::sys::power::IdlePower;

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
    /// Nothing is known if a window lacks its power: a case is compared with others by all of its windows.
    pub(super) fn of(samples: &[Sample], idle: &[IdlePower]) -> Self {
        if unmetered(samples) > 0 {
            return Self::default();
        }
        let watts = |sample: &Sample| Some(sample.power_uw? as f64 / 1e6);
        let powers: Vec<f64> = samples.iter().filter_map(watts).collect();
        let idle = idle_w(idle);
        // The idle power is the same for all windows. So each window has its own energy, and the error of the idle
        // power is added afterwards.
        let nj_per_packet = idle.and_then(|(idle_w, idle_reach_w)| {
            let per_packet = |sample: &Sample| {
                let pps = received_pps(sample).filter(|&pps| pps > 0.0)?;
                Some((1e9 * (watts(sample)? - idle_w) / pps, 1e9 / pps))
            };
            let (energies, per_watt): (Vec<f64>, Vec<f64>) =
                samples.iter().filter_map(per_packet).unzip();
            let reach = idle_reach_w * stats::estimate(&per_watt)?.middle;
            Some(widened(stats::estimate(&energies)?, reach))
        });
        Self {
            power_w: stats::estimate(&powers),
            idle_w: idle.map(|(idle_w, _)| idle_w),
            nj_per_packet,
        }
    }
}

/// Returns a warning if the power of a window is not known, although the run has a meter.
pub(super) fn warning(samples: &[Sample], meter: Option<&str>) -> Option<CaseWarning> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::tests::window;

    const IDLE: IdlePower = IdlePower {
        mean_uw: 2_000_000,
        error_uw: 0,
    };

    fn metered(round: u32, power_uw: u64) -> Sample {
        Sample {
            power_uw: Some(power_uw),
            ..window(round)
        }
    }

    #[test]
    fn the_idle_power_is_subtracted_and_the_rest_divided_by_datagrams() {
        let samples = [metered(1, 7_000_000), metered(2, 7_000_000)];
        let energy = Energy::of(&samples, &[IDLE]);
        let pps = received_pps(&samples[0]).expect("a rate");
        let per_packet = energy.nj_per_packet.expect("an energy");
        assert!((per_packet.middle / (5e9 / pps) - 1.0).abs() < 1e-12);
        assert_eq!(energy.power_w.map(|power| power.middle), Some(7.0));
        assert_eq!(energy.idle_w, Some(2.0));
    }

    #[test]
    fn the_error_and_the_drift_of_the_idle_power_widen_the_interval() {
        let samples = [metered(1, 7_000_000), metered(2, 7_000_000)];
        let pps = received_pps(&samples[0]).expect("a rate");
        let reach_w = |idle: &[IdlePower]| {
            let per_packet = Energy::of(&samples, idle).nj_per_packet.expect("an energy");
            (per_packet.high.expect("two windows") - per_packet.middle) * pps / 1e9
        };
        let noisy = IdlePower {
            error_uw: 100_000,
            ..IDLE
        };
        assert!((reach_w(&[noisy]) - 0.196).abs() < 1e-9);
        let later = IdlePower {
            mean_uw: 3_000_000,
            ..IDLE
        };
        assert!((reach_w(&[IDLE, later]) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_window_without_its_power_leaves_the_power_of_the_case_unknown_and_a_warning_says_why() {
        let samples = [metered(1, 7_000_000), window(2), window(3)];
        let energy = Energy::of(&samples, &[IDLE]);
        assert!(energy.power_w.is_none() && energy.nj_per_packet.is_none());
        let said = warning(&samples, Some("--power-command"));
        let expected = "the power is unknown: --power-command gave none in 2 of 3 windows";
        assert_eq!(said.map(|it| it.to_string()).as_deref(), Some(expected));
        assert_eq!(warning(&samples[..1], Some("--power-command")), None);
        assert_eq!(warning(&samples, None), None);
    }

    #[test]
    fn without_a_meter_or_idle_power_there_is_no_energy() {
        let none = Energy::of(&[window(1)], &[]);
        assert!(none.power_w.is_none() && none.nj_per_packet.is_none());
        let power_alone = Energy::of(&[metered(1, 7_000_000)], &[]);
        assert!(power_alone.power_w.is_some() && power_alone.nj_per_packet.is_none());
    }
}
