//! Tests of trials in agents, on one host and as if between two. The packet counts add up, and neither end leaves
//! anything behind when the connection ends.

mod accounting;
mod dead_link;
mod ends;
mod messages;
mod stalls;

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use udpbench::data::{Case, HostAddress, Sample};
use udpbench::host::placement::Placement;
use udpbench::plan::{EndAddresses, Settings};
use udpbench::sys::files::Root;
use udpbench::sys::interrupt::{Interrupt, StopRequested};
use udpbench::trial::agent::Agent;
use udpbench::trial::agents::Agents;
use udpbench::trial::spec::TrialSpec;

fn agent_command() -> Command {
    let mut command = crate::common::program();
    command.arg("agent");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// An agent as if it were on another host, and its process.
fn far_agent() -> (Child, Agent) {
    let mut child = agent_command().spawn().expect("the program starts");
    let output = child.stdout.take().expect("a pipe");
    let input = child.stdin.take().expect("a pipe");
    let agent = Agent::connect(
        Some("agent"),
        output,
        input,
        false,
        &StopRequested::default(),
    );
    let mut agent = agent.expect("it is of this version");
    // All its threads are there then.
    agent.facts().expect("it answers");
    (child, agent)
}

/// Does something with agents, of which the second is as if it were on another host.
fn with_agents<T>(far: Option<&mut Agent>, what: impl FnOnce(&mut Agents) -> T) -> T {
    let (root, never) = (Root::default(), Interrupt::never());
    let never = never.expect("a pair of sockets");
    let program = crate::common::program();
    let program = Path::new(program.get_program());
    what(&mut Agents::new(program, &root, far, &never))
}

/// Ends an agent by the end of its input.
fn end(mut child: Child, agent: Agent) {
    drop(agent);
    let status = child.wait().expect("it is reaped");
    assert!(status.success(), "{status}");
}

fn case(key: &str) -> Case {
    Case::of_key(key).expect("the key of a case")
}

/// A trial on whichever CPUs; between two addresses of this host, if its case has a direction.
fn spec(case: &Case, window: Duration) -> TrialSpec {
    let settings = Settings {
        warmup: Duration::from_millis(5),
        window,
        ..Settings::default()
    };
    let address = HostAddress::at(IpAddr::V4(Ipv4Addr::LOCALHOST), "lo");
    let between = case.direction.map(|_| EndAddresses {
        receivers: address,
        senders: address,
    });
    TrialSpec {
        between,
        ..TrialSpec::new(case, &Placement::unpinned(case.threads), &settings)
    }
}

fn run(spec: &TrialSpec, agents: &mut Agents) -> Result<Sample, String> {
    agents.run(spec).map_err(|error| format!("{error:#}"))
}
