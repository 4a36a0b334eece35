//! Programs in any language: `--engine exec:PROGRAM`. Those of `examples/languages` have a step of `.ci/run`; here are
//! the one in C, and programs that misbehave.

use std::fs;
use std::net::UdpSocket;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use udpbench::data::Ip;
use udpbench::results::row::{Row, Status};
use udpbench::sys::scheduling;

use crate::common::{Place, assert_code, kills, rows, stderr, stdout, wait_until, windows, words};

/// Compiles a program in C. The linker of Rust is a compiler of C.
fn compile(source: &str, into: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-Wall", "-Wextra", "-Werror", "-I"]);
    compiler.arg(root.join("include")).arg(root.join(source));
    let compiled = compiler.arg("-o").arg(into).output().expect("a compiler");
    assert!(compiled.status.success(), "{}", stderr(&compiled));
}

/// Returns a place with the programs `plain`, which does all right, and these that do not.
pub(crate) fn place_with(misbehaving: &[&str]) -> Place {
    let place = Place::new();
    compile("examples/languages/c/plain.c", &place.path("plain"));
    if !misbehaving.is_empty() {
        compile("tests/it/exec/misbehaving.c", &place.path("misbehaving"));
    }
    for name in misbehaving {
        symlink("misbehaving", place.path(name)).expect("it is new");
    }
    place
}

/// Returns the processes whose program lies in this directory.
fn running_in(place: &Place) -> Vec<PathBuf> {
    let directory = fs::canonicalize(place.path("")).expect("it is there");
    let processes = fs::read_dir("/proc").expect("mounted").flatten();
    let programs = processes.filter_map(|process| fs::read_link(process.path().join("exe")).ok());
    programs
        .filter(|program| program.starts_with(&directory))
        .collect()
}

/// Checks that no program is left. The kernel may need a moment to end those of a killed agent.
#[track_caller]
fn assert_none_left(place: &Place) {
    wait_until("the end of all programs", || running_in(place).is_empty());
}

fn row_of<'a>(rows: &'a [Row], engine: &str) -> &'a Row {
    let found = rows
        .iter()
        .find(|row| row.sender == engine || row.receiver == engine);
    found.unwrap_or_else(|| panic!("no {engine} in {rows:?}"))
}

const SHORT: &str = "--payload 300 --rounds 5 --duration 50ms --heat 0s --warmup 5ms";

#[test]
fn a_program_sends_and_receives_like_an_engine() {
    let place = place_with(&[]);
    let rows = place.sweep(&format!(
        "--sender std,exec:./plain --receiver exec:./plain --connection connected,unconnected --ip v4,v6 \
         --threads 2,4 --no-reference --verify {SHORT}"
    ));
    assert_eq!(rows.len(), 16);
    let has_ipv6 = UdpSocket::bind("[::1]:0").is_ok();
    for row in &rows {
        if row.ip == Ip::V6 && !has_ipv6 {
            assert_eq!(row.status, Status::Skipped, "{row:?}");
            continue;
        }
        assert_eq!(
            (row.status, row.receiver.as_str()),
            (Status::Ok, "plain"),
            "{row:?}"
        );
        assert_eq!(
            (row.corrupted_packets, row.unaccounted_packets),
            (Some(0), Some(0)),
            "{row:?}"
        );
        // The CPU time of the process, not that of the thread that waits for it.
        assert!(row.cpu_ns_per_packet > Some(100.0), "{row:?}");
    }
    place.has_them_made_again();
    assert_none_left(&place);
}

#[test]
fn a_program_asks_and_answers_like_an_engine() {
    let place = place_with(&[]);
    let rows = place.sweep(&format!(
        "--workload rr --sender std,exec:./plain --receiver std,exec:./plain --connection connected,unconnected \
         --verify --threads 2 {SHORT}"
    ));
    for row in &rows {
        assert_eq!(
            (row.status, row.corrupted_packets),
            (Status::Ok, Some(0)),
            "{row:?}"
        );
        assert!(
            row.rtt_p50_us > Some(1.0) && row.rtt_p50_us < Some(250_000.0),
            "{row:?}"
        );
    }
    assert_none_left(&place);
}

