//! Commands that are meters, and those that are not.

use std::thread;

use super::*;

fn start(command: &str, window_ms: u64) -> anyhow::Result<PowerCommand> {
    let interrupt = Interrupt::never().expect("a pipe");
    PowerCommand::start(command, Duration::from_millis(window_ms), &interrupt)
}

fn refusal(command: &str, window_ms: u64) -> String {
    match start(command, window_ms) {
        Ok(_) => panic!("{command} is refused"),
        Err(error) => {
            assert!(error.is::<UsageError>(), "{error:#}");
            error.to_string()
        }
    }
}

#[test]
fn watts_are_read_a_line_at_a_time() {
    assert_eq!(microwatts(" 3.14 W\r"), Some(3_140_000));
    assert_eq!(microwatts("2"), Some(2_000_000));
    for nonsense in ["", "W", "3,14", "nan", "-1", "3.1 V"] {
        assert_eq!(microwatts(nonsense), None, "{nonsense}");
    }
}

#[test]
fn only_readings_of_the_window_count() {
    let readings = [(100, 9), (110, 1), (120, 3), (130, 9)];
    assert_eq!(mean(&readings, 100, 120), Some(2));
    assert_eq!(mean(&readings, 130, 200), None);
}

#[test]
fn a_command_that_is_no_meter_is_refused_with_the_fix() {
    let text = refusal("echo volts; sleep 9", 1000);
    assert!(
        text.starts_with("--power-command echo volts; sleep 9: it printed \"volts\""),
        "{text}"
    );
    let text = refusal("echo 3; echo 4", 1000);
    assert!(text.contains("it ended after 2 lines"), "{text}");
}

#[test]
fn a_command_that_prints_too_much_is_refused_at_once() {
    for (command, problem) in [
        ("cat /dev/zero", "it printed a line of 256 B or more"),
        ("yes 3.14", " lines in 0."),
    ] {
        let text = refusal(command, 1000);
        assert!(text.contains(problem), "{command}: {text}");
        assert!(text.contains("2 to 1000 a second"), "{text}");
    }
}

#[test]
fn a_command_that_ends_leaves_no_power_of_the_window_in_which_it_did() {
    let meter = start(
        "for n in 1 2 3 4 5 6; do echo 3.5; sleep 0.02; done",
        10_000,
    );
    let meter = meter.expect("a meter");
    while meter.ended().is_none() {
        thread::sleep(LOOK);
    }
    let readings = locked(&meter.output).readings.clone();
    let (first, last) = (readings[0].0, readings[5].0);
    let within = Duration::from_millis(last - first);
    assert_eq!(meter.mean_uw(first, within), Some(3_500_000));
    assert_eq!(meter.mean_uw(first, within + Duration::from_secs(60)), None);
    let why = meter.ended().expect("it has ended");
    assert!(
        why.starts_with("--power-command: it ended after 6 lines: have it"),
        "{why}"
    );
}

#[test]
fn a_window_has_to_be_long_enough_for_the_meter() {
    let steady = "while :; do echo 3.5; sleep 0.02; done";
    let text = refusal(steady, 10);
    assert!(text.contains("use a longer --duration"), "{text}");
    let meter = start(steady, 10_000).expect("a meter");
    let interrupt = Interrupt::never().expect("a pipe");
    let idle = meter.idle(Duration::ZERO, &interrupt).expect("no signal");
    assert_eq!(
        idle.map(|idle| (idle.mean_uw, idle.error_uw)),
        Some((3_500_000, 0))
    );
    assert_eq!(meter.ended(), None);
}
