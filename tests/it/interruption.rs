//! Interruptions: results are safe however the program ends.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::cells::column;
use crate::common::{
    LONG_SWEEP, Place, assert_code, header, kills, lines, rows, samples, stderr, wait_until,
    windows,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use udpbench::results::log::Event;
use udpbench::results::row::{Row, Status};

fn start(command: &mut Command) -> Child {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::piped());
    quiet.spawn().expect("the program starts")
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id().try_into().expect("a pid"));
    // It may have ended in the meantime.
    let _ = kill(pid, signal);
}

#[test]
fn ctrl_c_ends_the_sweep_with_rows_for_what_was_measured() {
    let mut signals = vec![
        (Signal::SIGINT, 130),
        (Signal::SIGTERM, 143),
        (Signal::SIGXCPU, 152),
    ];
    // These tests may run under nohup themselves.
    signals.extend((!hangups_are_ignored()).then_some((Signal::SIGHUP, 129)));
    for (number, code) in signals {
        let place = Place::new();
        // One block of 10000 windows.
        let mut child = start(&mut place.udpbench(
            "--engine null --no-reference --ip v4 --heat 0s --warmup 0s --rounds 10000 --duration 100s \
             --threads 2 --payload 1 -o out.csv --connection connected",
        ));
        let raw = place.path("out.jsonl");
        wait_until("the third window", || windows(&raw) > 2);
        signal(&child, number);
        assert_eq!(child.wait().expect("it ends").code(), Some(code));
        let (rows, samples) = (rows(&place.path("out.csv")), samples(&raw));
        let [row] = &rows[..] else { panic!("{rows:?}") };
        // The signal comes to a sweep that goes on.
        let is_sure = row.rounds >= 6;
        let status = if is_sure {
            Status::Ok
        } else {
            Status::Interrupted
        };
        assert_eq!((row.status, row.ended_by.as_str()), (status, "signal"));
        assert_eq!(row.rounds as usize, samples.len());
        assert!(row.received_pps.is_some());
    }
}

/// Returns whether child processes ignore SIGHUP from the start (proc_pid_status(5)).
fn hangups_are_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("it is there");
    let mut masks = status
        .lines()
        .filter_map(|line| line.strip_prefix("SigIgn:"));
    let mask = masks
        .next()
        .map(|mask| u64::from_str_radix(mask.trim(), 16));
    mask.is_some_and(|mask| mask.expect("a mask") & 1 == 1)
}

#[test]
fn a_hangup_that_is_ignored_from_the_start_stays_ignored() {
    let place = Place::new();
    let script = format!(
        "trap '' HUP; $udpbench {LONG_SWEEP} >table 2>messages & child=$!; \
         until [ -s out.csv ] || ! kill -0 $child; do sleep 0.01; done; kill -HUP $child; wait $child"
    );
    assert_eq!(place.shell(&script).status.code(), Some(0));
    assert_eq!(rows(&place.path("out.csv")).len(), 40);
}

#[test]
fn a_hangup_comes_several_times_and_loses_nothing() {
    if hangups_are_ignored() {
        return; // as below nohup: then it stays ignored
    }
    let place = Place::new();
    let mut child = start(&mut place.udpbench(LONG_SWEEP));
    let raw = place.path("out.jsonl");
    wait_until("a window", || windows(&raw) > 0);
    // From the shell, from the kernel, and a terminating signal of whatever waited for the terminal.
    for hangup in [Signal::SIGHUP, Signal::SIGHUP, Signal::SIGTERM] {
        signal(&child, hangup);
    }
    let code = child.wait().expect("it ends").code();
    assert!([Some(129), Some(143)].contains(&code), "{code:?}");
    let ended = lines(&raw).pop();
    assert!(
        matches!(ended, Some(Event::Interrupted { lost: None })),
        "{ended:?}"
    );
    assert!(!rows(&place.path("out.csv")).is_empty());
}

#[test]
fn ctrl_c_cuts_a_long_window_short() {
    let place = Place::new();
    let arguments = "--engine std --no-reference --ip v4 --heat 0s --rounds 5 --duration 10h --threads 2 \
                     --payload 1 -o out.csv --connection connected";
    let mut child = start(&mut place.udpbench(arguments));
    wait_until("the start", || header(&place.path("out.jsonl")).is_some());
    signal(&child, Signal::SIGINT);
    // A window is open for two hours: that this test ends is the proof.
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let rows = rows(&place.path("out.csv"));
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((row.status, row.rounds), (Status::Interrupted, 0));
}

