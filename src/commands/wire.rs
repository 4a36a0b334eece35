//! `udpbench wire`: runs sweeps, searches and latency measurements between this host and a remote one.

use std::process::ExitCode;

use super::{find, latency, suite};
use crate::cli::options::wire::complete;
use crate::cli::{FindArgs, LatencyArgs, RemoteArgs, RunArgs, WireArgs, WireCommand};

/// Runs the sweep, search, suite or latency measurement between this host and the remote one.
///
/// # Errors
/// Fails as [`suite::run`] does, or if the remote host cannot be reached.
pub fn run(args: &WireArgs) -> anyhow::Result<ExitCode> {
    let remote = RemoteArgs {
        wire: Some(args.to.clone()),
        ..args.run.remote.clone()
    };
    let across = |run: &RunArgs| {
        let mut run = run.clone();
        run.remote = remote.clone();
        complete(&mut run.parameters);
        run
    };
    match &args.what {
        None => suite::run(&across(&args.run)),
        Some(WireCommand::Latency(asked)) => latency::run(&LatencyArgs {
            load: asked.load.clone(),
            run: across(&asked.run),
        }),
        Some(WireCommand::Find(asked)) => {
            let mut what = asked.what.clone();
            let common = what.common_mut();
            common.output.remote = remote;
            complete(&mut common.parameters);
            find::run(&FindArgs { what })
        }
        #[cfg(feature = "field")]
        Some(WireCommand::Soak(asked)) => {
            super::measuring(|interrupt| super::soak::across(args, asked, interrupt))
        }
    }
}
