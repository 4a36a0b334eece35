//! A dead connection between controller and agent: the streams stay open, nothing arrives, and nobody waits forever.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

use udpbench::sys::interrupt::StopRequested;
use udpbench::trial::agent::Agent;
use udpbench::trial::message::{self, Hello};

use super::agent_command;

/// Time without a word after which the other is taken for gone. Nothing bounds what a busy machine adds.
const SILENCE: Duration = Duration::from_millis(2500);

fn greet_from_afar(output: &mut impl Write) {
    let hello = Hello {
        agent_is_remote: true,
        ..Hello::own()
    };
    message::write_hello(output, &hello).expect("somebody reads that");
}

#[test]
fn an_agent_that_hears_nothing_any_more_ends() {
    let mut child = agent_command()
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("a pipe");
    let since = Instant::now();
    greet_from_afar(&mut input);
    let output = child.wait_with_output().expect("it ends");
    assert!(since.elapsed() >= SILENCE, "{:?}", since.elapsed());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("was not heard of for 3 s"), "{said}");
    // It was open all the time.
    drop(input);
}

#[test]
fn who_asks_an_agent_that_says_nothing_any_more_is_told() {
    let (local, mut remote) = UnixStream::pair().expect("two sockets");
    let output = local.try_clone().expect("another descriptor");
    let since = Instant::now();
    greet_from_afar(&mut remote);
    let agent = Agent::connect(
        Some("board"),
        local,
        output,
        false,
        &StopRequested::default(),
    );
    let mut agent = agent.expect("it is of this version");
    let error = format!("{:#}", agent.facts().expect_err("nobody answers"));
    assert!(since.elapsed() >= SILENCE, "{:?}", since.elapsed());
    assert_eq!(error, "board: nothing was heard of it for 3 s");
    // It was open all the time.
    drop(remote);
}
