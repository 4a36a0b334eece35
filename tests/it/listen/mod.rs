//! Tests of `udpbench listen`, with senders of their own that know what they sent, and when.

mod cli;
mod groups;
mod log;
mod series;
mod truth;

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, UdpSocket};
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::common::program;

/// A running listener.
struct Listener {
    child: Child,
    /// Its messages after the heading.
    errors: BufReader<std::process::ChildStderr>,
}

impl Listener {
    /// Starts to listen with these options, and returns once everything is counted.
    fn start(options: &str) -> Self {
        Self::of(program(), options)
    }

    fn of(mut command: Command, options: &str) -> Self {
        let mut child = command
            .arg("listen")
            .args(options.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it was built");
        let mut errors = BufReader::new(child.stderr.take().expect("piped"));
        let mut heading = String::new();
        errors.read_line(&mut heading).expect("text");
        assert!(heading.contains("listens on"), "{options}: {heading}");
        Self { child, errors }
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().try_into().expect("a pid"));
        kill(pid, signal).expect("it runs");
    }

    /// Returns standard output, standard error and the exit code, after Ctrl-C.
    fn end(self) -> (String, String, Option<i32>) {
        self.signal(Signal::SIGINT);
        self.wait()
    }

    /// Returns standard output, standard error and the exit code.
    fn wait(mut self) -> (String, String, Option<i32>) {
        let mut text = String::new();
        let mut output = self.child.stdout.take().expect("piped");
        output.read_to_string(&mut text).expect("text");
        let mut errors = String::new();
        self.errors.read_to_string(&mut errors).expect("text");
        (text, errors, self.child.wait().expect("it ends").code())
    }

    /// Returns the summary of `--format json` after Ctrl-C.
    fn summary(self) -> Value {
        let (text, errors, code) = self.end();
        assert_eq!(code, Some(0), "{errors}");
        serde_json::from_str(&text).expect("JSON")
    }
}

/// Returns an address whose port is free.
fn free(address: &str) -> SocketAddr {
    let socket = UdpSocket::bind(address).expect("the address is there");
    socket.local_addr().expect("bound")
}

/// Returns a number of a summary.
#[track_caller]
fn count(summary: &Value, path: &str) -> u64 {
    let value = summary.pointer(path);
    let number = value.and_then(Value::as_u64);
    number.unwrap_or_else(|| panic!("{path} in {summary:#}"))
}
