//! Tests of `--baseline`, which names a run, and of `--against`, which compares a run with it at the end.

use std::fs;
use std::process::{Output, Stdio};
use std::sync::LazyLock;

use crate::common::made_up::{MadeUp, measured_pps};
use crate::common::{self, Place, assert_code, rows, stderr, stdout, wait_until, windows};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const SWEEP: &str = "--engine null,std,nix --threads 2 --payload 26,1460 --ip v4 --connection connected --pin none \
                     --rounds 6 --duration 60ms --warmup 1ms --heat 0s";

/// The files of a baseline, `before`, which is measured once for all tests.
static BEFORE: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let place = Place::new();
    let output = place.run(&format!("{SWEEP} --baseline before"));
    assert_code(&output, 0);
    let directory = fs::read_dir(place.path("results/baselines")).expect("it is there");
    let file = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().expect("UTF-8");
        (name, fs::read(entry.path()).expect("a file"))
    };
    directory.flatten().map(file).collect()
});

/// A place with a baseline, `before`.
fn measured() -> Place {
    let place = Place::new();
    let directory = place.path("results/baselines");
    fs::create_dir_all(&directory).expect("created");
    for (name, bytes) in BEFORE.iter() {
        fs::write(directory.join(name), bytes).expect("written");
    }
    place
}

/// Makes an engine of the baseline a million times as fast as it was: with two runs before and after, an interval on
/// a busy machine is wider than a factor of a hundred.
fn falsify(place: &Place) {
    for name in ["before.jsonl", "before.2.jsonl"] {
        let log = place.path("results/baselines").join(name);
        let made_up = MadeUp::from(&log).with_speeds(|case, sample| {
            let factor = if case.sender.to_string() == "nix" {
                1e6
            } else {
                1.0
            };
            factor * measured_pps(sample)
        });
        made_up.write(&log);
    }
}

#[test]
fn a_baseline_keeps_each_run_under_its_name() {
    let place = measured();
    let first = rows(&place.path("results/baselines/before.csv"));
    assert_eq!(first.len(), 6);
    assert!(place.path("results/baselines/before.jsonl").is_file());
    assert_code(&place.run(&format!("{SWEEP} --baseline before")), 0);
    assert_eq!(rows(&place.path("results/baselines/before.csv")), first);
    for run in 2..=4 {
        let name = format!("results/baselines/before.{run}.csv");
        assert_eq!(rows(&place.path(&name)).len(), 6);
    }
    let output = place.run(&format!("{SWEEP} --against before -o after.csv"));
    assert!(
        stderr(&output).contains("against before: 4 runs"),
        "{}",
        stderr(&output)
    );
    assert!(stdout(&output).contains("results/baselines/before.4.csv"));
}

#[test]
fn a_run_is_compared_with_a_baseline_at_its_end() {
    let place = measured();
    let output = place.run(&format!("{SWEEP} --against before -o after.csv"));
    // What the machine did meanwhile decides which.
    assert!(
        [Some(0), Some(3), Some(4)].contains(&output.status.code()),
        "{}",
        stderr(&output)
    );
    let second = if place.path("after.2.csv").is_file() {
        " after.2.csv"
    } else {
        ""
    };
    let before = "results/baselines/before.csv results/baselines/before.2.csv";
    let compared = place.run(&format!("compare {before} -- after.csv{second}"));
    assert_eq!(output.status.code(), compared.status.code());
    let compared = stdout(&compared);
    let verdicts = compared.split("\nnext  ").next().unwrap_or_default();
    let shown = stdout(&output);
    assert!(shown.contains(verdicts), "{shown}\n{compared}");
    assert!(!verdicts.is_empty());
}

#[test]
fn an_interrupted_run_is_compared_once_it_is_resumed() {
    let place = measured();
    let options = "--against before --threshold 5% --accept inconclusive";
    let child = place
        .udpbench(&format!(
            "--engine null,std --threads 2 --payload 26 --ip v4 --connection connected --pin none --rounds 6 \
             --duration 1200ms --heat 0s -o after.csv {options}"
        ))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let log = place.path("after.jsonl");
    wait_until("a window", || windows(&log) > 0);
    let pid = Pid::from_raw(child.id().try_into().expect("a pid"));
    kill(pid, Signal::SIGINT).expect("it runs");
    let said = stderr(&child.wait_with_output().expect("it ends"));
    let (_, hint) = said.split_once("resume with: udpbench ").expect("a hint");
    assert_eq!(hint.trim(), "resume after.jsonl");
    let resumed = place.shell(&format!("exec $udpbench {hint}"));
    let shown = stdout(&resumed);
    assert!(
        shown.contains("after.csv against results/baselines/before.csv"),
        "{shown}"
    );
}

