//! A trial whose halves run in two processes: its packet counts add up as those of one process do, and no end
//! of a connection leaves anything behind.

mod books;
#[path = "../common/mod.rs"]
mod common;
mod dead_link;
mod ends;
mod messages;
mod stalls;

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use udpbench::data::{Case, Sample};
use udpbench::measure::remote::Remote;
use udpbench::measure::site::Sites;
use udpbench::measure::{NoSample, Trial};
use udpbench::plan::Settings;
use udpbench::platform::placement::Placement;
use udpbench::sys::files::Root;
use udpbench::sys::interrupt::Asked;
use udpbench::sys::interrupt::Interrupt;

fn agent_command() -> Command {
    let mut command = common::program();
    command.arg("agent");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// An agent, and the site that it is.
fn agent() -> (Child, Remote) {
    let mut child = agent_command().spawn().expect("the program starts");
    let output = child.stdout.take().expect("a pipe");
    let input = child.stdin.take().expect("a pipe");
    let remote = Remote::connect(Some("agent"), output, input, &Asked::default())
        .expect("it is of this version");
    (child, remote)
}

/// Ends an agent by the end of its input.
fn end(mut child: Child, remote: Remote) {
    let start = Instant::now();
    drop(remote);
    let status = child.wait().expect("it is reaped");
    assert!(status.success(), "{status}");
    assert!(start.elapsed() < Duration::from_secs(3));
}

fn case(key: &str) -> Case {
    Case::of_key(key).expect("the key of a case")
}

fn settings(window: Duration) -> Settings {
    Settings {
        drop_reasons: false,
        warmup: Duration::from_millis(5),
        window,
        root: Root::default(),
        #[cfg(feature = "calibration")]
        delay: None,
    }
}

#[derive(Clone, Copy)]
enum Run {
    Window,
    Verification,
}

fn run(case: &Case, what: Run, window: Duration, sites: &mut Sites) -> Result<Sample, String> {
    let trial = Trial {
        case,
        placement: &Placement::unpinned(case.threads),
        settings: &settings(window),
        between: None,
    };
    let interrupt = Interrupt::never().expect("a pair of sockets");
    let ran = match what {
        Run::Window => trial.window(sites, &interrupt),
        Run::Verification => trial.verify(sites, &interrupt),
    };
    ran.map_err(|error| match error {
        NoSample::Failed(error) => format!("{error:#}"),
        NoSample::Interrupted => panic!("interrupted by nobody"),
    })
}
