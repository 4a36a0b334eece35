//! Two network namespaces as two hosts: drives `scripts/wire_lab.py`, which creates and removes them.
#![allow(
    unreachable_pub,
    reason = "a module of this test program, public to it"
)]

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, setns};
use serde_json::Value;
use udpbench::sys::scheduling;

use super::pages::root;
use super::path_with_program;

/// Exit code of the script without permission to make namespaces.
const SKIPPED: i32 = 77;
/// Time limit for the removal, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// An end of the cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The end where commands run.
    Near,
    /// The end with the sshd.
    Far,
}

/// Settings of a lab.
#[derive(Debug)]
pub struct Builder(Vec<String>);

/// Two network namespaces and what is between them. All of it goes away with this.
#[derive(Debug)]
pub struct Lab {
    script: Child,
    pipes: Mutex<Pipes>,
    names: Value,
}

#[derive(Debug)]
struct Pipes {
    /// The script ends when this does, as it does when this process is killed.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Builder {
    /// The MTU of both interfaces.
    pub fn mtu(self, bytes: u32) -> Self {
        self.with("--mtu", &bytes.to_string())
    }

    /// Interfaces that deliver by NAPI, which a socket can busy-poll.
    pub fn napi(mut self) -> Self {
        self.0.push("--napi".to_owned());
        self
    }

    /// A token bucket at one end: `20mbit`, or more of what tc-tbf(8) has.
    pub fn tbf(self, end: End, rate: &str) -> Self {
        self.with("--tbf", rate).at(end)
    }

    /// A class of HTB at one end.
    pub fn htb(self, end: End, rate: &str) -> Self {
        self.with("--htb", rate).at(end)
    }

    /// The test wire instead of a plain cable. In its rules, a is the near end.
    pub fn test_wire(self, rules: &str) -> Self {
        let program = test_wire().display().to_string();
        self.with("--test-wire", rules)
            .with("--test-wire-program", &program)
    }

    fn at(self, end: End) -> Self {
        self.with("--at", end.name())
    }

    fn with(mut self, flag: &str, value: &str) -> Self {
        self.0.extend([flag.to_owned(), value.to_owned()]);
        self
    }

    /// `None`, loudly: this machine has no such thing, or this user may not have it.
    pub fn start(self) -> Option<Lab> {
        // Each end has one to itself: see `swept::SHORT`.
        if scheduling::accepted_cpus(&[0, 1]).len() < 2 {
            eprintln!("SKIPPED: no lab can be had here, without CPUs 0 and 1");
            return None;
        }
        let mut script = Command::new(root().join("scripts/wire_lab.py"))
            .arg("--serve")
            .args(&self.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("scripts/wire_lab.py needs Python 3");
        let input = script.stdin.take();
        let mut output = BufReader::new(script.stdout.take().expect("a pipe"));
        let mut line = String::new();
        output.read_line(&mut line).expect("UTF-8");
        if line.is_empty() {
            let code = script.wait().expect("it is reaped").code();
            assert_eq!(code, Some(SKIPPED), "scripts/wire_lab.py {:?}", self.0);
            eprintln!("SKIPPED: no lab can be had here; scripts/wire_lab.py has said why");
            return None;
        }
        let names = serde_json::from_str(&line).expect("JSON");
        Some(Lab {
            script,
            pipes: Mutex::new(Pipes { input, output }),
            names,
        })
    }
}

impl Lab {
    /// With a plain cable.
    pub fn builder() -> Builder {
        Builder(Vec::new())
    }

    /// A program at the near end, to be started.
    pub fn near(&self, program: &str) -> Command {
        self.at(End::Near, program)
    }

    /// A program at the far end, without ssh.
    pub fn far(&self, program: &str) -> Command {
        self.at(End::Far, program)
    }

    fn at(&self, end: End, program: &str) -> Command {
        let mut command = Command::new(self.name(end, "enter"));
        command.arg(program).env("PATH", path_with_program());
        command
    }

    /// For `ssh -F`: it has the hosts `board` and, over IPv6, `board6`.
    pub fn ssh_config(&self) -> PathBuf {
        self.names["ssh_config"].as_str().expect("a path").into()
    }

    /// Returns the directory of all files of the lab.
    pub fn directory(&self) -> PathBuf {
        let config = self.ssh_config();
        config.parent().expect("a directory").to_owned()
    }

    /// The script, which is a process of its own.
    pub fn pid(&self) -> u32 {
        self.script.id()
    }

    /// The IPv4 address of an end.
    pub fn ipv4(&self, end: End) -> IpAddr {
        self.name(end, "ipv4").parse().expect("an address")
    }

