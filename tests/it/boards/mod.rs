//! Tests of board profiles and the machines that they are for: the profile of a host, the placement of its threads, and
//! the messages about broken profiles.
//!
//! The hosts are captures in `tests/fixtures/hosts`. See the README beside them.

mod any_text;
mod detection;
mod draft;
mod fixtures;
mod live;
mod own_profile;
mod placement;
mod profiles;
mod reading;
mod truth;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use assert_cmd::Command;
use udpbench::data::Threads;
use udpbench::host::board::{self, Board};
use udpbench::host::facts::Host;
use udpbench::sys::files::Root;

use crate::common::hosts::root;

fn udpbench() -> Command {
    Command::from_std(crate::common::program())
}

/// Returns the output of a command, which has to succeed without complaint.
fn stdout(command: &mut Command) -> String {
    let assert = command.assert().success().stderr("");
    String::from_utf8(assert.get_output().stdout.clone()).expect("is text")
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn host(name: &str) -> Host {
    Host::read(&Root::new(root(name)))
}

/// Returns the same host with a kernel that shows only the model.
fn by_model_alone(host: &Host) -> Host {
    Host {
        compatible: Vec::new(),
        ..host.clone()
    }
}

fn board_of(host: &Host) -> String {
    board::detect_among(all(), host).board.name
}

/// The profile of that name.
fn profile(name: &str) -> Board {
    board::find("a test", name, "").expect("is in the build")
}

/// Every profile of the build, parsed once.
fn all() -> Vec<Board> {
    static ALL: LazyLock<Vec<Board>> = LazyLock::new(|| board::all().expect("valid profiles"));
    ALL.clone()
}

/// The directory of the profiles.
fn boards() -> PathBuf {
    package().join("boards")
}

/// The text of the profile of that name, as it is on disk.
fn text_of(name: &str) -> String {
    fs::read_to_string(boards().join(format!("{name}.toml"))).expect("is readable")
}

fn threads(count: u16) -> Threads {
    count.try_into().expect("in range")
}

/// `udpbench plan` of one small case for that host.
fn plan_command(name: &str, threads: &str) -> Command {
    let mut command = udpbench();
    command
        .args(["plan", "--details", "--root"])
        .arg(root(name));
    command.args(["--threads", threads, "--payload", "300", "--engine", "std"]);
    command.args(["--connection", "connected", "--ip", "v4"]);
    command
}
