//! Tests of power and energy.

use crate::data::Sample;
use crate::results::row::derived::received_pps;
use crate::results::row::sensors::{Energy, power_unknown};
use crate::results::row::tests::window;
use crate::sys::power::IdlePower;

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
    let energy = Energy::of(&samples, &[IDLE]).expect("powers");
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
        let energy = Energy::of(&samples, idle).expect("powers");
        let per_packet = energy.nj_per_packet.expect("an energy");
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
    assert!(Energy::of(&samples, &[IDLE]).is_none());
    let said = power_unknown(&samples, Some("--power-command"));
    let expected = "the power is unknown: --power-command gave none in 2 of 3 windows";
    assert_eq!(said.map(|it| it.to_string()).as_deref(), Some(expected));
    assert_eq!(power_unknown(&samples[..1], Some("--power-command")), None);
    assert_eq!(power_unknown(&samples, None), None);
}

#[test]
fn without_a_meter_or_idle_power_there_is_no_energy() {
    assert!(Energy::of(&[window(1)], &[]).is_none());
    let power_alone = Energy::of(&[metered(1, 7_000_000)], &[]).expect("a power");
    assert!(power_alone.power_w.is_some() && power_alone.nj_per_packet.is_none());
}
