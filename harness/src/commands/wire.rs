//! `udpbench wire`: the sweep between this host and another one.

use std::process::ExitCode;

use super::other_host::OtherHost;
use super::{latency, run};
use crate::cli::{WireArgs, WireCommand};
use crate::error::UsageError;
use crate::export::table;
use crate::options::{Request, wire};

/// Reaches the other host, and runs the sweep between the two.
///
/// # Errors
/// As for [`run::run`], and when the other host cannot be had.
pub fn run(args: &WireArgs) -> anyhow::Result<ExitCode> {
    let given = match &args.what {
        Some(WireCommand::Latency(given)) => given,
        None => &args.run,
    };
    if let Some(suite) = &given.suite {
        let fix = "a suite runs on one host: leave out wire";
        return Err(UsageError::flag("--suite", suite, fix).into());
    }
    let interrupt = run::interrupt_on_signals()?;
    let mut given = given.clone();
    wire::complete(&mut given.parameters);
    let other = OtherHost::connect(args, &given.parameters, given.output.quiet, &interrupt);
    let mut other = match other {
        // Whatever it was that the signal broke off: it went to ssh, too.
        Err(_) if interrupt.signal().is_some() => {
            return Ok(run::before_anything(&interrupt).into());
        }
        other => other?,
    };
    if let Some(WireCommand::Latency(_)) = &args.what {
        return latency::with(&given, &interrupt, Some(&mut other));
    }
    let request = |other: Option<&mut OtherHost>| {
        let peer = other.map(|other| &other.peer);
        let mut request = Request::between(&given, peer)?;
        request.schedule.settings.drop_reasons = args.link.drop_reasons;
        Ok(request)
    };
    let outcome = run::sweep_of(&given, &interrupt, Some(&mut other), request, table::draw);
    Ok(outcome?.into())
}
