//! Tests of the raw samples: all reported results follow from them, and a sweep is resumed from them.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use crate::cells::column;
use crate::common::{
    Place, assert_code, header, kills, lines, objects, rows, samples, stderr, stdout, wait_until,
    windows, write_log,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use udpbench::results::row::{Row, Status};

/// 16 cases of 5 windows each in 8 blocks.
const SWEEP: &str = "--full --engine null --no-reference --ip v4 --heat 0s --warmup 0s --rounds 5 --duration 5ms \
                     --threads 2 -o out.csv --payload 1,2,3,4,5,6,7,8";
const CASES: usize = 16;
const ROUNDS: usize = 5;

fn start(command: &mut Command) -> Child {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.spawn().expect("the program starts")
}

/// Starts it and ends it as soon as the raw file has so many windows.
fn end_early(place: &Place, arguments: &str, enough: usize, signal: Signal) {
    let mut child = start(&mut place.udpbench(arguments));
    let raw = place.path("out.jsonl");
    wait_until("so many windows, or the end", || {
        windows(&raw) >= enough || !matches!(child.try_wait(), Ok(None))
    });
    let pid = Pid::from_raw(child.id().try_into().expect("a pid"));
    // It may have ended in the meantime.
    let _ = kill(pid, signal);
    child.wait().expect("it is reaped");
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("it is there")
}

#[track_caller]
/// The CSV is what `summarize` makes of the raw samples, to the last byte.
fn assert_summarized(place: &Place) {
    let summary = place.run("summarize out.jsonl");
    assert_code(&summary, 0);
    assert_eq!(stdout(&summary), read(&place.path("out.csv")));
}

fn assert_whole(place: &Place) {
    let samples = samples(&place.path("out.jsonl"));
    let distinct: HashSet<_> = samples
        .iter()
        .map(|sample| (&sample.case, sample.round))
        .collect();
    assert_eq!(
        samples.len(),
        CASES * ROUNDS,
        "a window is missing, or there twice"
    );
    assert_eq!(distinct.len(), CASES * ROUNDS);
    let rows = rows(&place.path("out.csv"));
    let cases: HashSet<String> = rows.iter().map(|row| row.case.key()).collect();
    assert_eq!((rows.len(), cases.len()), (CASES, CASES));
    for row in &rows {
        assert_eq!((row.status, row.rounds), (Status::Ok, 5), "{row:?}");
    }
    assert_summarized(place);
}

#[test]
fn killed_sweeps_go_on_and_end_whole() {
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..kills(8) {
        let place = Place::new();
        end_early(&place, SWEEP, random.usize(0..75), Signal::SIGKILL);
        if !place.path("out.jsonl").exists() || header(&place.path("out.jsonl")).is_none() {
            // Killed before there was anything to go on with.
            continue;
        }
        // And perhaps once more.
        if random.bool() {
            let have = windows(&place.path("out.jsonl"));
            end_early(
                &place,
                "resume out.jsonl",
                have + random.usize(0..10),
                Signal::SIGKILL,
            );
        }
        assert_code(&place.run("resume out.jsonl"), 0);
        assert_whole(&place);
    }
}

#[test]
fn a_sweep_goes_on_in_the_order_in_which_it_would_have_gone_on() {
    let order = |interrupted: bool| -> Vec<(String, u32, u32)> {
        let place = Place::new();
        let sweep = format!("{SWEEP} --seed 7");
        if interrupted {
            end_early(&place, &sweep, 23, Signal::SIGINT);
            assert_code(&place.run("resume out.jsonl --quiet"), 0);
        } else {
            assert_code(&place.run(&sweep), 0);
        }
        let samples = samples(&place.path("out.jsonl")).into_iter();
        samples
            .map(|sample| (sample.case, sample.round, sample.position))
            .collect()
    };
    assert_eq!(order(true), order(false));
}

#[test]
fn the_rows_are_computed_again_to_the_last_byte() {
    for arguments in [
        SWEEP,
        "--engine all --threads 1,2 --payload 300 --ip v4 --connection connected --duration 6ms --heat 0s \
         --verify -o out.csv",
        // Nothing of it can run.
        "--engine mio-exhaustive --threads 1 --no-reference -o out.csv",
        // One that fails.
        "--engine mio-once,null --threads 2 --payload 26 --rcvbuf 4096 --duration 100ms --heat 0s -o out.csv",
    ] {
        let place = Place::new();
        place.run(arguments);
        assert_summarized(&place);
    }
    let place = Place::new();
    end_early(&place, SWEEP, 17, Signal::SIGINT);
    let interrupted = |row: &Row| row.status == Status::Interrupted;
    assert!(rows(&place.path("out.csv")).iter().any(interrupted));
    assert_summarized(&place);
}

#[test]
fn a_line_that_was_cut_off_is_no_line() {
    let place = Place::new();
    assert_code(&place.run(SWEEP), 0);
    let raw = place.path("out.jsonl");
    let whole = read(&raw);
    for cut in [1, 100, 700] {
        fs::write(&raw, &whole[..whole.len() - cut]).expect("written");
        assert_code(&place.run("resume out.jsonl"), 0);
        assert_whole(&place);
    }
}

#[test]
fn a_sweep_that_is_done_is_left_as_it_is() {
    let place = Place::new();
    assert_code(&place.run(SWEEP), 0);
    let before = read(&place.path("out.csv"));
    assert_code(&place.run("resume out.jsonl"), 0);
    assert_eq!(read(&place.path("out.csv")), before);
    assert_whole(&place);
}

/// Replaces a text in the raw file.
fn edit(place: &Place, old: &str, new: &str) {
    let raw = place.path("out.jsonl");
    let lines = objects(&raw);
    assert!(lines.iter().any(|line| line.contains(old)), "{old}");
    let lines: Vec<String> = lines.iter().map(|line| line.replace(old, new)).collect();
    write_log(&raw, &lines);
}

#[test]
fn another_host_is_refused_unless_somebody_insists_and_then_the_rows_say_so() {
    let place = Place::new();
    end_early(&place, SWEEP, 17, Signal::SIGKILL);
    edit(&place, r#","machine":""#, r#","machine":"not "#);
    let refused = place.run("resume out.jsonl");
    assert_code(&refused, 2);
    let message = stderr(&refused);
    assert!(message.contains("the machine was not "), "{message}");
    assert!(message.contains("--accept-changes"), "{message}");

    assert_code(&place.run("resume out.jsonl --accept-changes"), 0);
    assert_whole(&place);
    let warned = |row: &&Row| {
        row.warnings.iter().any(|it| {
            it.to_string()
                .contains("with a difference: the machine was")
        })
    };
    let rows = rows(&place.path("out.csv"));
    let warned = rows.iter().filter(warned).count();
    assert_eq!(warned, CASES, "each has windows of either machine");
}

/// The fix for a small limit is printed; who applies it in the midst of a sweep has other buffers from then on.
#[test]
fn other_buffers_than_were_granted_are_another_host() {
    let place = Place::new();
    end_early(&place, SWEEP, 17, Signal::SIGKILL);
    let mut lines = objects(&place.path("out.jsonl"));
    let mut header: serde_json::Value = serde_json::from_str(&lines[0]).expect("JSON");
    let host = &mut header["header"]["environment"]["host"];
    host["rmem_max"] = 4096.into();
    host["exceeds_rmem_max"] = false.into();
    lines[0] = header.to_string();
    write_log(&place.path("out.jsonl"), &lines);
    let message = stderr(&refused(&place, "resume out.jsonl"));
    assert!(
        message.contains("SO_RCVBUF was granted up to 4096 B"),
        "{message}"
    );
}

#[test]
fn a_disk_that_is_full_at_the_start_leaves_no_empty_files() {
    let place = Place::new();
    let output = place.shell(&format!(
        "trap '' XFSZ; ulimit -f 0; exec $udpbench {SWEEP}"
    ));
    assert_code(&output, 1);
    assert_eq!(place.files(), Vec::<String>::new());
}

#[test]
fn a_case_that_cannot_run_any_more_fails_and_the_others_go_on() {
    let place = Place::new();
    let sweep = "--engine null,std --no-reference --connection connected --ip v4 --threads 2 --payload 9 \
                 --duration 5h --rounds 5 --warmup 0s --heat 0s -o out.csv";
    let mut child = start(&mut place.udpbench(sweep));
    wait_until("the block", || !lines(&place.path("out.jsonl")).is_empty());
    let pid = Pid::from_raw(child.id().try_into().expect("a pid"));
    kill(pid, Signal::SIGKILL).expect("it runs");
    child.wait().expect("it is reaped");
    // As if there were no IPv6 here any more: a pair that makes no sense stands for it.
    edit(
        &place,
        r#""sender":"std","receiver":"std""#,
        r#""sender":"std","receiver":"null""#,
    );
    edit(
        &place,
        r#""window_ns":3600000000000"#,
        r#""window_ns":1000000"#,
    );
    assert_code(&place.run("resume out.jsonl"), 2);
    assert_code(&place.run("resume out.jsonl --accept-changes"), 1);
    let rows = rows(&place.path("out.csv"));
    let status: Vec<Status> = rows.iter().map(|row| row.status).collect();
    assert_eq!(status, [Status::Ok, Status::Failed]);
    assert!(
        rows[1]
            .reason
            .to_string()
            .starts_with("cannot run any more"),
        "{}",
        rows[1].reason
    );
    assert_summarized(&place);
}

fn refused(place: &Place, arguments: &str) -> Output {
    let output = place.run(arguments);
    assert_code(&output, 2);
    output
}

#[test]
fn results_of_another_sweep_are_not_replaced() {
    let place = Place::new();
    assert_code(&place.run(&SWEEP.replace("out.csv", "other.csv")), 0);
    end_early(&place, SWEEP, 17, Signal::SIGKILL);
    let own = read(&place.path("out.csv"));
    let others = read(&place.path("other.csv"));
    for foreign in [others.as_str(), "precious", "a,b\n1,2\n"] {
        fs::write(place.path("out.csv"), foreign).expect("there is space");
        let refused = stderr(&refused(&place, "resume out.jsonl"));
        assert!(refused.contains("other contents"), "{refused}");
        assert_eq!(read(&place.path("out.csv")), foreign);
    }
    fs::write(place.path("out.csv"), own).expect("there is space");
    fs::write(place.path("out.csv.part"), "").expect("there is space");
    let refused = stderr(&refused(&place, "resume out.jsonl"));
    assert!(
        refused.contains("out.csv.part") && refused.contains("remove it"),
        "{refused}"
    );
    assert_code(&place.run("resume out.jsonl -o new.csv"), 0);
    let new = read(&place.path("new.csv"));
    assert_eq!(column(&new, "case").len(), CASES);
}

#[test]
fn two_programs_do_not_go_on_with_one_sweep() {
    let place = Place::new();
    let endless = SWEEP.replace("--duration 5ms", "--duration 5h");
    let mut child = start(&mut place.udpbench(&endless));
    wait_until("the start", || header(&place.path("out.jsonl")).is_some());
    let refused = place.run("resume out.jsonl");
    assert_code(&refused, 2);
    assert!(
        stderr(&refused).contains("another udpbench is writing to it"),
        "{}",
        stderr(&refused)
    );
    child.kill().expect("it runs");
    child.wait().expect("it is reaped");
}

#[test]
fn what_cannot_have_happened_is_refused_with_its_line() {
    let place = Place::new();
    assert_code(&place.run(SWEEP), 0);
    let raw = place.path("out.jsonl");
    let lines = objects(&raw);
    let window = &lines[2];
    assert!(window.starts_with(r#"{"window""#));
    let with = |number: usize, line: &str| {
        let mut lines = lines.clone();
        lines[number - 1] = line.to_owned();
        lines
    };
    for (lines, number, problem) in [
        (with(4, window), 4, "twice"),
        (
            with(3, &window.replace("null:null", "null:nil")),
            3,
            "is not one of the plan",
        ),
        (
            with(3, &window.replace(r#""window_ns":"#, r#""window_ns":-"#)),
            3,
            "invalid",
        ),
        (with(2, window), 2, "is not being measured"),
        (
            with(2, r#"{"block_ended":{"block":99,"by":"rounds"}}"#),
            2,
            "no block 99",
        ),
        (with(1, window), 1, "no header"),
        (
            with(1, &lines[0].replace(r#""format":3"#, r#""format":4"#)),
            1,
            "a log of format 4, but udpbench",
        ),
        (
            with(
                1,
                &lines[0].replace(r#""kind":"sweep""#, r#""kind":"more""#),
            ),
            1,
            "a log of the kind more",
        ),
    ] {
        write_log(&raw, &lines);
        assert_refused(&place, number, problem);
    }
}

/// Both commands that read a log name the line and the problem.
fn assert_refused(place: &Place, number: usize, problem: &str) {
    for command in ["summarize out.jsonl", "resume out.jsonl"] {
        let message = stderr(&refused(place, command));
        let expected = format!("out.jsonl, line {number}: ");
        assert!(message.contains(&expected), "{problem}: {message}");
        assert!(message.contains(problem), "{problem}: {message}");
    }
}

/// The lib's tests have thousands of such logs.
#[test]
fn a_log_that_somebody_changed_is_refused_with_its_line_and_the_fix() {
    let place = Place::new();
    assert_code(&place.run(SWEEP), 0);
    let raw = place.path("out.jsonl");
    let whole = read(&raw);
    let number = whole.lines().count() + 1;
    fs::write(&raw, whole.repeat(2)).expect("written");
    assert_refused(&place, number, "a second header: one file, one run");
    let changed = whole.replacen(r#""round":1,"#, r#""round":2,"#, 1);
    fs::write(&raw, changed).expect("written");
    assert_refused(&place, 3, "head -n 2 out.jsonl >kept.jsonl");
    fs::write(&raw, whole.replacen(r#""seed":"#, r#""seed":1"#, 1)).expect("written");
    assert_refused(&place, 1, "its checksum is wrong: it was changed");

    // As it says.
    fs::write(&raw, &whole).expect("written");
    assert_code(&place.shell("head -n 2 out.jsonl >kept.jsonl"), 0);
    fs::remove_file(place.path("out.csv")).expect("removed");
    assert_code(&place.run("resume kept.jsonl -o out.csv"), 0);
    fs::rename(place.path("kept.jsonl"), &raw).expect("renamed");
    assert_whole(&place);
}

#[test]
fn settings_come_from_the_file_and_not_from_the_command_line() {
    let place = Place::new();
    let refused = place.run("resume out.jsonl --threads 2");
    assert_code(&refused, 2);
    assert!(
        stderr(&refused).contains("--threads"),
        "{}",
        stderr(&refused)
    );
    assert_code(&place.run("resume none.jsonl"), 2);
    assert_code(&place.run("--accept-changes"), 2);
}

#[test]
fn more_rounds_are_measured_until_intervals_are_narrow_or_the_time_is_over() {
    let one = "--engine null --no-reference --connection connected --ip v4 --threads 2 --payload 1 --heat 0s \
               --warmup 0s --duration 6ms -o out.csv";
    let row = |more: &str| {
        let place = Place::new();
        assert_code(&place.run(&format!("{one} {more}")), 0);
        assert_summarized(&place);
        rows(&place.path("out.csv")).remove(0)
    };
    let plain = row("");
    assert_eq!(
        (plain.ended_by.as_str(), plain.until_pct, plain.rounds),
        ("rounds", None, 6)
    );
    let wide = row("--until 100% --max-time 1m");
    assert_eq!(
        (wide.ended_by.as_str(), wide.until_pct),
        ("until", Some(100.0))
    );
    // On a busy machine, a short time is over before there is another round.
    let goes_on = |max_time: &&str| {
        let over = row(&format!("--until 0.0001% --max-time {max_time}"));
        assert_eq!(over.ended_by, "max-time");
        over.rounds > 6
    };
    let times = ["300ms", "3s", "30s", "3m"];
    assert!(times.iter().any(goes_on));
}

#[test]
fn raw_samples_go_where_they_are_told_to() {
    let place = Place::new();
    let sweep = SWEEP.replace("-o out.csv", "-o - --samples here.jsonl");
    let output = place.run(&sweep);
    assert_code(&output, 0);
    assert_eq!(place.files(), ["here.jsonl"]);
    assert_eq!(stdout(&place.run("summarize here.jsonl")), stdout(&output));
    assert!(header(&place.path("here.jsonl")).is_some());
    // Not over anything.
    assert_code(&place.run(&sweep), 2);
}

#[test]
fn a_quiet_sweep_says_what_spoils_it_and_what_its_files_are() {
    let place = Place::new();
    let output = place.run(&format!("{SWEEP} --quiet"));
    assert_code(&output, 0);
    assert_eq!(stdout(&output), "");
    let message = stderr(&output);
    let is_spoiling = |line: &&str| line.starts_with("warning: ") || line.starts_with("   fix: ");
    let others: Vec<&str> = message.lines().filter(|line| !is_spoiling(line)).collect();
    assert_eq!(others, ["out.csv and .jsonl"]);
    assert_whole(&place);
}
