//! What loopback does with trains: on one of the trial's own it cuts them, where the host allows that.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

use udpbench::data::LoopbackTrains;
use udpbench::results::row::{Row, Status, Warning};
use udpbench::sys::own_loopback;

use crate::common::{Place, assert_code, copy_program, program, rows, stderr, stdout};

const SHORT: &str = "--sender gso --receiver gro,mmsg --no-reference --threads 2 --payload 300 --ip v4 --heat 0s \
                     --warmup 10ms --rounds 5 --duration 50ms -o out.csv";

fn trains(rows: &[Row]) -> Vec<Option<LoopbackTrains>> {
    rows.iter().map(|row| row.loopback).collect()
}

#[test]
fn trains_are_cut_unless_they_are_to_stay_whole_and_others_have_none() {
    if let Err(reason) = own_loopback::probe("/bin/true".as_ref()) {
        eprintln!("SKIPPED: {reason}");
        return;
    }
    let (cut, whole) = (Some(LoopbackTrains::Cut), Some(LoopbackTrains::Whole));
    for (options, expected) in [
        ("", [cut; 2]),
        ("--loopback whole", [whole; 2]),
        ("--train 1", [None; 2]),
    ] {
        let place = Place::new();
        let rows = place.sweep(&SHORT.replace("-o out.csv", options));
        assert_eq!(trains(&rows), expected, "{options}");
        assert!(rows.iter().all(|row| row.status == Status::Ok), "{rows:?}");
    }
    let place = Place::new();
    let both = "--engine gso-gro,std --loopback cut,whole";
    let rows = place.sweep(&format!(
        "{both} --threads 2 --payload 300 --ip v4 --heat 0s --warmup 10ms --rounds 5 --duration 50ms"
    ));
    let labels: Vec<String> = rows.iter().map(Row::label).collect();
    assert_eq!(labels, ["gso>gro/cut", "gso>gro/whole", "std"]);
    // Across every other path, the option is said to change nothing.
    let output = place.run("plan --engine gso-gro --transport unix-dgram --loopback cut");
    let keys = stdout(&output) + &stderr(&output);
    assert!(!keys.contains("loopback-cut"), "{keys}");
}

/// Runs the program where no further network namespace can be made. `None`: that cannot be arranged.
fn without_namespaces(place: &Place, arguments: &str) -> Option<Output> {
    const NO_NAMESPACE: i32 = 99;
    let script = format!(
        "echo 0 >/proc/sys/user/max_net_namespaces || exit {NO_NAMESPACE}; exec \"$0\" {arguments}"
    );
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user", "sh", "-c", &script]);
    unshare.arg(program().get_program());
    let output = unshare.current_dir(place.path(".")).output().ok()?;
    if output.status.code() == Some(NO_NAMESPACE) || stderr(&output).starts_with("unshare:") {
        eprintln!("SKIPPED: {}", stderr(&output));
        return None;
    }
    Some(output)
}

#[test]
fn where_the_host_forbids_namespaces_trains_stay_whole_and_rows_say_so() {
    let place = Place::new();
    let Some(output) = without_namespaces(&place, SHORT) else {
        return;
    };
    assert_code(&output, 0);
    let fix = "sysctl user.max_net_namespaces=1000 allows it";
    assert!(stderr(&output).contains(fix), "{}", stderr(&output));
    let rows = rows(&place.path("out.csv"));
    assert_eq!(trains(&rows), [Some(LoopbackTrains::Whole); 2]);
    for row in &rows {
        let codes: Vec<&str> = row.warnings.iter().map(Warning::code).collect();
        assert!(codes.contains(&"whole-trains"), "{codes:?}");
    }
    let place = Place::new();
    let asked = format!("{SHORT} --loopback cut");
    let output = without_namespaces(&place, &asked).expect("as before");
    let told = stdout(&output) + &stderr(&output);
    assert!(told.contains("--loopback whole"), "{told}");
    let skipped = crate::common::rows(&place.path("out.csv"));
    assert!(skipped.iter().all(|row| row.status == Status::Skipped));
}

#[test]
fn an_ordinary_user_has_such_a_loopback_too() {
    let place = Place::new();
    let copy = place.path("udpbench");
    copy_program(&copy);
    let mut command = Command::new(&copy);
    if std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0) {
        // The user nobody must reach the directory.
        let everybody = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(place.path("."), everybody).expect("it is ours");
        command.uid(65_534).gid(65_534);
    }
    let output = command.args(SHORT.split(' ').filter(|word| !word.is_empty()));
    let output = output
        .current_dir(place.path("."))
        .output()
        .expect("it starts");
    assert_code(&output, 0);
    let rows = rows(&place.path("out.csv"));
    if stderr(&output).contains("no network namespace of its own") {
        eprintln!("SKIPPED: {}", stderr(&output));
        return;
    }
    assert_eq!(trains(&rows), [Some(LoopbackTrains::Cut); 2]);
    assert!(rows.iter().all(|row| row.status == Status::Ok), "{rows:?}");
}

#[test]
fn trials_of_another_host_have_such_a_loopback_there() {
    if own_loopback::probe("/bin/true".as_ref()).is_err() {
        return;
    }
    let place = Place::new();
    place.script("enter", "shift; exec \"$@\"");
    let agent = program();
    let on = format!(
        "--on board --rsh ./enter --agent {}",
        agent.get_program().display()
    );
    let output = place.run(&format!("{SHORT} {on}"));
    assert_code(&output, 0);
    let rows = rows(&place.path("out.csv"));
    assert_eq!(trains(&rows), [Some(LoopbackTrains::Cut); 2]);
    assert!(rows.iter().all(|row| row.status == Status::Ok), "{rows:?}");
}
