//! Turns the options of `find` into the header of a search: its cases and its question.

mod axis;
mod default_grid;
mod tuning;

pub use self::default_grid::how_to_search_more;
pub use self::tuning::{comparison, limit, wanted};

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Args;

use super::{MIN_WINDOW, Request};
use crate::cli::peer::{Peer, Share};
use crate::cli::{
    self, BurstArgs, Cli, FindCommand, FindOutputArgs, LosslessArgs, ParameterArgs, PlacementArgs,
    RunArgs, SearchArgs,
};
use crate::data::{AskedRate, Rate, Workload};
use crate::error::UsageError;
use crate::experiment::find::burst;
use crate::experiment::find::header::{Header, Question};
use crate::experiment::find::lossless::LosslessQuestion;
use crate::results::log::Run;
use crate::text::duration;

/// Default time limit of a case.
const MAX_CASE_TIME: Duration = Duration::from_secs(300);

/// Ratio of a full trial to the shortest trial of a search for a rate.
const SHORTEST: u32 = 10;

/// Returns the header of a search with the remote host `peer`, or on this host alone.
///
/// # Errors
/// Fails if an option is wrong or impossible here, and names the fix.
pub fn header(what: &FindCommand, peer: Option<&Peer>, started_at: &str) -> anyhow::Result<Header> {
    match what {
        FindCommand::Lossless(args) => lossless(args, peer, started_at),
        FindCommand::Cliff(args) => axis::cliff(args, peer, started_at),
        FindCommand::Idle(args) => axis::idle(args, peer, started_at),
        FindCommand::Burst(args) => burst(args, peer, started_at),
        FindCommand::Knee(args) => axis::knee(args, peer, started_at),
        FindCommand::Tuning(_) => {
            let fix =
                "it shows its plan itself, and is no part of a suite: run udpbench find tuning";
            Err(UsageError::flag("find", "tuning", fix).into())
        }
    }
}

fn lossless(
    args: &SearchArgs<LosslessArgs>,
    peer: Option<&Peer>,
    started_at: &str,
) -> anyhow::Result<Header> {
    let asked = asked(&args.search)?;
    let mut request = at_rates(args, peer)?;
    default_grid::reduce(&mut request.plan, &args.parameters);
    let max_case_time = args.time.max_case_time;
    let max_case_time = max_case_time.or_else(|| default_grid::max_case_time(&args.parameters));
    let question = Question::Lossless(asked);
    Ok(of(question, max_case_time, request, started_at))
}

/// Returns the request for cases whose rates the search chooses.
fn at_rates<S: Args>(args: &SearchArgs<S>, peer: Option<&Peer>) -> anyhow::Result<Request> {
    let mut given = args.parameters.clone();
    refuse_workloads(&given, "is of what goes at a rate")?;
    // Planned with some rate, so that cases that cannot be paced are skipped.
    given.rate = Some(vec![AskedRate::Datagrams(Rate::nearest(1.0))]);
    let run = run(given, &args.placement, args.time.warmup, &args.output)?;
    let mut request = Request::between(&run, peer)?;
    for block in &mut request.plan.blocks {
        for planned in &mut block.cases {
            planned.case.rate = None;
        }
    }
    Ok(request)
}

fn burst(
    args: &SearchArgs<BurstArgs>,
    peer: Option<&Peer>,
    started_at: &str,
) -> anyhow::Result<Header> {
    let &BurstArgs {
        pause,
        trial,
        sum,
        width,
    } = &args.search;
    refuse_short("--pause", pause, MIN_WINDOW)?;
    refuse_short("--trial", trial, pause)?;
    refuse_short("--sum", sum, trial)?;
    let question = Question::Burst(burst::BurstQuestion {
        pause,
        trial,
        sum,
        width_pct: width,
    });
    let request = at_rates(args, peer)?;
    Ok(of(question, args.time.max_case_time, request, started_at))
}

fn refuse_short(flag: &'static str, value: Duration, least: Duration) -> Result<(), UsageError> {
    if value >= least {
        return Ok(());
    }
    let fix = format!("use {} or more", duration::text(least));
    Err(UsageError::flag(flag, &duration::text(value), fix))
}

fn refuse_workloads(given: &ParameterArgs, what_it_is: &str) -> Result<(), UsageError> {
    let mut given = given.workload.iter().flatten();
    let other = given.find(|it| ![Workload::Flood, Workload::Rr].contains(it));
    match other {
        Some(other) => {
            let fix = format!("this search {what_it_is}: use flood or rr");
            Err(UsageError::flag("--workload", other, fix))
        }
        None => Ok(()),
    }
}

/// Returns the options of a sweep of these cases.
fn run(
    parameters: ParameterArgs,
    placement: &PlacementArgs,
    warmup: Option<Duration>,
    output: &FindOutputArgs,
) -> anyhow::Result<RunArgs> {
    let mut run = Cli::try_parse_from(["udpbench"])?.run;
    run.parameters = parameters;
    run.placement = placement.clone();
    run.root.clone_from(&output.root);
    run.measuring.no_reference = true;
    run.measuring.warmup = warmup;
    Ok(run)
}

fn of(
    question: Question,
    max_time: Option<Duration>,
    request: Request,
    started_at: &str,
) -> Header {
    Header {
        run: Run::new(started_at, cli::words_as_text()),
        question,
        max_time: max_time.unwrap_or(MAX_CASE_TIME),
        environment: request.environment(),
        settings: request.schedule.settings,
        plan: request.plan,
        truesizes: BTreeMap::new(),
        wire: request.wire,
    }
}

fn asked(args: &LosslessArgs) -> Result<LosslessQuestion, UsageError> {
    // The shortest trials are a tenth of it.
    refuse_short("--trial", args.trial, MIN_WINDOW * SHORTEST)?;
    refuse_short("--sum", args.sum, args.trial)?;
    Ok(LosslessQuestion {
        goal_pct: args.goal,
        exceed_pct: args.exceed,
        trial: args.trial,
        sum: args.sum,
        width_pct: args.width,
        recheck: args.recheck,
    })
}
