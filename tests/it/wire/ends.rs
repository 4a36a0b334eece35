//! Ends of a sweep between two hosts: however it ends, neither host keeps a process of it, and its results are
//! complete.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use udpbench::results::log::Log;
use udpbench::results::row::Status;

use crate::common::lab::{End, Lab};
use crate::common::{Place, kills, program, rows, stderr, wait_until};

/// Windows that are over, and long ones to be cut off; then the same few rounds again.
const SWEEP: &str = "--pin 0:1 --no-reference --engine std,mmsg --threads 2 --payload 300 --heat 0s --warmup 5ms \
                     --rounds 6 --duration 1200ms -q -o out.csv";
/// Time limit for the end of everything: 3 s without a word from the other end, and the delays of a busy machine.
pub(crate) const GONE: Duration = Duration::from_secs(60);
/// A sweep that goes on, and what it leaves.
struct Sweep<'a> {
    lab: &'a Lab,
    place: Place,
    controller: Child,
    /// Processes that ran at either end before.
    others: Vec<i32>,
}

impl<'a> Sweep<'a> {
    fn start(lab: &'a Lab) -> Self {
        let place = Place::new();
        let others = processes(lab);
        let mut command = wire(lab, &place);
        command.args(SWEEP.split_whitespace());
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let controller = command.spawn().expect("it can be started");
        Self {
            lab,
            place,
            controller,
            others,
        }
    }

    /// One that has measured something, at no moment in particular.
    fn in_the_middle(lab: &'a Lab) -> Self {
        let mut sweep = Self::start(lab);
        sweep.wait_for_a_window();
        a_while();
        sweep
    }

    fn log(&self) -> PathBuf {
        self.place.path("out.jsonl")
    }

    /// Until something is measured.
    fn wait_for_a_window(&mut self) {
        let log = self.log();
        wait_until("a window", || {
            let ended = self.controller.try_wait().expect("it is a child");
            assert_eq!(ended, None, "it ended before it had measured");
            fs::read_to_string(&log).is_ok_and(|it| it.contains("\"window\":{"))
        });
    }

    /// Processes of the sweep at an end whose command line has this in it.
    fn with(&self, end: End, words: &str) -> Vec<i32> {
        let netns = netns(&self.lab.netns(end));
        let new = processes(self.lab).into_iter();
        let new = new.filter(|pid| !self.others.contains(pid));
        let at_end = new.filter(|pid| netns_of(*pid) == netns);
        at_end
            .filter(|pid| command_line(*pid).contains(words))
            .collect()
    }

    /// Waits until it is over, and nothing of it runs at either end. Returns what it said.
    fn end(mut self) -> (Place, String) {
        let since = Instant::now();
        loop {
            let is_over = self.controller.try_wait().expect("it is a child").is_some();
            let new = processes(self.lab).into_iter();
            let new = new.filter(|pid| !self.others.contains(pid));
            let mut left: Vec<String> = new.map(command_line).collect();
            // sshd waits for its client as long as TCP does, with nothing of ours.
            left.retain(|words| !words.is_empty() && !words.starts_with("sshd"));
            if is_over && left.is_empty() {
                break;
            }
            assert!(since.elapsed() < GONE, "{is_over}, {left:?}");
            thread::sleep(Duration::from_millis(20));
        }
        let output = self.controller.wait_with_output().expect("it is over");
        (self.place, stderr(&output))
    }
}

fn wire(lab: &Lab, place: &Place) -> std::process::Command {
    let udpbench = program();
    let program = udpbench.get_program().to_str().expect("UTF-8");
    let mut command = lab.near(program);
    let ssh = format!("ssh -F {}", lab.ssh_config().display());
    command.args(["wire", "board", "--rsh", &ssh, "--agent", program]);
    command.current_dir(place.path("."));
    command
}

/// Returns the processes at either end.
pub(crate) fn processes(lab: &Lab) -> Vec<i32> {
    let ends = [End::Near, End::Far].map(|end| netns(&lab.netns(end)));
    let all = fs::read_dir("/proc").expect("Linux").flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| ends.contains(&netns_of(*pid))).collect()
}

fn netns_of(pid: i32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/ns/net")).ok()
}

fn netns(path: &Path) -> Option<PathBuf> {
    fs::read_link(path).ok()
}

pub(crate) fn command_line(pid: i32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&words).replace('\0', " ")
}

fn parent(pid: i32) -> Option<i32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    parent.trim().parse().ok()
}

fn kill_all(pids: &[i32]) {
    assert!(!pids.is_empty(), "nothing to kill");
    for pid in pids {
        // One may have ended with another.
        let _ = kill(Pid::from_raw(*pid), Signal::SIGKILL);
    }
}

/// A moment in the middle of something.
fn a_while() {
    thread::sleep(Duration::from_millis(fastrand::u64(0..700)));
}

