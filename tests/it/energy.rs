//! Power and energy: a made-up meter whose power is known, and an external meter.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::common::{Place, assert_code, hosts, killed_on_panic, rows, stderr, stdout};
use nix::fcntl::OFlag;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use udpbench::results::row::Row;

const RUN: &str = "--engine null --no-reference --threads 2 --payload 100 --ip v4 --connection connected --pin none \
                   --heat 0s --warmup 20ms --rounds 5 --duration 600ms -o out.csv";
const IDLE_W: f64 = 2.0;
const BUSY_W: f64 = 7.0;

/// Creates the tree of a machine with two CPUs and an INA226.
fn metered_machine(place: &Place) -> String {
    let root = place.path("root");
    let hwmon = root.join("sys/class/hwmon/hwmon0");
    fs::create_dir_all(&hwmon).expect("writable");
    fs::write(hwmon.join("name"), "ina226\n").expect("writable");
    renew(&hwmon);
    let plain = hosts::root("x86-vm");
    symlink(plain.join("proc"), root.join("proc")).expect("writable");
    fs::create_dir_all(root.join("sys/devices")).expect("writable");
    let system = "sys/devices/system";
    symlink(plain.join(system), root.join(system)).expect("writable");
    root.display().to_string()
}

/// Makes the file of the power a new pipe, whose reader waits until the meter answers.
fn renew(hwmon: &Path) {
    let next = hwmon.join("next");
    mkfifo(&next, Mode::from_bits_truncate(0o600)).expect("writable");
    fs::rename(next, hwmon.join("power1_input")).expect("writable");
}

/// Answers each reader with the power at that moment, until `is_over`. However busy the machine is, the meter is never
/// late, since the reader waits for it.
fn answer(hwmon: &Path, is_over: &AtomicBool, watts: impl Fn() -> f64) {
    loop {
        let reader = fs::OpenOptions::new()
            .write(true)
            .open(hwmon.join("power1_input"));
        let mut reader = reader.expect("a pipe");
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        // The next reader has a pipe of its own: this one would take both answers for one.
        renew(hwmon);
        let written = writeln!(reader, "{:.0}", 1e6 * watts());
        // A program that has ended reads no more.
        drop(written);
    }
}

/// Returns whether a child process of `parent` has more threads than an agent at rest: it runs a trial.
fn runs_a_trial(parent: u32) -> bool {
    const AT_REST: usize = 2;
    let processes = fs::read_dir("/proc").expect("mounted").flatten();
    processes
        .filter(|process| {
            let stat = fs::read_to_string(process.path().join("stat")).unwrap_or_default();
            let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
            after_name.split_whitespace().nth(1) == Some(&parent.to_string())
        })
        .filter_map(|process| fs::read_dir(process.path().join("task")).ok())
        .any(|threads| threads.count() > AT_REST)
}

