//! Refused cases, failed and cancelled trials: each ends with its reason and leaves nothing behind.

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use udpbench::trial::agent::Agent;
use udpbench::trial::message::{self, Request};

use super::{agent_command, case, end, far_agent, run, spec, with_agents};
use crate::common::{killed_on_panic, wait_until};

const LONGER_THAN_ANY_TEST: Duration = Duration::from_secs(86_400);

#[test]
fn an_error_of_the_agent_keeps_its_text() {
    let (child, mut agent) = far_agent();
    let said = |agent: &mut Agent| {
        let answer = agent.call::<()>(&Request::Go);
        answer.expect_err("nothing is open").to_string()
    };
    assert_eq!(said(&mut agent), "agent: go is out of turn");
    agent.restart(false).expect("it restarts");
    assert_eq!(said(&mut agent), "agent: go is out of turn");
    end(child, agent);
}

/// Returns whether a process has bench threads. Others come and go, so their number says nothing.
fn runs_a_trial(pid: u32) -> bool {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"));
    let names = tasks.into_iter().flatten().flatten();
    let mut names = names.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    names.any(|name| name.starts_with("sender") || name.starts_with("receiver"))
}

/// Does something to an agent once it runs a trial.
fn once_it_runs<T: Send + 'static>(
    mut child: Child,
    what: impl FnOnce(&mut Child) -> T + Send + 'static,
) -> thread::JoinHandle<(Child, T)> {
    thread::spawn(move || {
        let _killed = killed_on_panic(child.id());
        wait_until("the start", || runs_a_trial(child.id()));
        let done = what(&mut child);
        (child, done)
    })
}

#[test]
fn an_agent_that_is_killed_ends_the_trial_with_an_error() {
    for way in ["", "/up", "/down"] {
        let (child, mut agent) = far_agent();
        let killer = once_it_runs(child, |child| {
            child.kill().expect("it is there");
            child.wait().expect("it is reaped")
        });
        let case = case(&format!("std:std/2t/300B/connected/v4{way}"));
        let spec = spec(&case, LONGER_THAN_ANY_TEST);
        // That this test ends is the proof.
        let ran = if way.is_empty() {
            agent.run(&spec).map_err(|error| format!("{error:#}"))
        } else {
            with_agents(Some(&mut agent), |agents| run(&spec, agents))
        };
        let error = ran.expect_err("half of it is gone");
        assert!(error.starts_with("agent: "), "{error}");
        let (_, status) = killer.join().expect("no panic");
        assert!(!status.success());
    }
}

#[test]
fn the_end_of_input_ends_an_agent_that_floods() {
    let (child, mut agent) = far_agent();
    let case = case("std:std/2t/300B/unconnected/v4");
    let spec = Box::new(spec(&case, LONGER_THAN_ANY_TEST));
    let waits = once_it_runs(child, |_| ());
    let asked = thread::spawn(move || {
        // It is never answered.
        let asked = agent.ask(&Request::Run(spec));
        asked.map(|()| agent)
    });
    let agent = asked.join().expect("no panic").expect("it hears");
    let (child, ()) = waits.join().expect("no panic");
    end(child, agent);
}

/// A flood at the agent ends at once: the other end may be gone, or the case was called off.
#[test]
fn an_agent_that_floods_begins_anew_when_it_is_asked_to() {
    let (child, mut agent) = far_agent();
    let pid = child.id();
    let spec = spec(
        &case("std:std/2t/300B/unconnected/v4"),
        LONGER_THAN_ANY_TEST,
    );
    agent.ask(&Request::Run(Box::new(spec))).expect("it hears");
    wait_until("the start", || runs_a_trial(pid));
    agent.restart(false).expect("it restarts");
    wait_until("the end", || !runs_a_trial(pid));
    agent.facts().expect("it answers");
    end(child, agent);
}

/// As when Ctrl-C ends a sweep.
#[test]
fn an_agent_whose_answer_nobody_takes_any_more_ends_without_a_word() {
    let mut agent = agent_command();
    let mut child = agent
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("a pipe");
    drop(child.stdout.take());
    message::write_hello(&mut input, &message::Hello::own()).expect("it reads that");
    let output = child.wait_with_output().expect("it is reaped");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), said.as_str()), (Some(0), ""));
}
