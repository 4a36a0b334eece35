//! `udpbench latency`: measures request-response round-trip times, for clients that wait for each response and under
//! load.

use std::process::ExitCode;
use std::time::Duration;

use super::remote_host::RemoteHost;
use super::session::Outcome;
use super::{measuring, run};
use crate::cli::LatencyArgs;
use crate::cli::options::{Request, latency};
use crate::data::{Arrivals, Case};
use crate::experiment::find::Record;
use crate::plan::{Block, Settings};
use crate::results::log::Log;
use crate::results::row::received_pps;
use crate::session::Logged;
use crate::sys::files::Root;
use crate::sys::interrupt::{Interrupt, Interrupted};
use crate::trial::agents::Agents;
use crate::trial::spec::TrialSpec;

/// Measured time of each trial that finds a capacity.
const CAPACITY_WINDOW: Duration = Duration::from_millis(100);
/// Number of trials that find the capacity of a case. The best trial counts, since a busy machine only lowers the
/// result.
const CAPACITY_TRIALS: usize = 3;

/// Measures round trips at fractions of a capacity, which is measured first or read from the log of `--load`.
///
/// # Errors
/// Fails on bad input, or if a file cannot be written.
pub fn run(args: &LatencyArgs) -> anyhow::Result<ExitCode> {
    measuring(|interrupt| measure(args, interrupt))
}

fn measure(args: &LatencyArgs, interrupt: &Interrupt) -> anyhow::Result<Outcome> {
    let mut remote = RemoteHost::of_sweep(&args.run, interrupt)?;
    let search = match args.load.as_deref() {
        Some(path) => Some((Record::of(&Log::open("--load", path)?)?, path)),
        None => None,
    };
    let mut args = args.run.clone();
    let arrivals = latency::complete(&mut args);
    let arrivals = arrivals.unwrap_or_else(|| vec![Arrivals::default()]);
    let request = |remote: Option<&mut RemoteHost>| {
        let root = Root::new(&args.root);
        let (agents, peer) = run::agents(remote, &root, interrupt);
        let mut request = Request::new(&args, peer)?;
        let capacities = match &search {
            Some((record, path)) => latency::lossless_rates(&request, record, path)?,
            None => measure_capacities(&request, agents)?,
        };
        request.add_loads(&args, peer, &capacities, &arrivals);
        Ok(request)
    };
    run::sweep(&args, interrupt, remote.as_mut(), request)
}

/// Measures the capacity of each runnable case, in responses per second. A case without any successful trial gets no
/// loads. Its row gives the reason.
fn measure_capacities(
    request: &Request,
    mut agents: Agents,
) -> Result<Vec<(Case, f64)>, Interrupted> {
    let settings = Settings {
        window: CAPACITY_WINDOW,
        ..request.schedule.settings.clone()
    };
    let mut capacities = Vec::new();
    let blocks = request.plan.blocks.iter();
    for (case, placement) in blocks.flat_map(Block::runnable) {
        let wire = request.wire.as_ref();
        let spec = TrialSpec::new(case, placement, &settings).over(wire);
        let mut best: f64 = 0.0;
        for _ in 0..CAPACITY_TRIALS {
            match agents.run(&spec) {
                Ok(sample) => best = received_pps(&sample).map_or(best, |pps| pps.max(best)),
                Err(error) if error.is::<Interrupted>() => return Err(Interrupted),
                Err(_) => break,
            }
        }
        if best > 0.0 {
            capacities.push((*case, best));
        }
    }
    Ok(capacities)
}
