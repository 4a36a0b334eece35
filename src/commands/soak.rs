//! Other ends of `udpbench soak`: an agent on this host or on another one, which echoes.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::process::ExitCode;

use udpbench_field::soak::far_end::{EchoAddress, EchoProgram, RunningEcho};
use udpbench_field::soak::{self, OtherEnd, SoakArgs};

use super::measuring;
use super::remote_host::RemoteHost;
use super::session::{Outcome, interrupted};
use crate::cli::WireArgs;
use crate::cli::options::wire::complete;
use crate::data::{Destination, HostAddress};
use crate::error::UsageError;
use crate::host::facts::Interface;
use crate::sys::files::Root;
use crate::sys::interrupt::Interrupt;
use crate::trial::agent::Agent;
use crate::trial::echo_end::{EchoEnd, socket_address};
use crate::trial::message::Request;
use crate::trial::spawned::THIS_PROGRAM;

/// Soaks the loopback.
///
/// # Errors
/// Fails on bad input, or if the log cannot be written.
pub fn run(args: &SoakArgs) -> anyhow::Result<ExitCode> {
    if let Some(address) = &args.address {
        let fix = "it is for two hosts: use udpbench wire USER@HOST soak, or leave it out";
        return Err(UsageError::flag("--address", address, fix).into());
    }
    measuring(|interrupt| soak_loopback(args, interrupt))
}

fn soak_loopback(args: &SoakArgs, interrupt: &Interrupt) -> anyhow::Result<Outcome> {
    let (asked, root) = (interrupt.asked(), Root::new(&args.root));
    let start = move || {
        Ok(boxed(Agent::start(
            THIS_PROGRAM.as_ref(),
            &root,
            false,
            &asked,
        )?))
    };
    let loopback = HostAddress::at(IpAddr::from(Ipv4Addr::LOCALHOST), "lo");
    let other = OtherEnd {
        to: None,
        address: EchoAddress {
            there: loopback,
            from_here: loopback,
        },
        interface: Interface {
            name: "lo".to_owned(),
            ..Interface::default()
        },
        start: Box::new(start),
    };
    ran(args, other, interrupt)
}

/// Soaks the path to another host.
///
/// # Errors
/// Fails as [`run`] does, or if the host cannot be reached at the start.
pub(super) fn across(
    args: &WireArgs,
    asked: &SoakArgs,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    let mut given = args.run.parameters.clone();
    complete(&mut given);
    if let Some(address) = asked.address {
        given.address = Some(vec![Destination::Of(address)]);
    }
    let reached = RemoteHost::across(&args.to, &args.run.remote, &given, asked.quiet, interrupt);
    let RemoteHost { agent, peer, reach } = reached?;
    // Its heartbeat would end it in the first long outage.
    drop(agent);
    let Some(link) = peer.wire.links.first() else {
        let problem = "no address of it is known: name one by --address";
        return Err(UsageError::flag("wire", &args.to, problem).into());
    };
    let stop = interrupt.asked();
    let from_here = link.local.address.interface;
    let other = OtherEnd {
        to: Some(args.to.clone()),
        address: EchoAddress {
            there: link.remote.address,
            from_here: HostAddress {
                ip: link.remote.address.ip,
                interface: from_here,
            },
        },
        interface: link.local.interface.clone(),
        start: Box::new(move || Ok(boxed(reach.start(true, &stop)?))),
    };
    ran(asked, other, interrupt)
}

fn ran(args: &SoakArgs, other: OtherEnd, interrupt: &Interrupt) -> anyhow::Result<Outcome> {
    soak::run(args, other, interrupt)?;
    Ok(match interrupt.signal() {
        Some(_) => interrupted(interrupt),
        None => Outcome::Done,
    })
}

fn boxed(agent: Agent) -> Box<dyn EchoProgram> {
    Box::new(agent)
}

impl EchoProgram for Agent {
    fn has_ended(&self) -> bool {
        self.has_ended()
    }

    fn echo(&mut self, address: EchoAddress) -> anyhow::Result<RunningEcho> {
        let EchoEnd { port, token, host } = self.call(&Request::Echo(address.there))?;
        let address = socket_address(address.from_here, port)?;
        Ok(RunningEcho {
            address,
            token,
            host,
        })
    }

    fn ask_for_losses(&mut self) -> anyhow::Result<()> {
        self.ask(&Request::LossPlaces)
    }

    fn losses(&mut self) -> anyhow::Result<Option<BTreeMap<String, u64>>> {
        self.look_for_answer()
    }
}
