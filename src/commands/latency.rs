//! `udpbench latency`: measures request-response round-trip times, for clients that wait for each response and under
//! load.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use super::remote_host::RemoteHost;
use super::run;
use super::session;
use crate::cli::LatencyArgs;
use crate::cli::options::{Request, latency};
use crate::data::{Arrivals, Case};
use crate::error::UsageError;
use crate::experiment::find::Record;
use crate::plan::{Block, Settings};
use crate::results::export::latency::draw;
use crate::results::log::Log;
use crate::results::row::received_pps;
use crate::session::Logged;
use crate::sys::files::Root;
use crate::sys::interrupt::{Interrupt, Interrupted};
use crate::trial::NoSample;
use crate::trial::agents::Agents;
use crate::trial::spec::TrialSpec;

/// Length and number of the trials that find the capacity. The best trial counts, since a busy machine only lowers the
/// result.
const TRIED: (Duration, usize) = (Duration::from_millis(100), 3);

/// Measures round-trip times at several loads. The loads are fractions of a capacity. It is measured first with clients
/// that wait for each response, or read from the log of `--load`.
///
/// # Errors
/// Fails as [`run::run`] does: on bad input, or if a file cannot be written.
pub fn run(args: &LatencyArgs) -> anyhow::Result<ExitCode> {
    let interrupt = super::interrupt_on_signals()?;
    let (board, is_quiet) = (&args.run.placement.board, args.run.output.quiet);
    match RemoteHost::on(&args.run.link, board, is_quiet, &interrupt) {
        Err(error) if error.is::<Interrupted>() => Ok(session::before_anything(&interrupt).into()),
        other => with(args, &interrupt, other?.as_mut()),
    }
}

/// Measures the latency, with a remote host if there is one.
///
/// # Errors
/// Fails as [`run::run`] does: on bad input, or if a file cannot be written.
pub(super) fn with(
    args: &LatencyArgs,
    interrupt: &Interrupt,
    other: Option<&mut RemoteHost>,
) -> anyhow::Result<ExitCode> {
    if let Some(suite) = &args.run.suite {
        let fix = "a suite says itself what it measures: leave out latency";
        return Err(UsageError::flag("--suite", suite, fix).into());
    }
    let load = args.load.as_deref();
    let load = load.map(|path| Ok::<_, anyhow::Error>((open_search(path)?, path)));
    let load = load.transpose()?;
    let mut args = args.run.clone();
    let arrivals = if args.output.resume.is_some() {
        None
    } else {
        latency::complete(&mut args)?
    };
    let arrivals = arrivals.unwrap_or_else(|| vec![Arrivals::default()]);
    let request = |other: Option<&mut RemoteHost>| {
        let root = Root::new(&args.root);
        let (agents, peer) = run::agents(other, &root, interrupt);
        let mut request = Request::between(&args, peer)?;
        let reached = match &load {
            Some((record, path)) => latency::lossless_rates(&request, record, path)?,
            None => reached(&request, agents)?,
        };
        request.add_loads(&args, peer, &reached, &arrivals);
        Ok(request)
    };
    Ok(run::sweep_of(&args, interrupt, other, request, draw)?.into())
}

/// Reads the results of a search from its log.
fn open_search(path: &Path) -> Result<Record, UsageError> {
    Record::of(&Log::open("--load", path)?)
}

/// Measures the capacity of each runnable case, in responses per second. A case that fails gets no loads. Its row gives
/// the reason.
fn reached(request: &Request, mut agents: Agents) -> Result<Vec<(Case, f64)>, Interrupted> {
    let (window, tries) = TRIED;
    let settings = Settings {
        window,
        ..request.schedule.settings.clone()
    };
    let mut reached = Vec::new();
    let blocks = request.plan.blocks.iter();
    for (case, placement) in blocks.flat_map(Block::runnable) {
        let wire = request.wire.as_ref();
        let between = wire.and_then(|wire| wire.between(case));
        let spec = TrialSpec::new(case, placement, &settings).between(between);
        let mut best: f64 = 0.0;
        for _ in 0..tries {
            match agents.run(&spec) {
                Ok(sample) => best = received_pps(&sample).map_or(best, |pps| pps.max(best)),
                Err(NoSample::Failed(_)) => break,
                Err(NoSample::Interrupted) => return Err(Interrupted),
            }
        }
        if best > 0.0 {
            reached.push((*case, best));
        }
    }
    Ok(reached)
}
