//! Setup and removal of a lab: nothing of it is left, however it ends.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::lab::{End, Lab};
use crate::common::{stderr, stdout, wait_until};

/// Traces that a lab could leave.
struct Traces {
    directory: PathBuf,
    namespaces: Vec<PathBuf>,
}

impl Traces {
    fn of(lab: &Lab) -> Self {
        let namespace = |end| fs::read_link(lab.netns(end)).expect("the lab is up");
        Self {
            directory: lab.directory(),
            namespaces: [End::Near, End::Far].map(namespace).to_vec(),
        }
    }

    /// The interfaces are gone with their namespaces, and these with the last process in them.
    fn are_gone(&self) -> bool {
        let entries = fs::read_dir("/proc").expect("it is there").flatten();
        let mut namespaces =
            entries.filter_map(|entry| fs::read_link(entry.path().join("ns/net")).ok());
        !self.directory.exists() && !namespaces.any(|found| self.namespaces.contains(&found))
    }
}

/// Starts something at the far end that would go on for long, over ssh.
fn stay(lab: &Lab) -> std::process::Child {
    let mut ssh = lab.near("ssh");
    ssh.arg("-F").arg(lab.ssh_config());
    ssh.args(["board", "echo up; exec sleep 1000"]);
    let mut child = ssh.stdout(Stdio::piped()).spawn().expect("ssh");
    let mut up = [0; 3];
    let output = child.stdout.as_mut().expect("a pipe");
    std::io::Read::read_exact(output, &mut up).expect("it is logged in");
    child
}

#[test]
fn a_lab_leaves_nothing_when_its_input_ends() {
    // As it does when the process is killed that started it.
    let Some(lab) = Lab::builder().test_wire("").start() else {
        return;
    };
    let (traces, mut session) = (Traces::of(&lab), stay(&lab));
    assert!(!traces.are_gone());
    drop(lab);
    assert!(traces.are_gone());
    session.wait().expect("it is reaped");
}

#[test]
fn a_lab_leaves_nothing_when_its_script_is_killed() {
    for signal in [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGINT] {
        let Some(lab) = Lab::builder().test_wire("").start() else {
            return;
        };
        let (traces, mut session) = (Traces::of(&lab), stay(&lab));
        let pid = i32::try_from(lab.pid()).expect("a pid");
        kill(Pid::from_raw(pid), signal).expect("it runs");
        wait_until("all is gone", || traces.are_gone());
        session.wait().expect("it is reaped");
    }
}

#[test]
fn the_board_is_reached_by_ssh_over_both_ips() {
    let Some(lab) = Lab::builder().mtu(1400).start() else {
        return;
    };
    let hosts: &[&str] = match lab.ipv6(End::Far) {
        Some(_) => &["board", "board6"],
        None => &["board"],
    };
    for host in hosts {
        let mut ssh = lab.near("ssh");
        ssh.arg("-F").arg(lab.ssh_config());
        let output = ssh
            .args([host, "ls /sys/class/net; cat /sys/class/net/eth0/mtu"])
            .output();
        let output = output.expect("ssh");
        assert_eq!(stdout(&output), "eth0\nlo\n1400\n", "{}", stderr(&output));
    }
    assert_eq!(lab.link(End::Far)["mtu"], 1400);
    // In the directory of the caller.
    let output = lab.far("pwd").current_dir("/proc").output().expect("pwd");
    assert_eq!(stdout(&output), "/proc\n");
}

#[test]
fn labs_stand_side_by_side() {
    let labs = [(); 3].map(|()| Lab::builder().start());
    for lab in labs.iter().flatten() {
        assert_eq!(lab.link(End::Near)["ifname"], "eth0");
    }
}

#[test]
fn the_exit_code_is_that_of_the_command_or_says_what_was_wrong() {
    if Lab::builder().start().is_none() {
        return;
    }
    for (arguments, code, message) in [
        (vec!["--", "sh", "-c", "exit 5"], 5, ""),
        (vec!["--", "sh", "-c", "kill -9 $$"], 137, ""),
        (vec!["--mtu", "100"], 2, "--mtu 100: from 1280"),
        (vec!["--serve", "--", "true"], 2, "--serve runs no command"),
        (vec!["--report", "x"], 2, "add --test-wire RULES"),
        (vec!["--tbf", "fast", "--", "true"], 1, "tbf rate fast"),
    ] {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/wire_lab.py");
        let output = Command::new(script)
            .args(&arguments)
            .output()
            .expect("it starts");
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(message), "{arguments:?}: {said}");
    }
}

#[test]
fn a_queue_says_what_it_dropped() {
    let bucket = Lab::builder().tbf(End::Near, "1mbit burst 5kb limit 10kb");
    let class = Lab::builder().htb(End::Near, "1mbit");
    for (builder, kind) in [(bucket, "tbf"), (class, "htb")] {
        let Some(lab) = builder.start() else {
            return;
        };
        let far = lab.socket(End::Far, lab.ipv4(End::Far));
        let near = lab.socket(End::Near, lab.ipv4(End::Near));
        near.connect(far.local_addr().expect("bound"))
            .expect("a route");
        // As many as the socket has room for.
        for _ in 0..50 {
            near.send(&[0; 1000]).expect("drops of a queue are silent");
        }
        wait_until("the queue is empty", || {
            lab.qdisc(End::Near)["backlog"] == 0
        });
        far.set_read_timeout(Some(Duration::from_millis(300)))
            .expect("a timeout");
        let received = std::iter::from_fn(|| far.recv(&mut [0; 2000]).ok()).count() as u64;
        let qdisc = lab.qdisc(End::Near);
        let dropped = qdisc["drops"].as_u64().expect("a count");
        assert_eq!((&qdisc["kind"], received + dropped), (&kind.into(), 50));
        assert!(kind == "htb" || dropped > 0, "{qdisc}");
    }
}