/// Runs the program while a meter shows 7 W in trials and 2 W otherwise. Returns its row.
fn metered_run(place: &Place) -> Row {
    let root = metered_machine(place);
    let hwmon = Path::new(&root).join("sys/class/hwmon/hwmon0");
    let mut command = place.udpbench(RUN);
    command.args(["--root", &root]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the program starts");
    let (id, is_over) = (child.id(), AtomicBool::new(false));
    let output = thread::scope(|scope| {
        let meter = scope.spawn(|| {
            let _killed = killed_on_panic(id);
            answer(&hwmon, &is_over, || {
                if runs_a_trial(id) { BUSY_W } else { IDLE_W }
            });
        });
        let output = child.wait_with_output();
        is_over.store(true, Ordering::Relaxed);
        // Lets the meter go on to its end.
        let mut last = fs::OpenOptions::new();
        last.read(true).custom_flags(OFlag::O_NONBLOCK.bits());
        let _last = last.open(hwmon.join("power1_input")).expect("a pipe");
        meter.join().expect("no panic");
        output.expect("it ends")
    });
    assert!(output.status.success(), "{}", stderr(&output));
    let (table, said) = (stdout(&output), stderr(&output));
    assert!(said.contains("power by channel 1 (ina226)"), "{said}");
    assert!(said.contains("idle power: 2."), "{said}");
    assert!(table.contains(" nJ\n"), "{table}");
    let mut rows = rows(&place.path("out.csv"));
    rows.pop().expect("a row")
}

#[test]
fn a_meter_whose_power_is_known_gives_that_power_and_energy_within_2_percent() {
    let place = Place::new();
    let row = metered_run(&place);
    let watts = row.power_w.expect("metered") - row.idle_power_w.expect("metered");
    let (power_w, idle_w) = (row.power_w, row.idle_power_w);
    let is_near = (watts / (BUSY_W - IDLE_W) - 1.0).abs() < 0.02;
    assert!(is_near, "{power_w:?} {idle_w:?}");
    let energy = row.energy_nj_per_packet.expect("metered");
    let truth = |pps: Option<f64>| 1e9 * (BUSY_W - IDLE_W) / pps.expect("a rate");
    let (least, most) = (truth(row.received_pps_high), truth(row.received_pps_low));
    assert!(0.98 * least < energy && energy < 1.02 * most, "{row:?}");
    assert!(row.energy_nj_per_packet_low < Some(energy));
    place.has_them_made_again();
}

#[test]
fn a_command_may_print_the_watts() {
    let place = Place::new();
    // Windows that are long even for a shell on a busy machine.
    let mut command = place.udpbench(&RUN.replace("600ms", "2500ms"));
    let meter = "while :; do echo 3.5; sleep 0.02; done";
    let output = command.args(["--power-command", meter]).output();
    let output = output.expect("the program starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let row = rows(&place.path("out.csv")).pop().expect("a row");
    let found = (row.power_w, row.idle_power_w, row.energy_nj_per_packet);
    assert_eq!(found, (Some(3.5), Some(3.5), Some(0.0)));
    assert_eq!(row.power_meter, "--power-command");
}

#[test]
fn a_command_that_ends_leaves_the_power_unknown_and_is_named() {
    let place = Place::new();
    let mut command = place.udpbench(&RUN.replace("600ms", "2500ms"));
    // It ends once the first window is in the log.
    let meter = "until grep -qs '\"window\"' out.jsonl; do echo 3.14; sleep 0.02; done";
    let output = command.args(["--power-command", meter]).output();
    let output = output.expect("the program starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let row = rows(&place.path("out.csv")).pop().expect("a row");
    assert_eq!((row.power_w, row.energy_nj_per_packet), (None, None));
    let warning = "the power is unknown: --power-command gave none in ";
    let is_named = row
        .warnings
        .iter()
        .any(|it| it.to_string().contains(warning));
    assert!(is_named, "{:?}", row.warnings);
    let told = "no power from now on: --power-command: it ended after";
    assert!(stderr(&output).contains(told), "{}", stderr(&output));
}

#[test]
fn a_command_that_prints_no_watts_is_refused_before_a_file_is_created() {
    let place = Place::new();
    let mut command = place.udpbench(RUN);
    let output = command.args(["--power-command", "true"]).output();
    let output = output.expect("the program starts");
    assert_code(&output, 2);
    let problem =
        "--power-command true: it ended after 0 lines: have it print watts until it is killed";
    assert!(stderr(&output).contains(problem), "{}", stderr(&output));
    assert_eq!(place.files(), [""; 0]);
}

#[test]
fn check_tells_the_power_where_a_sensor_does() {
    let place = Place::new();
    let check = |host| {
        let root = hosts::root(host);
        stdout(&place.run(&format!("check --root {}", root.display())))
    };
    let orin = check("jetson-orin-nano");
    assert!(
        orin.contains("  power     4.38 W by VDD_IN (ina3221)\n"),
        "{orin}"
    );
    // Its converter measures voltages only.
    let pi = check("rpi-5");
    assert!(!pi.contains("  power "), "{pi}");
}