#[test]
fn each_misbehaviour_is_a_row_with_its_reason_and_leaves_nothing_behind() {
    let reasons = [
        (
            "exits",
            "ended before it was ready (exit status: 3): no such file: loop.toml",
        ),
        (
            "forks-and-leaves",
            "ended before it was ready (exit status: 0)",
        ),
        ("crashes", "ended during the trial (signal: 11 (SIGSEGV)"),
        (
            "writes-garbage",
            "published counts that went back, or grew beyond all limits",
        ),
        (
            "lies",
            "datagrams more than UDP delivered to all sockets of this host",
        ),
        (
            "has-company",
            "started other processes: a script has to exec its program",
        ),
        (
            "forks-late",
            "started other processes: a script has to exec its program",
        ),
        (
            "leaves-a-daemon",
            "started other processes: a script has to exec its program",
        ),
        ("forgets-bytes", "counted 0 B in "),
        ("ignores-the-end", "did not end within 2 s after `stop`"),
        ("closes-its-output", "nothing was sent"),
        ("talks-much", "nothing was sent"),
    ];
    let place = place_with(&reasons.map(|(name, _)| name));
    let engines = reasons.map(|(name, _)| format!("exec:./{name}")).join(",");
    let output = place.run(&format!(
        "--engine {engines},exec:./plain --threads 2 -o out.csv {SHORT}"
    ));
    assert_code(&output, 1);
    let rows = rows(&place.path("out.csv"));
    for (name, reason) in reasons {
        let row = row_of(&rows, name);
        assert_eq!(row.status, Status::Failed, "{row:?}");
        assert!(
            row.reason.to_string().contains(reason),
            "{name}: {}",
            row.reason
        );
    }
    assert_eq!(row_of(&rows, "plain").status, Status::Ok);
    assert_none_left(&place);
}

#[test]
fn after_a_failure_the_command_that_was_typed_is_the_next_step() {
    let place = place_with(&["exits"]);
    let typed = format!("--engine exec:./exits,exec:./plain --threads 2 {SHORT}");
    let typed = typed.replace("--rounds 5", "--rounds 6");
    let output = place.run(&format!("{typed} -o out.csv"));
    assert_code(&output, 1);
    let said = stdout(&output);
    let next = said.split("mend why cases failed").nth(1);
    let next = words(next.unwrap_or_else(|| panic!("{said}")));
    assert!(next.contains(&format!("udpbench {typed}")), "{said}");
}

#[test]
fn a_counter_that_lies_hugely_fails_before_anything_is_made_of_it() {
    let place = place_with(&["lies-hugely", "counts-ahead"]);
    let grew = "published counts that went back, or grew beyond all limits";
    for (arguments, reason) in [
        ("--engine exec:./lies-hugely", grew),
        ("--engine exec:./lies-hugely --verify", grew),
        ("--engine exec:./lies-hugely --workload rr", grew),
        (
            "--sender exec:./counts-ahead --receiver std --verify",
            "before `slots_ready` let it send them",
        ),
        (
            "--sender std --receiver exec:./counts-ahead --verify",
            "without waiting for `slots_ready`",
        ),
    ] {
        // A window that is not waited for.
        let output = place.run(&format!(
            "{arguments} --threads 2 --no-reference --payload 300 --rounds 5 --duration 500s --heat 0s -o out.csv"
        ));
        assert_code(&output, 1);
        for row in rows(&place.path("out.csv")) {
            assert!(
                row.reason.to_string().contains(reason),
                "{arguments}: {}",
                row.reason
            );
        }
        fs::remove_file(place.path("out.csv")).expect("it was made");
        fs::remove_file(place.path("out.jsonl")).expect("it was made");
    }
    assert_none_left(&place);
}