/// Runs until one is slower than the baseline. Where other programs, such as other tests, take much of a run, that one
/// cannot tell, and must say so. `words` has the number of the run in the names of its files.
fn slower(place: &Place, words: impl Fn(u32) -> String) -> Output {
    const RUNS: u32 = 3;
    let run = |n| place.run(&words(n));
    let is_slower = |output: &Output| output.status.code() == Some(3);
    let mut last = run(1);
    for n in 2..=RUNS {
        if is_slower(&last) {
            break;
        }
        last = run(n);
    }
    let text = common::words(&(stdout(&last) + &stderr(&last)));
    let is_quiet = !text.contains(" against results/baselines/");
    let is_disturbed = is_quiet || text.contains("lost CPU time to other programs");
    let may_be_open = is_disturbed && !is_slower(&last);
    assert_code(&last, if may_be_open { 4 } else { 3 });
    last
}

#[test]
fn slower_than_the_baseline_is_exit_code_3() {
    let place = measured();
    falsify(&place);
    for how in [
        "-o after-N.csv",
        "-q -o quiet-N.csv",
        "-o - --samples after-N-2.jsonl",
    ] {
        let output = slower(&place, |n| {
            format!(
                "{SWEEP} --against before {}",
                how.replace('N', &n.to_string())
            )
        });
        let (out, err) = (stdout(&output), stderr(&output));
        let verdicts = " against results/baselines/before";
        let shown = (out.contains(verdicts), err.contains(verdicts));
        let expected = match how {
            "-o after-N.csv" => (true, false),
            "-q -o quiet-N.csv" => (false, false),
            _ => (false, true),
        };
        assert_eq!(shown, expected, "{how}: {out}{err}");
    }
    // A file is as good as a name, and the run may be kept as another baseline.
    slower(&place, |n| {
        format!("{SWEEP} --against results/baselines/before.csv --baseline after{n}")
    });
    assert_eq!(rows(&place.path("results/baselines/after1.csv")).len(), 6);
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_measured() {
    let place = measured();
    for (options, fix) in [
        (
            "--against befor",
            "--against befor: neither a baseline nor a file; did you mean before? there are before",
        ),
        (
            "--baseline ../up",
            "use letters, digits, dots, dashes and underscores",
        ),
        ("--baseline .hidden", "a letter or digit first"),
        ("--baseline=", "use letters, digits"),
        ("--baseline new -o new.csv", "cannot be used with"),
        ("--against before --suite board", "cannot be used with"),
    ] {
        let output = place.run(options);
        assert_eq!(output.status.code(), Some(2), "{options}");
        assert!(
            stderr(&output).contains(fix),
            "{options}: {}",
            stderr(&output)
        );
    }
    assert_eq!(place.files(), ["results"]);
    let names = fs::read_dir(place.path("results/baselines")).expect("it is there");
    assert_eq!(names.count(), 4);
    let nothing_yet = Place::new().run("--against before");
    assert!(
        stderr(&nothing_yet).contains("--baseline NAME makes one"),
        "{}",
        stderr(&nothing_yet)
    );
}

#[test]
fn what_has_no_case_in_common_is_no_success() {
    let place = measured();
    let other = SWEEP.replace("--payload 26,1460", "--payload 300");
    let output = place.run(&format!("{other} --against before -o after.csv"));
    refused_before_measuring(
        &place,
        &output,
        "no case of this run without a rate is in it",
    );
}

/// Exit code 2, that in the message, and no file.
fn refused_before_measuring(place: &Place, output: &Output, problem: &str) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(problem), "{said}");
    assert_eq!(place.files(), ["results"], "{said}");
}

#[test]
fn a_lone_engine_is_told_before_anything_is_measured_to_compare_with_nothing() {
    let place = Place::new();
    let alone = SWEEP.replace("--engine null,std,nix", "--engine std");
    place.run(&format!("{alone} --baseline before"));
    let output = place.run(&format!("{alone} --against before -o after.csv"));
    refused_before_measuring(&place, &output, "only std would be in both");
}
