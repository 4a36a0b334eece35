//! Helpers of the tests that run the whole program: a working directory, running the program, and reading its files.
//!
//! Crates of engines have tests with these, too: `examples/message-io`. The root of each test program says which
//! program it runs, where the repository is, and which engines are tested.
#![allow(
    unreachable_pub,
    reason = "a module of each test program, public to it"
)]
#![allow(dead_code, reason = "each test file uses its own part of this")]

pub mod cases;
pub mod hosts;
pub mod lab;
pub mod made_up;
pub mod pages;
pub mod swept;
pub mod transports;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};

use assert_cmd::cargo::CommandCargoExt;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;
use udpbench::data::Sample;
use udpbench::results::files::Results;
use udpbench::results::log::{Event, Header, Log, line};
use udpbench::results::row::Row;

/// Options of a sweep of many short blocks.
pub const LONG_SWEEP: &str = "--full --engine null --no-reference --ip v4 --heat 0s --warmup 0s --rounds 5 \
                          --duration 5ms --threads 2 -o out.csv --payload \
                          1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20";

/// Returns the command of the program. With `CARGO_TARGET_<TRIPLE>_RUNNER`, an emulator runs it, as cargo runs the
/// tests. It is in its `PATH`, so texts name it without its path.
pub fn program() -> Command {
    let mut command = Command::cargo_bin(crate::PROGRAM).expect("cargo has built it");
    command.env("PATH", path_with_program());
    command
}

/// Returns the rows of a JSON document that the program wrote.
pub fn json_rows(text: &str) -> Vec<serde_json::Value> {
    let document: serde_json::Value = serde_json::from_str(text).expect("a JSON document");
    document["rows"].as_array().expect("rows").clone()
}

/// Copies the program, by another process, as [`Place::script`] says.
pub fn copy_program(to: &Path) {
    let done = Command::new("cp")
        .arg(program().get_program())
        .arg(to)
        .status();
    assert!(done.expect("it is there").success(), "{}", to.display());
}

/// Returns a `PATH` that has the program first.
pub fn path_with_program() -> String {
    let program = assert_cmd::cargo::cargo_bin(crate::PROGRAM);
    let directory = program.parent().expect("a directory").display();
    format!("{directory}:{}", std::env::var("PATH").unwrap_or_default())
}

/// A temporary working directory, removed at the end.
pub struct Place(TempDir);