/// The log is whole but for its last line, and the sweep goes on to its end.
fn go_on(lab: &Lab, place: &Place) {
    let bytes = fs::read(place.path("out.jsonl")).expect("a log");
    let log: Log = Log::parse("out.jsonl", &bytes).expect("whole");
    assert!(log.lines.len() > 1, "nothing was measured");
    let mut command = lab.near(program().get_program().to_str().expect("UTF-8"));
    command.args(["resume", "out.jsonl", "-q"]);
    command.current_dir(place.path("."));
    let output = command.output().expect("it can be started");
    assert!(output.status.success(), "{}", stderr(&output));
    let rows = rows(&place.path("out.csv"));
    assert_eq!(rows.len(), 4, "{rows:?}");
    for row in rows {
        assert_eq!((row.status, row.rounds), (Status::Ok, 6), "{row:?}");
        assert_eq!(row.unaccounted_packets, Some(0), "{row:?}");
    }
}

#[test]
fn a_controller_that_is_killed_leaves_nothing() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    for _ in 0..kills(2) {
        let mut sweep = Sweep::in_the_middle(&lab);
        sweep.controller.kill().expect("it runs");
        let (place, _) = sweep.end();
        go_on(&lab, &place);
    }
}

#[test]
fn an_agent_that_is_killed_ends_the_sweep() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    for _ in 0..kills(2) {
        let sweep = Sweep::in_the_middle(&lab);
        let agents = sweep.with(End::Far, " agent ").into_iter();
        // The one that ssh has started has others run the trials.
        let first: Vec<i32> = agents
            .filter(|pid| !parent(*pid).is_some_and(|it| command_line(it).contains(" agent ")))
            .collect();
        kill_all(&first);
        let (place, said) = sweep.end();
        let (_, hint) = said.split_once("resume with: udpbench ").expect("a hint");
        let program = program().get_program().display().to_string();
        // As it is pasted: with the ssh and the agent of before.
        let mut shell = lab.near("sh");
        shell.args(["-c", &format!("exec {program} {hint}")]);
        let resumed = shell
            .current_dir(place.path("."))
            .output()
            .expect("a shell");
        assert!(resumed.status.success(), "{hint}: {}", stderr(&resumed));
        go_on(&lab, &place);
    }
}

#[test]
fn ssh_that_is_killed_ends_the_sweep() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    for _ in 0..kills(2) {
        let sweep = Sweep::in_the_middle(&lab);
        let ssh = sweep.with(End::Near, "ssh -F").into_iter();
        // The controller has that among its own words.
        let ssh: Vec<i32> = ssh
            .filter(|pid| !command_line(*pid).contains("wire"))
            .collect();
        kill_all(&ssh);
        let (place, said) = sweep.end();
        assert!(said.contains("the other host is gone"), "{said}");
        let left = rows(&place.path("out.csv"));
        let left = left.iter().filter(|row| row.status != Status::Failed);
        for row in left {
            assert_eq!(row.ended_by, "other-host", "{row:?}");
            let is_told = row
                .reason
                .to_string()
                .starts_with("the other host is gone: ");
            assert!(is_told || row.rounds == 6, "{row:?}");
        }
        go_on(&lab, &place);
    }
}

#[test]
fn a_cable_that_is_pulled_ends_both() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let set = |state: &str| {
        let mut ip = lab.near("ip");
        let status = ip.args(["link", "set", "eth0", state]).status();
        assert!(status.expect("iproute2").success());
    };
    for _ in 0..kills(2) {
        let sweep = Sweep::in_the_middle(&lab);
        set("down");
        let (place, said) = sweep.end();
        assert!(
            said.contains("resume with: udpbench resume out.jsonl"),
            "{said}"
        );
        set("up");
        go_on(&lab, &place);
    }
}

#[test]
fn ctrl_c_keeps_what_was_measured() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let mut sweep = Sweep::start(&lab);
    sweep.wait_for_a_window();
    let pid = i32::try_from(sweep.controller.id()).expect("a pid");
    kill(Pid::from_raw(pid), Signal::SIGINT).expect("it runs");
    let (place, said) = sweep.end();
    assert!(said.contains("interrupted: "), "{said}");
    go_on(&lab, &place);
}

#[test]
fn ctrl_c_before_the_first_window_is_no_failure() {
    // The longest datagram that gets through is looked for by halves, in seconds.
    let Some(lab) = Lab::builder().test_wire("a>b drop size 100-").start() else {
        return;
    };
    let mut sweep = Sweep::start(&lab);
    wait_until("an agent", || !sweep.with(End::Far, " agent ").is_empty());
    a_while();
    let pid = i32::try_from(sweep.controller.id()).expect("a pid");
    kill(Pid::from_raw(pid), Signal::SIGINT).expect("it runs");
    let code = sweep.controller.wait().expect("it is a child").code();
    let (place, said) = sweep.end();
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("nothing is measured yet"), "{said}");
    assert!(!place.path("out.csv").exists(), "{said}");
}
