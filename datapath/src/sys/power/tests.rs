//! Meters of made-up trees: layouts and labels are those of the drivers.

use std::convert::Infallible;
use std::fs;
use std::time::Duration;

use super::*;

fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
    let place = tempfile::TempDir::new().expect("a temporary directory");
    write(&place, files);
    let root = Root::new(place.path());
    (place, root)
}

fn write(place: &tempfile::TempDir, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = place.path().join("sys/class").join(path);
        fs::create_dir_all(path.parent().expect("it has one")).expect("writable");
        fs::write(path, format!("{text}\n")).expect("writable");
    }
}

fn found(files: &[(&str, &str)]) -> Option<(String, Option<u64>)> {
    let (_place, root) = tree(files);
    let meter = PowerMeter::find(&root)?;
    let now = meter.now_uw(&root);
    Some((meter.name, now))
}

fn named(name: &str, uw: u64) -> (String, Option<u64>) {
    (name.to_owned(), Some(uw))
}

#[test]
fn the_power_of_an_ina226_is_its_own_file() {
    let files = [
        ("hwmon/hwmon0/name", "cpu_thermal"),
        ("hwmon/hwmon0/temp1_input", "48312"),
        ("hwmon/hwmon2/name", "ina226"),
        ("hwmon/hwmon2/in0_input", "6"),
        ("hwmon/hwmon2/in1_input", "5120"),
        ("hwmon/hwmon2/curr1_input", "612"),
        ("hwmon/hwmon2/power1_input", "3125000"),
    ];
    assert_eq!(found(&files), Some(named("channel 1 (ina226)", 3_125_000)));
}

#[test]
fn an_ina3221_has_volts_and_amperes_and_its_input_is_the_board() {
    let orin_nano = [
        ("hwmon/hwmon1/name", "ina3221"),
        ("hwmon/hwmon1/in1_label", "VDD_IN"),
        ("hwmon/hwmon1/in1_input", "4976"),
        ("hwmon/hwmon1/curr1_input", "880"),
        ("hwmon/hwmon1/in2_label", "VDD_CPU_GPU_CV"),
        ("hwmon/hwmon1/in2_input", "4976"),
        ("hwmon/hwmon1/curr2_input", "112"),
        ("hwmon/hwmon1/in4_input", "4400"),
        ("hwmon/hwmon1/curr4_input", "1200"),
        ("hwmon/hwmon1/in7_label", "sum of shunt voltages"),
        ("hwmon/hwmon1/in7_input", "7"),
    ];
    assert_eq!(
        found(&orin_nano),
        Some(named("VDD_IN (ina3221)", 4976 * 880))
    );
    let xavier = [
        ("hwmon/hwmon1/name", "ina3221"),
        ("hwmon/hwmon1/in1_label", "GPU"),
        ("hwmon/hwmon1/in1_input", "19104"),
        ("hwmon/hwmon1/curr1_input", "8"),
        ("hwmon/hwmon2/name", "ina3221"),
        ("hwmon/hwmon2/in1_label", "CPU"),
        ("hwmon/hwmon2/in1_input", "19096"),
        ("hwmon/hwmon2/curr1_input", "40"),
        ("hwmon/hwmon2/in2_label", "NC"),
        ("hwmon/hwmon2/in2_input", "19096"),
        ("hwmon/hwmon2/curr2_input", "1000"),
    ];
    let sum = 19_104 * 8 + 19_096 * 40;
    assert_eq!(found(&xavier), Some(named("sum of 2 rails (ina3221)", sum)));
}

#[test]
fn voltages_without_currents_and_graphics_cards_are_no_meter() {
    let pi_5 = [
        ("hwmon/hwmon0/name", "cpu_thermal"),
        ("hwmon/hwmon1/name", "rp1_adc"),
        ("hwmon/hwmon1/in1_input", "1480"),
        ("hwmon/hwmon1/in2_input", "2512"),
        ("hwmon/hwmon2/name", "rpi_volt"),
        ("hwmon/hwmon2/in0_lcrit_alarm", "0"),
        ("hwmon/hwmon3/name", "amdgpu"),
        ("hwmon/hwmon3/power1_average", "9000000"),
        ("power_supply/rpi-poe/status", "Full"),
        ("power_supply/rpi-poe/current_now", "612000"),
    ];
    assert_eq!(found(&pi_5), None);
    assert_eq!(found(&[]), None);
}

#[test]
fn samples_are_integrated_over_time() {
    let (place, root) = tree(&[
        ("hwmon/hwmon0/name", "ina219"),
        ("hwmon/hwmon0/power1_input", "2000000"),
    ]);
    let meter = PowerMeter::find(&root).expect("there is one");
    let mut mean = MeanPower::start(meter, &root);
    assert_eq!(mean.mean_uw(), None);
    for seconds in [1, 4] {
        let at = mean.start + Duration::from_secs(seconds);
        mean.add(at, Some(4_000_000));
    }
    // 3 W for one second, then 4 W for three.
    assert_eq!(mean.mean_uw(), Some(3_750_000));
    mean.restart();
    drop(place);
    mean.look();
    assert_eq!(mean.mean_uw(), None);
}

#[test]
fn idle_power_has_the_error_of_its_parts() {
    let idle = IdlePower::of(&[1000, 1010, 990, 1000]).expect("enough parts");
    assert_eq!((idle.mean_uw, idle.error_uw), (1000, 4));
    assert_eq!(IdlePower::of(&[1000]), None);
    let (_place, root) = tree(&[
        ("hwmon/hwmon0/name", "ina219"),
        ("hwmon/hwmon0/power1_input", "2000000"),
    ]);
    let mut slept = Duration::ZERO;
    let sleep = |length| {
        slept += length;
        Ok::<(), Infallible>(())
    };
    let idle = idle_power(&root, Duration::from_secs(2), sleep);
    let steady = IdlePower {
        mean_uw: 2_000_000,
        error_uw: 0,
    };
    assert_eq!(idle, Ok(Some(steady)));
    assert_eq!(slept, Duration::from_secs(2));
}