impl Place {
    pub fn new() -> Self {
        Self(TempDir::new().expect("a temporary directory"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a program that a shell runs. Another process writes it: whatever another test started meanwhile would
    /// hold a file that this one has open, and a file that is open for writing cannot be run.
    pub fn script(&self, name: &str, lines: &str) -> PathBuf {
        let path = self.path(name);
        let write = r#"printf '#!/bin/sh\n%s\n' "$1" >"$0" && chmod 755 "$0""#;
        let done = Command::new("sh")
            .arg("-c")
            .arg(write)
            .arg(&path)
            .arg(lines)
            .status();
        assert!(done.expect("a shell").success(), "{}", path.display());
        path
    }

    /// Returns the command of the program in this directory.
    pub fn udpbench(&self, arguments: &str) -> Command {
        let mut command = program();
        command
            .args(arguments.split_whitespace())
            .current_dir(self.0.path());
        command
    }

    /// Runs the program and waits for its end.
    pub fn run(&self, arguments: &str) -> Output {
        self.udpbench(arguments)
            .output()
            .expect("the program starts")
    }

    /// Runs the program, checks that it refuses its arguments with exit code 2, and returns its output.
    #[track_caller]
    pub fn refuses(&self, arguments: &str) -> Output {
        let output = self.run(arguments);
        let problem = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {problem}");
        output
    }

    /// Runs a sweep, checks that it succeeds and that its log can be read, and returns its rows.
    pub fn sweep(&self, arguments: &str) -> Vec<Row> {
        let output = self.run(&format!("{arguments} -o out.csv"));
        assert!(output.status.success(), "{}", stderr(&output));
        let rows = rows(&self.path("out.csv"));
        let log = Results::open(&self.path("out.jsonl")).expect("a log that can be read");
        assert_eq!(log.rows.len(), rows.len());
        rows
    }

    /// Checks that the raw samples of [`Place::sweep`] give the bytes that it wrote.
    pub fn has_them_made_again(&self) {
        let written = fs::read_to_string(self.path("out.csv")).expect("rows");
        let again = ["short", "all"].map(|columns| {
            let again = self.run(&format!("summarize out.jsonl --columns {columns}"));
            assert!(again.status.success(), "{}", stderr(&again));
            stdout(&again)
        });
        assert!(again.contains(&written), "{written}\n{again:?}");
    }

    /// Runs a shell script and waits for its end. `$udpbench` is the program.
    pub fn shell(&self, script: &str) -> Output {
        let program = program();
        let mut words = vec![program.get_program()];
        words.extend(program.get_args());
        let mut shell = Command::new("sh");
        shell
            .args(["-c", script])
            .env("udpbench", words.join(OsStr::new(" ")))
            .env("PATH", path_with_program());
        shell.current_dir(self.0.path()).output().expect("a shell")
    }

    /// Returns the names of the files in this directory, sorted.
    pub fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("it is there");
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> = entries.flatten().map(name).collect();
        names.sort();
        names
    }
}

/// Checks an exit code. A failure shows standard error.
#[track_caller]
pub fn assert_code(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}", stderr(output));
}

/// Number of times that a test kills the program. `UDPBENCH_TEST_KILLS=50` replaces the usual number.
pub fn kills(usual: u64) -> u64 {
    let typed = std::env::var("UDPBENCH_TEST_KILLS").ok();
    typed.map_or(usual, |kills| kills.parse().expect("a number"))
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

/// Returns the words of a text that was folded to the terminal, with a blank between two.
pub fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// Returns the rows of the log beside a CSV file, which may still be growing or cut off.
pub fn rows(csv: &Path) -> Vec<Row> {
    if whole_lines(csv).is_empty() {
        return Vec::new();
    }
    Results::open(csv).expect("every whole row parses").rows
}

/// Returns the log of a kept run with plain and offloading engines.
pub fn kept() -> PathBuf {
    Path::new(crate::ROOT).join("results/2026-11-28-x86-vm/first-answer.jsonl.gz")
}

/// Returns the windows of a log.
pub fn samples(jsonl: &Path) -> Vec<Sample> {
    let window = |line| match line {
        Event::Window(window) => Some(window.sample),
        _ => None,
    };
    lines(jsonl).into_iter().filter_map(window).collect()
}

/// Counts the complete windows of a log.
pub fn windows(jsonl: &Path) -> usize {
    let text = whole_lines(jsonl);
    text.lines()
        .filter(|line| line.starts_with(r#"{"window""#))
        .count()
}

/// Returns the first line of a log: the plan. `None` if it is not written yet.
pub fn header(jsonl: &Path) -> Option<Header> {
    let text = whole_lines(jsonl);
    let log = || Log::parse("raw", text.as_bytes()).expect("every whole line parses");
    (!text.is_empty()).then(|| log().header)
}

/// Returns the events of a log, one per line.
pub fn lines(jsonl: &Path) -> Vec<Event> {
    let objects = objects(jsonl).into_iter().skip(1);
    objects
        .map(|object| serde_json::from_str(&object).expect("every whole line parses"))
        .collect()
}

/// Returns the lines of a log without their checksums.
pub fn objects(jsonl: &Path) -> Vec<String> {
    let lines = whole_lines(jsonl);
    let objects = lines.lines().map(|line| {
        let checksum = line.rsplit_once(r#","crc":"#);
        format!("{}}}", checksum.expect("a checksum").0)
    });
    objects.collect()
}

/// Writes a log of these lines, with their checksums.
pub fn write_log(jsonl: &Path, objects: &[impl AsRef<[u8]>]) {
    fs::write(jsonl, line::lines(objects)).expect("there is space");
}

fn whole_lines(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    let end = text.rfind('\n').map_or(0, |newline| newline + 1);
    text[..end].to_owned()
}

/// Waits until the condition is true. Fails after four minutes.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !condition() {
        assert!(
            start.elapsed().as_secs() < 240,
            "{what} did not happen within four minutes"
        );
        // Sleeps between polls, since the awaited process needs the CPU.
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Does something when it is dropped: what a test has started ends even if the test fails.
pub struct AtEnd<F: FnMut()>(pub F);

impl<F: FnMut()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        self.0();
    }
}

/// Kills a process if this thread panics before the guard is dropped: the test fails, and does not wait for its end.
pub fn killed_on_panic(pid: u32) -> AtEnd<impl FnMut()> {
    let pid = Pid::from_raw(pid.try_into().expect("a process id"));
    AtEnd(move || {
        if std::thread::panicking() {
            let _ = kill(pid, Signal::SIGKILL);
        }
    })
}

/// A program that uses one CPU until it is dropped.
pub struct BusyProgram(Child);

impl BusyProgram {
    pub fn start() -> Self {
        let mut shell = Command::new("sh");
        let child = shell.args(["-c", "while :; do :; done"]).spawn();
        Self(child.expect("a shell"))
    }
}

impl Drop for BusyProgram {
    fn drop(&mut self) {
        self.0.kill().and_then(|()| self.0.wait()).expect("it ran");
    }
}
