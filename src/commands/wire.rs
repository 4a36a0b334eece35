//! `udpbench wire`: runs sweeps, searches and latency measurements between this host and a remote one.

use std::process::ExitCode;

use super::remote_host::RemoteHost;
use super::session::Outcome;
use super::{find, latency, measuring, run, suite};
use crate::cli::options::{Request, wire};
use crate::cli::{FindArgs, LatencyArgs, ParameterArgs, RunArgs, WireArgs, WireCommand};
use crate::sys::interrupt::Interrupt;

/// Connects to the remote host and runs the sweep, search, suite or latency measurement between the two.
///
/// # Errors
/// Fails as [`run::run`] does, or if the remote host cannot be reached.
pub fn run(args: &WireArgs) -> anyhow::Result<ExitCode> {
    measuring(|interrupt| match &args.what {
        Some(WireCommand::Find(asked)) => search(args, asked, interrupt),
        #[cfg(feature = "field")]
        Some(WireCommand::Soak(asked)) => super::soak::across(args, asked, interrupt),
        Some(WireCommand::Latency(asked)) => sweep(args, &asked.run, Some(asked), interrupt),
        None => sweep(args, &args.run, None, interrupt),
    })
}

fn sweep(
    args: &WireArgs,
    given: &RunArgs,
    latency: Option<&LatencyArgs>,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    let mut given = given.clone();
    given.remote = args.run.remote.clone();
    let is_quiet = given.output.quiet;
    let mut other = connect(args, &mut given.parameters, is_quiet, interrupt)?;
    if let Some(asked) = latency {
        let asked = LatencyArgs {
            load: asked.load.clone(),
            run: given,
        };
        return latency::measure(&asked, interrupt, Some(&mut other));
    }
    if let Some(name) = &given.suite {
        return suite::with(&given, name, interrupt, Some(&mut other));
    }
    let request = |other: Option<&mut RemoteHost>| {
        let peer = other.map(|other| &other.peer);
        Ok(Request::between(&given, peer)?)
    };
    run::sweep_of(&given, interrupt, Some(&mut other), request)
}

fn search(args: &WireArgs, asked: &FindArgs, interrupt: &Interrupt) -> anyhow::Result<Outcome> {
    let mut what = asked.what.clone();
    let is_quiet = what.common().output.quiet;
    let mut other = connect(args, &mut what.common_mut().parameters, is_quiet, interrupt)?;
    find::search_on(&what, interrupt, Some(&mut other))
}

/// Connects to the remote host.
fn connect(
    args: &WireArgs,
    given: &mut ParameterArgs,
    is_quiet: bool,
    interrupt: &Interrupt,
) -> anyhow::Result<RemoteHost> {
    wire::complete(given);
    RemoteHost::across(&args.to, &args.run.remote, given, is_quiet, interrupt)
}