#[test]
fn a_hint_that_is_pasted_runs_what_it_says_and_nothing_else() {
    let place = Place::new();
    let name = "$(touch x) it's.csv";
    let mut child = start(
        place
            .udpbench(
                "--engine null --no-reference --ip v4 --heat 0s --warmup 0s --rounds 100 --duration 2s --threads 2 \
                 --payload 1 --connection connected",
            )
            .args(["-o", name]),
    );
    let raw = place.path(name).with_extension("jsonl");
    wait_until("a window", || windows(&raw) > 0);
    signal(&child, Signal::SIGINT);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let said = stderr(&child.wait_with_output().expect("it has ended"));
    let (_, hint) = said.split_once("resume with: udpbench ").expect("a hint");
    let resumed = place.shell(&format!("exec $udpbench {hint}"));
    assert!(resumed.status.success(), "{hint}: {}", stderr(&resumed));
    let rows = rows(&place.path(name));
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].status, rows[0].rounds), (Status::Ok, 100));
    assert!(!place.path("x").exists(), "{hint}");
    assert_eq!(place.files().len(), 2, "{:?}", place.files());
}

#[test]
fn a_signal_to_the_program_alone_ends_waits_for_others() {
    let place = Place::new();
    place.script("silent", "touch begun\nexec sleep 1000");
    let short = "-- --engine null --threads 2 --payload 1 --ip v4";
    for words in [
        // An agent that says nothing, here and on another host.
        &*format!("ab ./silent ./silent {short}"),
        "wire board --rsh ./silent",
        // Commands that hang.
        &format!("ab --before-a ./silent --before-b true {short}"),
        "wire board --rsh ./silent --deploy",
    ] {
        let mut child = start(&mut place.udpbench(words));
        wait_until("it waits", || {
            let ended = child.try_wait().expect("it is a child");
            assert!(ended.is_none(), "{words}: {ended:?}");
            place.path("begun").exists()
        });
        let since = Instant::now();
        signal(&child, Signal::SIGTERM);
        assert_eq!(child.wait().expect("it ends").code(), Some(143), "{words}");
        let took = since.elapsed();
        assert!(took < Duration::from_secs(500), "{words}: {took:?}");
        fs::remove_file(place.path("begun")).expect("it is there");
    }
}

#[test]
fn a_second_ctrl_c_kills() {
    let place = Place::new();
    // More rows of skipped cases than a pipe holds, and nobody who reads them: it cannot end by itself.
    let payloads: Vec<String> = (0..400).map(|payload| payload.to_string()).collect();
    let arguments = "--engine mio-exhaustive --no-reference --threads 1 -o - --payload";
    let mut command = place.udpbench(arguments);
    command
        .arg(payloads.join(","))
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().expect("the program starts");
    wait_until("the end", || {
        signal(&child, Signal::SIGINT);
        // Dead, or waiting to be reaped.
        let status = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
        status
            .rsplit(')')
            .next()
            .is_none_or(|rest| rest.trim_start().starts_with('Z'))
    });
    let status = child.wait().expect("it ends");
    // 130, or the signal itself when it came before there was a handler.
    assert!([Some(130), None].contains(&status.code()), "{status}");
}

#[test]
fn signals_that_come_together_are_one_request() {
    let place = Place::new();
    let arguments = "--engine std --no-reference --ip v4 --heat 0s --rounds 5 --duration 10h --threads 2 \
                     --payload 1 -o out.csv --connection connected";
    let child = start(&mut place.udpbench(arguments));
    wait_until("the start", || header(&place.path("out.jsonl")).is_some());
    // Two of one kind may become one on the way.
    signal(&child, Signal::SIGINT);
    signal(&child, Signal::SIGTERM);
    let output = child.wait_with_output().expect("it ends");
    let said = stderr(&output);
    assert!(said.contains("interrupted"), "{said}");
    let rows = rows(&place.path("out.csv"));
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((row.status, row.rounds), (Status::Interrupted, 0));
}

/// The one process that this one has started.
fn child_of(parent: &Child) -> Option<Pid> {
    let children = format!("/proc/{0}/task/{0}/children", parent.id());
    let children = fs::read_to_string(children).ok()?;
    Some(Pid::from_raw(
        children.split_whitespace().next()?.parse().ok()?,
    ))
}

/// Also in the window in which --verify looks at datagrams, which is before the first.
#[test]
#[cfg_attr(
    not(target_arch = "x86_64"),
    ignore = "below qemu-user no program starts itself"
)]
fn the_process_of_a_round_may_die_and_its_window_is_measured_again() {
    for (verify, enough) in [("--verify", 0), ("", 3)] {
        let place = Place::new();
        let mut program = start(&mut place.udpbench(&format!(
            "--engine std --no-reference --ip v4 --heat 0s --warmup 0s --rounds 6 --duration 600ms --threads 2 \
             --payload 100,200 --connection connected -o out.csv {verify}"
        )));
        let raw = place.path("out.jsonl");
        wait_until("its child", || {
            let child = child_of(&program).filter(|_| windows(&raw) >= enough);
            child.is_some_and(|child| kill(child, Signal::SIGKILL).is_ok())
        });
        assert_eq!(program.wait().expect("it ends").code(), Some(0));
        let rows = rows(&place.path("out.csv"));
        assert_eq!(rows.len(), 2);
        for row in &rows {
            assert_eq!((row.status, row.rounds), (Status::Ok, 6), "{row:?}");
        }
        let repeated = rows.iter().filter_map(|row| row.repeated_windows);
        assert!(repeated.sum::<usize>() <= 1, "{rows:?}");
    }
}