#[test]
fn a_program_with_a_real_time_priority_does_not_keep_off_the_thread_that_ends_it() {
    let Some(cpu) = last_cpu().filter(|_| scheduling::most_priority().is_some()) else {
        return;
    };
    let place = place_with(&["ignores-the-end", "tells-its-class"]);
    for (name, reason) in [
        ("tells-its-class", "class 1, priority 5"),
        ("ignores-the-end", "did not end within 2 s after `stop`"),
    ] {
        let output = place.run(&format!(
            "--workload rr --sender exec:./{name} --receiver std --sched fifo:5 --pin {cpu}:{cpu} --no-reference \
             --threads 2 -o {name}.csv {SHORT}"
        ));
        assert_code(&output, 1);
        let rows = rows(&place.path(&format!("{name}.csv")));
        let found = row_of(&rows, name).reason.to_string();
        assert!(found.contains(reason), "{found}");
    }
    assert_none_left(&place);
}

/// Returns the last CPU that this process may use.
fn last_cpu() -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|it| it.strip_prefix("Cpus_allowed_list:"))?;
    line.trim().rsplit([',', '-']).next()?.parse().ok()
}

/// It takes 20 s: two windows of a program that is never ready.
#[test]
fn a_program_that_hangs_is_given_up() {
    let place = place_with(&["hangs"]);
    let output = place.run(&format!(
        "--sender std --receiver exec:./hangs --threads 2 -o out.csv {SHORT}"
    ));
    assert_code(&output, 1);
    let rows = rows(&place.path("out.csv"));
    let reason = row_of(&rows, "hangs").reason.to_string();
    assert!(
        reason.ends_with("hangs was not ready after 10 s"),
        "{reason}"
    );
    assert_none_left(&place);
}

#[test]
fn a_kill_at_any_moment_leaves_no_process_and_no_row_behind() {
    let place = place_with(&[]);
    let arguments = format!("--engine exec:./plain --threads 2 {SHORT} -o out.csv");
    for n in 0..kills(5) {
        let mut command = place.udpbench(&arguments);
        let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut udpbench = quiet.spawn().expect("it starts");
        // Any moment: of the start, of a trial, or between two.
        thread::sleep(Duration::from_millis(n * 7919 % 900));
        udpbench.kill().expect("it can be killed");
        udpbench.wait().expect("it was killed");
        assert_none_left(&place);
        let measured = windows(&place.path("out.jsonl"));
        if measured > 0 {
            let resumed = place.run("resume out.jsonl");
            assert_code(&resumed, 0);
            assert!(windows(&place.path("out.jsonl")) >= measured.max(10));
            let rows = rows(&place.path("out.csv"));
            assert_eq!(row_of(&rows, "plain").status, Status::Ok);
        }
        for file in ["out.csv", "out.jsonl"] {
            let _ = fs::remove_file(place.path(file));
        }
    }
}

#[test]
fn a_kill_of_the_controller_ends_what_its_programs_have_started() {
    for name in ["forks-late", "leaves-a-daemon"] {
        let place = place_with(&[name]);
        let arguments = "--threads 2 --payload 300 --duration 500s --rounds 5 --heat 0s -o out.csv";
        let mut command = place.udpbench(&format!(
            "--engine exec:./{name} --no-reference {arguments}"
        ));
        let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut udpbench = quiet.spawn().expect("it starts");
        // Two programs, and what they have started.
        wait_until("the start of all four", || {
            assert!(matches!(udpbench.try_wait(), Ok(None)), "it has ended");
            running_in(&place).len() >= 4
        });
        udpbench.kill().expect("it can be killed");
        udpbench.wait().expect("it was killed");
        assert_none_left(&place);
    }
}

#[test]
fn a_program_that_cannot_be_started_is_refused_wherever_it_is_named() {
    let place = place_with(&[]);
    fs::write(place.path("text"), "no program").expect("a new file");
    fs::create_dir(place.path("folder")).expect("a new directory");
    let absent = "absent: cannot run here: No such file or directory";
    for (arguments, problem) in [
        ("--engine std,exec:./absent --threads 2", absent),
        ("plan --engine std,exec:./absent --threads 2", absent),
        ("--sender exec:./absent --receiver std --threads 2", absent),
        ("--sender std --receiver exec:./absent --threads 2", absent),
        ("latency --engine exec:./absent", absent),
        ("find lossless --engine exec:./absent", absent),
        (
            "--engine exec:./text --threads 2",
            "text: cannot run here: it is not executable: chmod +x",
        ),
        (
            "--engine exec:./folder --threads 2",
            "folder: cannot run here: it is a directory",
        ),
    ] {
        let output = place.run(arguments);
        assert_code(&output, 2);
        assert!(
            stderr(&output).contains(problem),
            "{arguments}: {}",
            stderr(&output)
        );
    }
    let output = place.shell(
        "$udpbench ab --a '--engine std' --b '--engine exec:./absent' --rounds 6 -o ab.jsonl -- --threads 2",
    );
    assert_code(&output, 2);
    assert!(stderr(&output).contains(absent), "{}", stderr(&output));
    assert_eq!(place.files(), ["folder", "plain", "text"]);
}

