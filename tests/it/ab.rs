//! Tests of `udpbench ab`, the whole program: two sides in turn, resuming from a log, and refused input.
//!
//! Tests of its verdicts with random data are in `src/experiment/ab/tests.rs`.

use std::fs;
use std::process::Stdio;

use crate::common::{BusyProgram, Place, assert_code, json_rows, stderr, stdout, wait_until};
use crate::exec::place_with;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use udpbench::experiment::ab::Side;
use udpbench::experiment::ab::header::AbHeader;
use udpbench::results::log::{Event, Log};

const CASES: &str = "--engine null --threads 2 --payload 1,2 --ip v4 --connection connected \
                     --warmup 1ms --duration 1s --board generic --pin none";

fn compare(place: &Place, arguments: &str) -> (Option<i32>, String, String) {
    let output = place.run(&format!("ab {arguments}"));
    (output.status.code(), stdout(&output), stderr(&output))
}

fn resumed(place: &Place, arguments: &str) -> (Option<i32>, String, String) {
    let output = place.run(&format!("resume ab.jsonl {arguments}"));
    (output.status.code(), stdout(&output), stderr(&output))
}

fn log(place: &Place, name: &str) -> Log<AbHeader> {
    let bytes = fs::read(place.path(name)).expect("the log");
    Log::parse(name, &bytes).expect("whole lines")
}

/// Side, pair and round of each window, in the order in which they were measured.
fn windows(log: &Log<AbHeader>) -> Vec<(Side, usize, u32)> {
    let window = |event: &Event| match event {
        Event::Window(window) => {
            let side = window.side?;
            let mut cases = log.header.setup(side).plan.cases();
            let pair = cases.position(|it| it.case.key() == window.sample.case)?;
            Some((side, pair, window.sample.round))
        }
        _ => None,
    };
    log.lines.iter().filter_map(window).collect()
}

#[test]
fn busy_programs_are_named_before_the_first_window() {
    let _busy = BusyProgram::start();
    let place = Place::new();
    let (_, _, errors) = compare(&place, &format!("--rounds 6 -o ab.jsonl -- {CASES}"));
    assert!(errors.contains("warning: other programs use "), "{errors}");
    let (_, _, errors) = resumed(&place, "");
    assert!(
        !errors.contains("other programs use "),
        "nothing to measure: {errors}"
    );
}

/// Returns whether some window failed: on a busy machine, no datagram may be in it.
fn has_failures(log: &Log<AbHeader>) -> bool {
    let is_failure = |event: &Event| matches!(event, Event::Failed { .. });
    log.lines.iter().any(is_failure)
}

/// Begin of the answer of a comparison that ended with this code.
fn headline(code: Option<i32>, rounds: u32) -> String {
    let inconclusive = if code == Some(4) {
        "Inconclusive: "
    } else {
        ""
    };
    format!("{inconclusive}B against A, {rounds} rounds: ")
}

#[test]
fn both_sides_of_a_case_are_measured_one_after_the_other_and_each_comes_first_as_often() {
    let place = Place::new();
    let (code, text, errors) = compare(&place, &format!("--rounds 8 -o ab.jsonl -- {CASES}"));
    // Nothing changed, but this machine may think otherwise.
    assert!(
        [Some(0), Some(3), Some(4)].contains(&code),
        "{text}{errors}"
    );
    assert!(text.starts_with(&headline(code, 8)), "{text}");
    assert!(text.contains("\nA: this udpbench (0.1.0"), "{text}");
    let log = log(&place, "ab.jsonl");
    if has_failures(&log) {
        eprintln!("SKIPPED: the machine is too busy for a datagram in each window");
        return;
    }
    let windows = windows(&log);
    assert_eq!(windows.len(), 2 * 2 * 8);
    let mut first = Vec::new();
    for both in windows.chunks(2) {
        let [(one, pair, round), (other, of_pair, of_round)] = both else {
            panic!("{both:?}");
        };
        assert_eq!((pair, round), (of_pair, of_round));
        assert_ne!(one, other);
        first.push((*pair, *one));
    }
    for pair in 0..2 {
        let of_a = first.iter().filter(|&&found| found == (pair, Side::A));
        assert_eq!(of_a.count(), 4);
    }
}