/// One block after the other of a case that runs and one that is skipped.
const HALF_SKIPPED: &str = "--engine null,mio-exhaustive --no-reference --connection connected --ip v4 --heat 0s \
                            --warmup 0s --rounds 20 --duration 20ms --threads 1 -o out.csv --payload \
                            1,2,3,4,5,6,7,8";

/// Returns which rows of a CSV are of skipped cases.
fn skipped(csv: &str) -> Vec<bool> {
    let status = column(csv, "status");
    status.iter().map(|status| status == "skipped").collect()
}

#[test]
fn rows_of_skipped_cases_come_last_however_a_sweep_ends() {
    let last = [[false; 8], [true; 8]].concat();
    for ending in [None, Some(Signal::SIGINT), Some(Signal::SIGKILL)] {
        let place = Place::new();
        let mut child = start(&mut place.udpbench(HALF_SKIPPED));
        let raw = place.path("out.jsonl");
        if let Some(number) = ending {
            // One round of each case is over, so that Ctrl-C leaves a row for it.
            wait_until("a round", || windows(&raw) > 8);
            signal(&child, number);
        }
        child.wait().expect("it ends");
        let read = || fs::read_to_string(place.path("out.csv")).expect("it is there");
        let summarize = || crate::common::stdout(&place.run("summarize out.jsonl"));
        if ending == Some(Signal::SIGKILL) {
            // The plan in the raw samples has them.
            assert_eq!(skipped(&summarize()), last);
        } else {
            assert_eq!(skipped(&read()), last, "{ending:?}");
            assert_eq!(summarize(), read());
        }
        let resumed = place.run("resume out.jsonl");
        assert_code(&resumed, 0);
        assert_eq!(skipped(&read()), last, "{ending:?}");
        assert_eq!(summarize(), read());
    }
}

#[test]
fn kill_9_at_any_moment_loses_at_most_the_window_in_hand() {
    let mut random = fastrand::Rng::with_seed(50);
    for _ in 0..kills(10) {
        let place = Place::new();
        let mut child = start(&mut place.udpbench(LONG_SWEEP));
        let (csv, raw) = (place.path("out.csv"), place.path("out.jsonl"));
        let enough = random.usize(1..150);
        wait_until("the window", || windows(&raw) >= enough);
        signal(&child, Signal::SIGKILL);
        child.wait().expect("it is reaped");

        let (written, samples) = (fs::read_to_string(&csv).expect("there"), samples(&raw));
        assert!(
            samples.len() >= enough,
            "a window that had been there is gone"
        );
        let (written, _) = written.rsplit_once('\n').unwrap_or_default();
        let cells = |name| column(written, name).into_iter();
        assert!(cells("status").all(|status| status == "ok"), "{written}");
        assert!(cells("rounds").all(|rounds| rounds == "5"), "{written}");
        assert_code(&place.run("summarize out.jsonl"), 0);
        let summary = rows(&place.path("out.jsonl"));
        let of = |row: &Row| {
            let windows = samples
                .iter()
                .filter(|sample| sample.case == row.case.key());
            windows.count()
        };
        for row in &summary {
            assert_eq!(of(row), row.rounds as usize, "{}", row.case.key());
        }
        let summed: u32 = summary.iter().map(|row| row.rounds).sum();
        assert_eq!(summed as usize, samples.len());
    }
}

#[test]
fn a_disk_that_fills_up_ends_the_sweep_with_whole_lines() {
    // A limit for the size of files stands in for the disk: 150 kB, or 300 where a shell has blocks of 1 kB. The whole
    // log has more, and its header less, however many CPUs and interfaces a machine has.
    let place = Place::new();
    let output = place.shell(&format!("ulimit -f 300; exec $udpbench {LONG_SWEEP}"));
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    assert!(message.contains("cannot write to out."), "{message}");
    assert!(
        message.contains("its earlier lines are complete"),
        "{message}"
    );
    assert!(
        message.contains("resume with: udpbench resume out.jsonl"),
        "{message}"
    );
    for name in ["out.csv", "out.jsonl"] {
        let text = fs::read_to_string(place.path(name)).expect("written");
        assert!(
            text.is_empty() || text.ends_with('\n'),
            "{name} ends within a line"
        );
    }
    assert!(!samples(&place.path("out.jsonl")).is_empty());
    // What fitted is there and parses.
    rows(&place.path("out.csv"));
}
