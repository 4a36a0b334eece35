//! The remote host of `wire` and `--on`: starts its agent and reads its host facts.

mod deploy;
mod program;
mod rsh;

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use self::program::RemoteProgram;
use self::rsh::Rsh;
use crate::cli::peer::Peer;
use crate::cli::{ParameterArgs, RemoteArgs, RunArgs};
use crate::data::Direction;
use crate::plan::{LinkEnd, WireLink};
use crate::sys::drop_reasons::DropReasons;
use crate::sys::files::Root;
use crate::sys::interrupt::{Interrupt, Interrupted};
use crate::sys::loss_places::by_name;
use crate::term::output::say;
use crate::trial::agent::Agent;
use crate::trial::agents::Agents;
use crate::trial::remote_facts::RemoteFacts;
use crate::trial::spawned::{THIS_PROGRAM, wait_or_kill};

pub(super) use self::program::run_there;

/// A connected remote host: its agent, and what is known about it.
pub(super) struct RemoteHost {
    pub(super) agent: Agent,
    pub(super) peer: Peer,
    /// To start further agents there.
    #[cfg_attr(
        not(feature = "field"),
        expect(dead_code, reason = "a soak starts it again")
    )]
    pub(super) reach: RemoteProgram,
}

impl RemoteHost {
    /// Connects to the host of `wire` or of `--on`. Returns `None` without both.
    ///
    /// # Errors
    /// Fails as [`RemoteHost::across`] and [`RemoteHost::on`] do.
    pub(super) fn connect(
        options: &RemoteArgs,
        given: &ParameterArgs,
        board: &str,
        is_quiet: bool,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Option<Self>> {
        match &options.wire {
            Some(to) => Self::across(to, options, given, is_quiet, interrupt).map(Some),
            None => Self::on(options, board, is_quiet, interrupt),
        }
    }

    /// Connects to the remote host of a sweep, if there is one.
    ///
    /// # Errors
    /// Fails as [`RemoteHost::connect`] does.
    pub(super) fn of_sweep(args: &RunArgs, interrupt: &Interrupt) -> anyhow::Result<Option<Self>> {
        let (board, is_quiet) = (&args.placement.board, args.output.quiet);
        Self::connect(&args.remote, &args.parameters, board, is_quiet, interrupt)
    }

    /// Starts an agent on the host of `wire` and finds the longest payload that passes each way unfragmented.
    ///
    /// # Errors
    /// Fails if `--on` is given, if the agent cannot be started, or if no reachable address of the host is known, and
    /// names the fix.
    pub(super) fn across(
        to: &str,
        options: &RemoteArgs,
        given: &ParameterArgs,
        is_quiet: bool,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Self> {
        let (mut agent, facts, reach) = start_agent(options, to, interrupt)?;
        let mut peer = Peer::across(to, facts, given)?;
        peer.request_time = agent.request_time()?;
        let root = Root::default();
        let mut agents = Agents::new(THIS_PROGRAM.as_ref(), &root, Some(&mut agent), interrupt);
        for link in &mut peer.wire.links {
            find_longest_payloads(link, &mut agents)?;
        }
        if options.drop_reasons {
            warn_of_missing_drop_reasons(to, &peer);
        }
        if !is_quiet {
            introduce(to, &peer);
        }
        Ok(Self { agent, peer, reach })
    }

    /// Starts an agent on the host of `--on`, which uses the board profile `board`. Returns `None` without `--on`.
    ///
    /// # Errors
    /// Fails if the agent cannot be started.
    pub(super) fn on(
        options: &RemoteArgs,
        board: &str,
        is_quiet: bool,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Option<Self>> {
        let Some(to) = &options.on else {
            return Ok(None);
        };
        let (mut agent, facts, reach) = start_agent(options, to, interrupt)?;
        let mut peer = Peer::new(to, facts, Vec::new(), board)?;
        peer.request_time = agent.request_time()?;
        if !is_quiet {
            introduce(to, &peer);
        }
        Ok(Some(Self { agent, peer, reach }))
    }
}

/// Runs a shell script on the host of `--on`, or on this host without `--on`.
///
/// # Errors
/// Fails if the script fails or a signal asks this program to end.
pub(super) fn run_script(
    options: &RemoteArgs,
    script: &str,
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    let Some(to) = &options.on else {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]);
        shell.stdin(Stdio::null()).stdout(Stdio::null());
        let status = wait_or_kill(shell.spawn().context("cannot start sh")?, interrupt)?;
        ensure!(status.success(), "{status}");
        return Ok(());
    };
    let rsh = Rsh::new(&options.rsh, to);
    rsh.script(script, &[], Stdio::null(), interrupt).map(drop)
}

/// Prints the remote machine and the links to it.
fn introduce(to: &str, peer: &Peer) {
    let machine = peer.detected.machine(&peer.wire.host);
    let reason = &peer.detected.reason;
    say(&format!("{to} is {machine} ({reason})"));
    let end =
        |LinkEnd {
             address, interface, ..
         }: &LinkEnd| { format!("{address} on {} ({interface})", interface.name) };
    for link in &peer.wire.links {
        say(&format!(
            "wire: {} to {}",
            end(&link.local),
            end(&link.remote)
        ));
    }
}

/// Warns about hosts that report no drop reasons. Rows have no drop reasons of such a host.
fn warn_of_missing_drop_reasons(to: &str, peer: &Peer) {
    let local = DropReasons::open().err();
    for (host, why) in [("this host", &local), (to, &peer.facts.no_drop_reasons)] {
        if let Some(why) = why {
            say(&format!("no drop reasons from {host}: {why}"));
        }
    }
}

/// Finds the longest payload that passes unfragmented in each direction. Warns if it is less than the interfaces' MTU
/// allows.
fn find_longest_payloads(link: &mut WireLink, agents: &mut Agents) -> anyhow::Result<()> {
    let by_mtu = link.longest_payload_by_mtu();
    for direction in [Direction::Up, Direction::Down] {
        let longest = agents.longest_payload(link, direction)?;
        let (from, to) = if direction == Direction::Down {
            (&mut link.remote, &link.local)
        } else {
            (&mut link.local, &link.remote)
        };
        from.longest_payload = longest.as_ref().ok().copied();
        let interface = &to.interface.name;
        let (from, to) = (from.address, to.address);
        match (longest, by_mtu) {
            (Ok(longest), Some(most)) if longest < most => say(&format!(
                "warning: payloads of more than {longest} B do not get to {to} unfragmented from {from}, although the \
                 interfaces' MTU allows {most} B"
            )),
            (Err(places), Some(_)) => say(&format!(
                "warning: no datagram gets to {to} from {from}, or no answer back: {}",
                blocked_by(&places, interface)
            )),
            _ => {}
        }
    }
    Ok(())
}

/// Returns where the receiving host lost packets, and what to type there.
fn blocked_by(places: &BTreeMap<String, u64>, interface: &str) -> String {
    match by_name(places).first() {
        Some((place, packets)) => format!(
            "that host dropped {packets} packets meanwhile, for this reason: {}. Look there: {}",
            place.what,
            place.next_at(interface)
        ),
        None => "check for a firewall at either end (nft list ruleset)".to_owned(),
    }
}

/// Starts an agent on the remote host and asks it for the host facts. With `--deploy`, copies the program there first.
///
/// # Errors
/// Returns [`Interrupted`] if this program got a signal, whatever the error: ssh got the signal too, and its failure is
/// only the consequence. Otherwise returns the reason why there is no agent.
fn start_agent(
    options: &RemoteArgs,
    to: &str,
    interrupt: &Interrupt,
) -> anyhow::Result<(Agent, RemoteFacts, RemoteProgram)> {
    let start = || {
        let program = RemoteProgram::new(options, to, interrupt)?;
        let agent = program.start(false, &interrupt.asked());
        let mut agent = agent.with_context(|| format!("cannot measure with {to}"))?;
        let facts = agent.facts()?;
        Ok((agent, facts, program))
    };
    start().map_err(|error: anyhow::Error| match interrupt.signal() {
        Some(_) => Interrupted.into(),
        None => error,
    })
}