    /// The IPv6 address of an end, if the kernel has IPv6.
    pub fn ipv6(&self, end: End) -> Option<IpAddr> {
        let address = self.names[end.name()]["ipv6"].as_str()?;
        Some(address.parse().expect("an address"))
    }

    /// The network namespace of an end, as a file.
    pub fn netns(&self, end: End) -> PathBuf {
        self.name(end, "netns").into()
    }

    /// Runs something in a thread that is in the network namespace of an end. Sockets that it makes stay there.
    pub fn within<T: Send>(&self, end: End, run: impl FnOnce() -> T + Send) -> T {
        let netns = File::open(self.netns(end)).expect("the lab is up");
        let enter =
            || setns(netns, CloneFlags::CLONE_NEWNET).expect("permitted, as to make it was");
        thread::scope(|scope| {
            let thread = scope.spawn(|| {
                enter();
                run()
            });
            thread.join().expect("what it ran did not panic")
        })
    }

    /// A UDP socket at an end, bound to this address of it.
    pub fn socket(&self, end: End, address: IpAddr) -> UdpSocket {
        let bind = || UdpSocket::bind(SocketAddr::from((address, 0)));
        self.within(end, bind).expect("the address is there")
    }

    /// Returns the report of the test wire on everything sent so far.
    pub fn report(&self) -> Value {
        let mut pipes = self.pipes.lock().unwrap_or_else(PoisonError::into_inner);
        let input = pipes.input.as_mut().expect("the lab is up");
        input.write_all(b"report\n").expect("the lab is up");
        let mut line = String::new();
        pipes.output.read_line(&mut line).expect("UTF-8");
        serde_json::from_str(&line).expect("JSON")
    }

    /// Counters of the interface of an end: `ip -s -j link`.
    pub fn link(&self, end: End) -> Value {
        self.json(end, "ip -s -j link show dev")
    }

    /// Counters of the queueing discipline of an end: `tc -s -j qdisc`.
    pub fn qdisc(&self, end: End) -> Value {
        self.json(end, "tc -s -j qdisc show dev")
    }

    fn json(&self, end: End, command: &str) -> Value {
        let interface = self.name(end, "interface");
        let mut words = command.split(' ');
        let program = words.next().unwrap_or_default();
        let output = self.at(end, program).args(words).arg(interface).output();
        let output = output.expect("iproute2, which the lab was made with");
        let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        found[0].clone()
    }

    fn name(&self, end: End, what: &str) -> &str {
        self.names[end.name()][what].as_str().expect("a name")
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let pipes = self.pipes.get_mut();
        pipes.unwrap_or_else(PoisonError::into_inner).input = None;
        let start = Instant::now();
        while matches!(self.script.try_wait(), Ok(None)) && start.elapsed() < TIMEOUT {
            thread::sleep(Duration::from_millis(5));
        }
        // Then its watchdog removes the rest.
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}

impl End {
    fn name(self) -> &'static str {
        match self {
            Self::Near => "near",
            Self::Far => "far",
        }
    }
}

/// The example test_wire, as it is now: `cargo test --test wire` alone does not build it.
fn test_wire() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--locked", "--example", "test_wire"]);
        cargo.args(["--message-format=json-render-diagnostics", "--features"]);
        // Those of this test, so that nothing is built again.
        cargo.arg(features()).current_dir(root());
        if cfg!(not(feature = "default")) {
            cargo.arg("--no-default-features");
        }
        if cfg!(not(debug_assertions)) {
            cargo.arg("--release");
        }
        let output = cargo.stderr(Stdio::inherit()).output().expect("cargo");
        let lines = String::from_utf8(output.stdout).expect("UTF-8");
        let executable = |line| {
            let message: Value = serde_json::from_str(line).ok()?;
            message["executable"].as_str().map(PathBuf::from)
        };
        let program = lines.lines().find_map(executable);
        program.expect("the example test_wire can be built")
    })
}

fn features() -> String {
    let all = [
        ("board", cfg!(feature = "board")),
        ("report", cfg!(feature = "report")),
        ("manual", cfg!(feature = "manual")),
        ("calibration", cfg!(feature = "calibration")),
        ("tokio", cfg!(feature = "tokio")),
        ("quinn-udp", cfg!(feature = "quinn-udp")),
        ("uring", cfg!(feature = "uring")),
    ];
    let built = all.into_iter().filter(|(_, is_built)| *is_built);
    built.map(|(name, _)| name).collect::<Vec<_>>().join(",")
}
