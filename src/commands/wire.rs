//! `udpbench wire`: runs sweeps, searches and latency measurements between this host and a remote one.

use std::process::ExitCode;

use super::remote_host::RemoteHost;
use super::{find, latency, run, session, soak, suite};
use crate::cli::options::{Request, wire};
use crate::cli::{FindArgs, LatencyArgs, ParameterArgs, WireArgs, WireCommand};
use crate::sys::interrupt::{Interrupt, Interrupted};

/// Connects to the remote host and runs the sweep, search, suite or latency measurement between the two.
///
/// # Errors
/// Fails as [`run::run`] does, or if the remote host cannot be reached.
pub fn run(args: &WireArgs) -> anyhow::Result<ExitCode> {
    let given = match &args.what {
        Some(WireCommand::Find(asked)) => return search(args, asked),
        Some(WireCommand::Soak(asked)) => return soak::across(args, asked),
        Some(WireCommand::Latency(asked)) => &asked.run,
        None => &args.run,
    };
    let interrupt = super::interrupt_on_signals()?;
    let mut given = given.clone();
    given.remote = args.run.remote.clone();
    let Some(mut other) = connect(args, &mut given.parameters, given.output.quiet, &interrupt)?
    else {
        return Ok(session::before_anything(&interrupt).into());
    };
    if let Some(WireCommand::Latency(asked)) = &args.what {
        let asked = LatencyArgs {
            load: asked.load.clone(),
            run: given,
        };
        return latency::measure(&asked, &interrupt, Some(&mut other));
    }
    if let Some(name) = &given.suite {
        return suite::with(&given, name, &interrupt, Some(&mut other));
    }
    let request = |other: Option<&mut RemoteHost>| {
        let peer = other.map(|other| &other.peer);
        Ok(Request::between(&given, peer)?)
    };
    let outcome = run::sweep_of(&given, &interrupt, Some(&mut other), request);
    Ok(outcome?.into())
}

fn search(args: &WireArgs, asked: &FindArgs) -> anyhow::Result<ExitCode> {
    let interrupt = super::interrupt_on_signals()?;
    let mut what = asked.what.clone();
    let is_quiet = what.output().quiet;
    let Some(mut other) = connect(args, what.parameters(), is_quiet, &interrupt)? else {
        return Ok(session::before_anything(&interrupt).into());
    };
    Ok(find::search_on(&what, &interrupt, Some(&mut other))?.into())
}

/// Connects to the remote host. Returns `None` if a signal arrives first.
fn connect(
    args: &WireArgs,
    given: &mut ParameterArgs,
    is_quiet: bool,
    interrupt: &Interrupt,
) -> anyhow::Result<Option<RemoteHost>> {
    wire::complete(given);
    let reached = RemoteHost::across(&args.to, &args.run.remote, given, is_quiet, interrupt);
    match reached {
        Err(error) if error.is::<Interrupted>() => Ok(None),
        other => other.map(Some),
    }
}
