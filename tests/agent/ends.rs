//! What is refused, what fails, and what is left behind: nothing.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use udpbench::measure::site::{Edge, Flow, Part, Site, SiteBrief, Sites};
use udpbench::measure::{Local, message};
use udpbench::sys::files::Root;

use crate::common::wait_until;
use crate::{Run, agent, agent_command, case, end, run};

const LONGER_THAN_ANY_TEST: Duration = Duration::from_secs(86_400);

#[test]
fn what_cannot_run_at_two_sites_is_refused() {
    let (child, mut receivers) = agent();
    let root = Root::default();
    let mut sites = Sites::Two {
        receivers: &mut receivers,
        senders: &mut Local::new(&root),
    };
    let mut refused = |key| {
        let ran = run(&case(key), Run::Window, Duration::ZERO, &mut sites);
        ran.expect_err("it is refused")
    };
    let said = refused("std:std/1t/300B/connected/v4");
    assert!(
        said.starts_with("one thread that sends and receives"),
        "{said}"
    );
    let said = refused("null:null/2t/300B/connected/v4");
    assert!(
        said.starts_with("the engine null moves no datagrams"),
        "{said}"
    );
    // The agent goes on.
    let case = case("std:std/2t/300B/connected/v4");
    run(&case, Run::Window, Duration::ZERO, &mut sites).expect("loopback works");
    end(child, receivers);
}

#[test]
fn an_error_of_the_agent_keeps_its_text() {
    let (child, mut remote) = agent();
    let error = remote.bind().expect_err("nothing is open");
    assert_eq!(
        error.to_string(),
        "agent: no trial is open whose sockets could be made"
    );
    let error = remote.snapshot(Edge::Opening).expect_err("nothing runs");
    assert_eq!(error.to_string(), "agent: no trial has its threads");
    remote.abandon();
    end(child, remote);
}

/// How many threads a process has; 0 once it is gone.
fn threads_of(pid: u32) -> usize {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"));
    tasks.map_or(0, Iterator::count)
}

#[test]
fn an_agent_that_is_killed_ends_the_trial_with_an_error() {
    for agent_sends in [true, false] {
        let (mut child, mut remote) = agent();
        let idle = threads_of(child.id());
        let killer = thread::spawn(move || {
            wait_until("the start", || threads_of(child.id()) > idle);
            child.kill().expect("it is there");
            child.wait().expect("it is reaped")
        });
        let root = Root::default();
        let mut local = Local::new(&root);
        let mut sites = if agent_sends {
            Sites::Two {
                receivers: &mut local,
                senders: &mut remote,
            }
        } else {
            Sites::Two {
                receivers: &mut remote,
                senders: &mut local,
            }
        };
        let case = case("std:std/2t/300B/connected/v4");
        // That this test ends is the proof.
        let ran = run(&case, Run::Window, LONGER_THAN_ANY_TEST, &mut sites);
        let error = ran.expect_err("half of it is gone");
        assert!(error.starts_with("agent: "), "{error}");
        let status = killer.join().expect("no panic");
        assert!(!status.success());
        // Threads of this process that are left would keep the trial open.
        assert!(local.counts().is_err());
    }
}

#[test]
fn the_end_of_input_ends_an_agent_that_floods() {
    let (child, mut remote) = agent();
    let case = case("std:std/2t/300B/unconnected/v4");
    let brief = SiteBrief::of(case, Part::Both);
    let mut flood = || -> anyhow::Result<()> {
        remote.open(&brief)?;
        let peer = remote.bind()?[0];
        let source = remote.aim(peer)?;
        let flow = Flow {
            source,
            peer,
            receiver: 0,
        };
        remote.assemble(&[flow])?;
        remote.start()
    };
    flood().expect("loopback works");
    while remote.counts().expect("it runs").received == 0 {
        thread::yield_now();
    }
    end(child, remote);
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
    message::greet(&mut input, &message::Hello::here()).expect("it reads that");
    let output = child.wait_with_output().expect("it is reaped");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), said.as_str()), (Some(0), ""));
}