#[test]
fn a_comparison_that_is_over_is_judged_again_to_the_same_answers() {
    let place = Place::new();
    let first = compare(&place, &format!("--rounds 6 -o ab.jsonl -- {CASES}"));
    let before = fs::read(place.path("ab.jsonl")).expect("the log");
    let (code, text, _) = resumed(&place, "");
    assert_eq!((code, &text), (first.0, &first.1));
    assert_eq!(fs::read(place.path("ab.jsonl")).expect("the log"), before);

    let (_, csv, _) = resumed(&place, " --format csv");
    let header = csv.lines().next().expect("a header");
    assert!(
        header.starts_with("kind,label,part,case,cases,by,a_value,b_value,rounds,change_pct_low,")
    );
    // Any log is shown by the one command.
    let summarized = place.run("summarize ab.jsonl");
    assert_eq!(stdout(&summarized), csv, "{}", stderr(&summarized));
    if cfg!(feature = "report") {
        let drawn = place.run("report ab.jsonl -o -");
        assert_code(&drawn, 0);
        let page = stdout(&drawn);
        assert!(page.contains("<b>B against A, "), "{page}");
    }
    for (format, begins) in [("markdown", "**"), ("jsonl", r#"{"kind":"engine","#)] {
        let shown = stdout(&place.run(&format!("summarize ab.jsonl --format {format}")));
        assert!(shown.starts_with(begins), "{shown}");
        let (_, same, _) = resumed(&place, &format!("--format {format}"));
        assert_eq!(same, shown);
    }
    let (_, json, _) = resumed(&place, " --format json --by cpu");
    let rows = json_rows(&json);
    assert_eq!(rows.len(), csv.lines().count() - 1);
    let cases = rows.iter().filter(|row| row["kind"] == "case");
    let is_busy = has_failures(&log(&place, "ab.jsonl"));
    assert!(
        cases
            .clone()
            .all(|row| row["by"] == "cpu" && (row["rounds"] == 6 || is_busy))
    );
    assert_eq!(cases.count(), 2);
}

#[test]
fn a_comparison_that_was_interrupted_goes_on_where_it_was() {
    let place = Place::new();
    let mut command = place.udpbench(&format!("ab -q --rounds 20 -o ab.jsonl -- {CASES}"));
    let mut child = command.stdout(Stdio::null()).spawn().expect("it starts");
    let lines =
        || fs::read_to_string(place.path("ab.jsonl")).map_or(0, |text| text.lines().count());
    wait_until("the sixth window", || lines() > 6);
    let pid = Pid::from_raw(child.id().try_into().expect("a pid"));
    kill(pid, Signal::SIGINT).expect("it is there");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let cut = windows(&log(&place, "ab.jsonl"));
    assert!(cut.len() < 80, "{}", cut.len());
    let found = log(&place, "ab.jsonl");
    assert!(matches!(
        found.lines.last(),
        Some(Event::Interrupted { lost: None })
    ));

    let (code, text, errors) = resumed(&place, "");
    assert!(
        [Some(0), Some(3), Some(4)].contains(&code),
        "{text}{errors}"
    );
    let log = log(&place, "ab.jsonl");
    let is_whole = text.starts_with(&headline(code, 20));
    assert!(is_whole || has_failures(&log), "{text}");
    let whole = windows(&log);
    assert_eq!(whole[..cut.len()], cut);
    // One pair at most lacked a side, and was measured anew. On a busy machine, a window may be empty twice: a failure.
    assert!(
        whole.len() == 80 || whole.len() == 81 || has_failures(&log),
        "{}",
        whole.len()
    );
    assert!(
        whole.len() > cut.len() && whole.len() <= 81,
        "{}",
        whole.len()
    );
}

#[test]
fn a_command_runs_before_each_side_and_one_that_fails_ends_it() {
    let place = Place::new();
    let output = place.shell(&format!(
        "$udpbench ab -q --rounds 6 -o ab.jsonl --before-a 'echo a >>said' --before-b 'echo b >>said' -- {CASES}"
    ));
    assert!(output.status.code() != Some(1), "{}", stderr(&output));
    let said = fs::read_to_string(place.path("said")).expect("both said something");
    // Once per side, round and block: each payload is a block.
    assert_eq!(said.matches('a').count(), 12);
    assert_eq!(said.matches('b').count(), 12);

    let output = place.shell(&format!(
        "$udpbench ab -q --rounds 6 -o bad.jsonl --before-a true --before-b 'exit 7' -- {CASES}"
    ));
    assert_eq!(output.status.code(), Some(1));
    let errors = stderr(&output);
    assert!(
        errors.contains(r#"the command before B, "exit 7", failed"#),
        "{errors}"
    );
    assert!(errors.contains("udpbench resume bad.jsonl"), "{errors}");
    assert!(!log(&place, "bad.jsonl").header.run.command_line.is_empty());
}

#[test]
fn options_may_differ_and_the_nth_case_meets_the_nth() {
    let place = Place::new();
    let output = place.shell(&format!(
        "$udpbench ab -q --rounds 6 -o ab.jsonl --a '--rcvbuf 106496' --b '--rcvbuf 212992' --details -- {CASES}"
    ));
    let text = stdout(&output);
    assert!(
        text.contains("A: this udpbench") && text.contains("--rcvbuf 106496"),
        "{text}"
    );
    let both =
        "null:null/2t/1B/connected/v4/rcvbuf106496 | null:null/2t/1B/connected/v4/rcvbuf212992";
    assert!(text.contains(both), "{text}");
}

#[test]
fn what_cannot_be_is_refused_before_there_is_a_log() {
    let place = Place::new();
    place.script("chatty", "echo Welcome to the machine");
    for (arguments, expected) in [
        (
            "./chatty ./chatty",
            "does not speak udpbench's protocol but says \"Welcome",
        ),
        (
            "./nothing ./chatty",
            "./nothing: cannot find the program of A",
        ),
        ("./chatty", "<B>"),
        ("--before-a true", "--before-b"),
        (
            "-- --rounds 9",
            "--rounds 9: is an option of ab itself: write it before --",
        ),
        ("-- --verify", "--verify: has no meaning here"),
        (
            "-- check",
            "a side has the options of a sweep, and no command",
        ),
        (
            "--a=--train=8 --b=--train=16 -- --engine std",
            "--a \"--train=8\" and --b \"--train=16\" measure the same",
        ),
        ("-- --payload 65508", "65508"),
        ("--rounds 5", "5"),
        ("--threshold 2", "write 2%"),
        ("--max-time 3s", "--decide"),
    ] {
        let (code, _, errors) = compare(
            &place,
            &format!("{arguments} -o ab.jsonl").replace(
                if arguments.contains("-- ") {
                    " -o ab.jsonl"
                } else {
                    "\0"
                },
                "",
            ),
        );
        assert_eq!(code, Some(2), "{arguments}: {errors}");
        assert!(errors.contains(expected), "{arguments}: {errors}");
    }
    let output = place.shell("$udpbench ab --a '--payload 1' --b '--payload 1,2' -o ab.jsonl");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("give both as many values of each option"));
    assert_eq!(place.files(), ["chatty"]);
}

#[test]
fn each_round_has_windows_of_50_ms() {
    let place = Place::new();
    let window_ms = |arguments: &str| {
        let (_, text, errors) = compare(&place, arguments);
        let windows = text.split_once("windows of ").expect(&errors).1;
        windows.split(' ').next().expect("a number").to_owned()
    };
    let case = "-- --engine null --threads 2 --payload 1 --ip v4 --connection connected --warmup 1ms --board generic";
    for rounds in [6, 20] {
        let words = format!("-q --rounds {rounds} -o {rounds}.jsonl {case}");
        assert_eq!(window_ms(&words), "50");
    }
}

#[test]
fn what_fails_now_and_then_on_both_sides_is_unclear_and_never_broken() {
    let place = place_with(&[]);
    // Of each sixteen starts, the last eight end at once.
    let script = "echo >>starts\n[ $(($(wc -l <starts) % 16)) -lt 8 ] || exit 3\nexec ./plain";
    place.script("unsteady", script);
    let options = "--engine exec:unsteady=./unsteady --threads 2 --payload 300 --duration 1s";
    let (code, text, errors) = compare(&place, &format!("--rounds 6 -o ab.jsonl -- {options}"));
    assert_eq!(code, Some(4), "{text}{errors}");
    assert!(
        text.contains("unclear") && (text.contains(" failed in ") || text.contains(" left out: ")),
        "{text}"
    );
    let again = resumed(&place, "");
    assert_eq!((again.0, again.1), (code, text));
}

#[test]
fn what_fails_in_each_round_of_b_alone_is_broken() {
    let place = Place::new();
    place.script("gone", "exit 3");
    let sides = "--a=--engine=null --b=--engine=exec:gone=./gone";
    let options = "--rounds 6 -o ab.jsonl -- --threads 2 --payload 1";
    let (code, text, errors) = compare(&place, &format!("{sides} {options}"));
    let log = log(&place, "ab.jsonl");
    let failures = |of_side: Side| {
        let is_of_side =
            |event: &&Event| matches!(event, Event::Failed { of, .. } if of.side == Some(of_side));
        log.lines.iter().filter(is_of_side).count()
    };
    // On a machine that is busy enough, a window of A may be empty.
    let is_broken = failures(Side::A) == 0;
    let expected = if is_broken { 3 } else { 4 };
    assert_eq!(code, Some(expected), "{text}{errors}");
    assert_eq!(text.contains("broken: "), is_broken, "{text}");
    assert!(!is_broken || failures(Side::B) == 6);
}
