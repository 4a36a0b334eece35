//! The other host of a sweep across a wire: how it is reached, and what it is.

mod deploy;
mod rsh;

use anyhow::Context;

use self::rsh::Rsh;
use super::say;
use crate::cli::{LinkArgs, ParameterArgs, WireArgs};
use crate::measure::far::Far;
use crate::measure::path_mtu;
use crate::options::wire::Peer;
use crate::plan::WireLink;
use crate::sys::drop_reasons::DropReasons;
use crate::sys::interrupt::Interrupt;

/// An agent there, and what is known of the host.
pub(super) struct OtherHost {
    pub(super) far: Far,
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
        let mut far = start_agent(link, to, interrupt)?;
        let mut peer = Peer::new(to, far.facts().clone(), given)?;
        peer.words = args.words();
        for link in &mut peer.wire.links {
            try_path(link, &mut far, interrupt)?;
        }
        let machine = peer.detected.machine(&peer.wire.host);
        let because = &peer.detected.because;
        if link.drop_reasons {
            say_who_does_not_tell(to, &peer);
        }
        if is_quiet {
            return Ok(Self { far, peer });
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
        Ok(Self { far, peer })
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
fn try_path(link: &mut WireLink, far: &mut Far, interrupt: &Interrupt) -> anyhow::Result<()> {
    let interfaces = link.most_of_interfaces();
    for is_down in [false, true] {
        let longest = path_mtu::longest_payload(link, is_down, far, interrupt)?;
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
                "warning: no datagram gets to {to} from {from}: check for a firewall at either end (nft list ruleset)"
            )),
            _ => {}
        }
    }
    Ok(())
}

/// Starts an agent there, which is copied there first if that was asked for.
fn start_agent(link: &LinkArgs, to: &str, interrupt: &Interrupt) -> anyhow::Result<Far> {
    let rsh = Rsh::new(&link.rsh, to);
    let agent = if link.deploy {
        let copied = deploy::deploy(&rsh, link, to, interrupt);
        copied.with_context(|| format!("cannot copy udpbench to {to}"))?
    } else {
        link.agent.clone()
    };
    let words = [&agent, "agent"];
    let far = Far::start(to, &rsh.shown(&words), rsh.run(&words), &interrupt.asked());
    far.with_context(|| format!("cannot measure with {to}"))
}
