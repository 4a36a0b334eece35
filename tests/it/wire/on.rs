//! Whole trials on a remote host (`--on`): the results are kept on this host, and nothing is left on the remote one.

use std::fs;
use std::process::{Command, Output};
use std::time::Instant;

use udpbench::results::row::Status;

use super::ends::{GONE, command_line, processes};
use super::reach::{SHORT, udpbench};
use crate::common::lab::{End, Lab};
use crate::common::{Place, assert_code, rows, stderr, stdout, wait_until};

/// Runs udpbench for that host in a directory of its own, over ssh as the shell there has it.
fn on(lab: &Lab, place: &Place, words: &str) -> Command {
    let ssh = format!("ssh -F {}", lab.ssh_config().display());
    let mut command = lab.near(&udpbench());
    command.args(words.split_whitespace());
    command.args(["--on", "board", "--rsh", &ssh, "--agent", &udpbench()]);
    command.current_dir(place.path("."));
    command
}

fn succeeds(mut command: Command) -> Output {
    let output = command.output().expect("it can be started");
    assert!(output.status.success(), "{}", stderr(&output));
    output
}

#[test]
fn a_sweep_there_has_its_log_and_its_rows_here() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let place = Place::new();
    let output = succeeds(on(&lab, &place, SHORT));
    let said = stderr(&output);
    assert!(said.contains("board is "), "{said}");
    assert_eq!(place.files(), ["out.csv", "out.jsonl"]);
    let rows = rows(&place.path("out.csv"));
    let all_ok = rows.iter().all(|row| row.status == Status::Ok);
    assert!(!rows.is_empty() && all_ok, "{rows:?}");
    assert!(rows.iter().all(|row| row.direction.is_none()), "{rows:?}");
    place.has_them_made_again();
    // Nothing went over the cable but messages.
    let frames = &lab.link(End::Far)["stats64"]["rx"]["packets"];
    assert!(frames.as_u64() < Some(5_000), "{frames}");
    wait_until("the end of the agent", || processes_there(&lab) == 0);
}

#[test]
fn searches_latency_and_comparisons_run_there_too() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let place = Place::new();
    let case = "--engine std --threads 2 --payload 300 --ip v4 --connection connected";
    let words = format!("find idle {case} --trial 20ms --max-case-time 3s -o find.jsonl");
    let output = on(&lab, &place, &words)
        .output()
        .expect("it can be started");
    // A search whose time is over has no answer.
    let is_over = matches!(output.status.code(), Some(0 | 4));
    assert!(is_over, "{}", stderr(&output));
    succeeds(on(&lab, &place, "latency --engine std --quick -o out.csv"));
    let rows = rows(&place.path("out.csv"));
    assert!(rows.iter().any(|row| row.rtt_p50_us.is_some()), "{rows:?}");
    // The options of the host before those of both sides.
    let mut ab = on(
        &lab,
        &place,
        "ab --rounds 6 --accept inconclusive -o ab.jsonl",
    );
    ab.args(["--before-a", "echo \"a b\"", "--before-b", "true", "--"]);
    ab.args(case.split_whitespace());
    let output = succeeds(ab);
    let table = stdout(&output);
    assert!(table.contains("B against A, 6 rounds"), "{table}");
}

#[test]
fn a_program_that_the_remote_host_lacks_is_refused_before_anything_is_measured() {
    let place = Place::new();
    place.script("enter", "shift; exec \"$@\"");
    let on = format!("--on board --rsh ./enter --agent {}", udpbench());
    let problem = "absent: cannot run there: No such file or directory";
    for words in [
        "--engine std,exec:./absent --threads 2",
        "latency --engine exec:./absent",
        "find lossless --engine exec:./absent",
        "ab --a '--engine std' --b '--engine exec:./absent' -o ab.jsonl",
    ] {
        let output = place.shell(&format!("$udpbench {words} {on}"));
        assert_code(&output, 2);
        assert!(
            stderr(&output).contains(problem),
            "{words}: {}",
            stderr(&output)
        );
    }
    assert_eq!(place.files(), ["enter"]);
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    for (words, place_of_it) in [("", "there"), ("--direction down", "here")] {
        let ssh = format!("ssh -F {}", lab.ssh_config().display());
        let mut command = lab.near(&udpbench());
        command.args(["wire", "board", "--rsh", &ssh, "--agent", &udpbench()]);
        command.args(["--sender", "std", "--receiver", "exec:./absent"]);
        command
            .args(words.split_whitespace())
            .current_dir(place.path("."));
        let output = command.output().expect("it can be started");
        assert_code(&output, 2);
        let problem = format!("absent: cannot run {place_of_it}: No such file");
        assert!(stderr(&output).contains(&problem), "{}", stderr(&output));
    }
    assert_eq!(place.files(), ["enter"]);
}

#[test]
fn what_was_broken_off_goes_on_with_the_words_that_it_said() {
    let place = Place::new();
    let enter = place.script("enter", "shift; exec \"$@\"");
    let words = format!(
        "--engine std --threads 2 --payload 300 --duration 60s --heat 0s -q -o out.csv --on board --rsh ./enter --agent {}",
        udpbench()
    );
    let mut sweep = place.udpbench(&words).spawn().expect("it starts");
    wait_until("a window", || {
        fs::read_to_string(place.path("out.jsonl")).is_ok_and(|log| log.contains("{\"window\""))
    });
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(sweep.id().try_into().expect("a pid")),
        nix::sys::signal::Signal::SIGINT,
    )
    .expect("it runs");
    let ended = sweep.wait().expect("it is reaped");
    assert_eq!(ended.code(), Some(130));
    // Here, it would be another host.
    let refused = place.run("wire board --rsh ./enter --on other");
    assert_code(&refused, 2);
    fs::remove_file(enter).expect("it is there");
    let refused = place.run("resume out.jsonl");
    assert_code(&refused, 1);
}

/// Returns the number of agents in the namespaces of the lab.
fn processes_there(lab: &Lab) -> usize {
    let pids = processes(lab).into_iter();
    pids.filter(|pid| command_line(*pid).contains(" agent "))
        .count()
}

#[test]
fn a_controller_that_is_killed_leaves_nothing_there() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let place = Place::new();
    let mut controller = on(&lab, &place, "--full -q -o out.csv")
        .spawn()
        .expect("it can be started");
    wait_until("an agent", || processes_there(&lab) >= 1);
    controller.kill().expect("it runs");
    controller.wait().expect("it is reaped");
    let since = Instant::now();
    wait_until("the end of all", || processes_there(&lab) == 0);
    assert!(since.elapsed() < GONE, "{:?}", since.elapsed());
}
