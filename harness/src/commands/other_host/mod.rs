//! The other host of a sweep across a wire: how it is reached, and what it is.

mod deploy;
mod rsh;

use anyhow::Context;

use self::rsh::Rsh;
use super::say;
use crate::cli::{LinkArgs, ParameterArgs, WireArgs};
use crate::measure::NoSample;
use crate::measure::agent::Agent;
use crate::measure::agents::Agents;
use crate::measure::spawned::THIS_PROGRAM;
use crate::options::wire::Peer;
use crate::plan::WireLink;
use crate::sys::drop_reasons::DropReasons;
use crate::sys::files::Root;
use crate::sys::interrupt::{Interrupt, Interrupted};

/// An agent there, and what is known of the host.
pub(super) struct OtherHost {
    pub(super) agent: Agent,
    pub(super) peer: Peer,
}

impl OtherHost {
    /// Has an agent started there, and tries what gets there whole.
    ///
    /// # Errors
    /// When that cannot be had, and what to do.
    pub(super) fn connect(
        args: &WireArgs,
        given: &ParameterArgs,
        is_quiet: bool,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Self> {
        let link = &args.link;
        let to = &args.to;
        let mut agent = start_agent(link, to, interrupt)?;
        let facts = agent.facts()?;
        let mut peer = Peer::new(to, facts, given)?;
        peer.words = args.words();
        let root = Root::default();
        let mut agents = Agents::new(THIS_PROGRAM.as_ref(), &root, Some(&mut agent), interrupt);
        for link in &mut peer.wire.links {
            try_path(link, &mut agents)?;
        }
        let machine = peer.detected.machine(&peer.wire.host);
        let because = &peer.detected.because;
        if link.drop_reasons {
            say_who_does_not_tell(to, &peer);
        }
        if is_quiet {
            return Ok(Self { agent, peer });
        }
        say(&format!("{to} is {machine} ({because})"));
        for link in &peer.wire.links {
            let (here, there) = (&link.here, &link.there);
            say(&format!(
                "wire: {} on {} ({}) to {} on {} ({})",
                here.address,
                here.interface.name,
                here.interface,
                there.address,
                there.interface.name,
                there.interface
            ));
        }
        Ok(Self { agent, peer })
    }
}

/// Of a host that does not say why it drops packets, rows have no reasons.
fn say_who_does_not_tell(to: &str, peer: &Peer) {
    let here = DropReasons::open().err();
    for (host, why) in [("this host", &here), (to, &peer.no_drop_reasons)] {
        if let Some(why) = why {
            say(&format!("no drop reasons from {host}: {why}"));
        }
    }
}

/// Finds out what comes through whole each way, and says so if that is less than the interfaces take.
fn try_path(link: &mut WireLink, agents: &mut Agents) -> anyhow::Result<()> {
    let interfaces = link.most_of_interfaces();
    for is_down in [false, true] {
        let longest = agents.longest_payload(link, is_down);
        let longest = longest.map_err(|none| match none {
            NoSample::Interrupted => Interrupted.into(),
            NoSample::Failed(error) => error,
        })?;
        let (from, to) = if is_down {
            (&mut link.there, &link.here)
        } else {
            (&mut link.here, &link.there)
        };
        from.longest_payload = longest;
        let (from, to) = (from.address, to.address);
        match (longest, interfaces) {
            (Some(longest), Some(most)) if longest < most => say(&format!(
                "warning: datagrams of more than {longest} B do not get to {to} whole from {from}, although the interfaces take \
                 {most} B"
            )),
            (None, Some(_)) => say(&format!(
                "warning: no datagram gets to {to} from {from}, or no answer back: check for a firewall at either end (nft list \
                 ruleset)"
            )),
            _ => {}
        }
    }
    Ok(())
}

/// Starts an agent there, which is copied there first if that was asked for.
fn start_agent(link: &LinkArgs, to: &str, interrupt: &Interrupt) -> anyhow::Result<Agent> {
    let rsh = Rsh::new(&link.rsh, to);
    let agent = if link.deploy {
        let copied = deploy::deploy(&rsh, link, to, interrupt);
        copied.with_context(|| format!("cannot copy udpbench to {to}"))?
    } else {
        link.agent.clone()
    };
    let words = [&agent, "agent"];
    let agent = Agent::reach(to, &rsh.shown(&words), rsh.run(&words), &interrupt.asked());
    agent.with_context(|| format!("cannot measure with {to}"))
}