#[test]
fn what_a_program_cannot_do_is_skipped_with_the_reason() {
    let place = place_with(&[]);
    let skipped = |arguments: &str, reason: &str| {
        let plan = place.run(&format!("plan --threads 2 --payload 300 {arguments}"));
        let text = stdout(&plan)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(
            text.contains(reason),
            "{arguments}: {text} {}",
            stderr(&plan)
        );
    };
    let unknown = "plain is a program, which knows no --mlock, --rate,";
    for words in [
        "--rate 1k",
        "--workload bidir",
        "--workload rr --outstanding 4",
        "--workload rr --service 1ms",
    ] {
        skipped(&format!("--engine exec:./plain {words}"), unknown);
    }
    skipped(
        "--engine exec:./plain --transport tcp",
        "plain does not go over tcp",
    );
    skipped(
        "--engine exec:./plain --threads 1",
        "one thread sends and receives in turn: use --threads 2",
    );
    skipped("--engine exec:./plain --flows 4", "plain");
    if scheduling::may_lock_memory() {
        skipped("--engine exec:./plain --mlock on", unknown);
    }
}

#[test]
fn a_program_has_a_name_that_no_engine_has() {
    let place = place_with(&[]);
    for (argument, problem) in [
        ("exec:", "a program is missing: exec:PATH or exec:NAME=PATH"),
        ("exec:/usr/bin/std", "there is an engine std already"),
        ("exec:x=./plain,exec:x=./other", "x is"),
        (
            "exec:/a/program-with-a-very-long-name",
            "1 to 24 letters, digits and hyphens",
        ),
    ] {
        let output = place.refuses(&format!("--engine {argument}"));
        assert!(
            stderr(&output).contains(problem),
            "{argument}: {}",
            stderr(&output)
        );
    }
    let two = place.sweep(&format!(
        "--engine exec:a=./plain,exec:b=./plain --threads 2 {SHORT}"
    ));
    let names: Vec<&str> = two.iter().map(|row| row.receiver.as_str()).collect();
    assert_eq!(names, ["std", "a", "b"]);
}

#[test]
fn two_builds_of_a_program_are_compared() {
    let place = place_with(&[]);
    let script = "$udpbench ab --a '--engine exec:before=./plain' --b '--engine exec:after=./plain' --rounds 6 \
                  -o ab.jsonl -- --threads 2 --payload 300 --duration 60ms";
    let output = place.shell(script);
    assert!(
        matches!(output.status.code(), Some(0 | 3 | 4)),
        "{}",
        stderr(&output)
    );
    let table = stdout(&output);
    assert!(
        table.contains("before") && table.contains("after"),
        "{table}"
    );
    let again = place.run("resume ab.jsonl");
    assert_eq!(
        again.status.code(),
        output.status.code(),
        "{}",
        stderr(&again)
    );
    assert_none_left(&place);
}

/// Without a CSV there is no column to look at.
#[test]
fn failed_cases_are_counted_with_their_reason_and_no_column_is_named() {
    let place = Place::new();
    let output = place.run(
        "--engine exec:fails=/bin/false --no-reference --threads 2 --payload 26 --ip v4 --heat 0s \
         --duration 100ms --rounds 5 -o out.csv",
    );
    assert_code(&output, 1);
    let (shown, said) = (stdout(&output), stderr(&output));
    assert!(said.contains("1 of 1 cases failed\n"), "{said}");
    assert!(
        !said.contains("column") && !shown.contains("the column reason"),
        "{said}{shown}"
    );
    assert!(shown.contains("failed: "), "{shown}");
}
