//! Turns the options of `find` into the header of a search: its cases and its question.

mod default_grid;
mod knee;
mod tuning;

pub use self::default_grid::how_to_search_more;
pub use self::tuning::{comparison, limit, wanted};

use std::collections::BTreeMap;
use std::time::Duration;

use clap::{Args, Parser};

use super::{MIN_WINDOW, Request};
use crate::cli::peer::{Peer, Share};
use crate::cli::{
    self, BurstArgs, Cli, CliffArgs, EngineArg, FindCommand, FindOutputArgs, IdleArgs,
    LosslessArgs, ParameterArgs, PlacementArgs, RunArgs, SearchArgs,
};
use crate::data::{AskedRate, Case, Payload, Rate, Workload};
use crate::engines;
use crate::error::UsageError;
use crate::experiment::find::header::{Header, Question};
use crate::experiment::find::lossless::LosslessQuestion;
use crate::experiment::find::{burst, cliff, idle};
use crate::plan::Decision;
use crate::results::log::Run;
use crate::results::row::Environment;
use crate::term::duration;

/// Default payload range of `find cliff`, in bytes: from 16, which holds a request's number, to a jumbo frame.
const CLIFF_BETWEEN: [u32; 2] = [16, 9000];

/// Default payload of `find idle`, in bytes: a short response.
const IDLE_PAYLOAD: u32 = 64;

/// Default time limit of a case.
const MAX_CASE_TIME: Duration = Duration::from_secs(300);

/// Fix for `--arrivals` in a search without rates.
const WITHOUT_RATE: &str = "this search has no rate: leave it out";

/// Ratio of a full trial to the shortest trial of a search for a rate.
const SHORTEST: u32 = 10;

/// Returns the header of a search with the remote host `peer`, or on this host alone.
///
/// # Errors
/// Fails if an option is wrong or impossible here, and names the fix.
pub fn header(what: &FindCommand, peer: Option<&Peer>, started_at: &str) -> anyhow::Result<Header> {
    match what {
        FindCommand::Lossless(args) => lossless(args, peer, started_at),
        FindCommand::Cliff(args) => cliff(args, peer, started_at),
        FindCommand::Idle(args) => idle(args, peer, started_at),
        FindCommand::Burst(args) => burst(args, peer, started_at),
        FindCommand::Knee(args) => knee::header(args, peer, started_at),
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
    refuse_rate(&given)?;
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
    refuse_arrivals(
        &args.parameters,
        "the search has trains of its own: leave it out",
    )?;
    let question = Question::Burst(burst::BurstQuestion {
        pause,
        trial,
        sum,
        width_pct: width,
    });
    let request = at_rates(args, peer)?;
    Ok(of(question, args.time.max_case_time, request, started_at))
}

fn cliff(
    args: &SearchArgs<CliffArgs>,
    peer: Option<&Peer>,
    started_at: &str,
) -> anyhow::Result<Header> {
    let search = &args.search;
    refuse_short("--trial", search.trial, MIN_WINDOW)?;
    let mut given = args.parameters.clone();
    refuse_rate(&given)?;
    refuse_arrivals(&given, WITHOUT_RATE)?;
    refuse_workloads(&given, "is of round trips and floods")?;
    given.workload.get_or_insert_with(|| vec![Workload::Rr]);
    let usual = CLIFF_BETWEEN
        .into_iter()
        .filter_map(|bytes| Payload::try_from(bytes).ok());
    let payloads = given.payload.get_or_insert_with(|| usual.collect());
    let (from, to) = (payloads.iter().min(), payloads.iter().max());
    let Some((&from, &to)) = from.zip(to).filter(|(from, to)| from < to) else {
        let typed = payloads
            .first()
            .map_or_else(String::new, Payload::to_string);
        let fix = "a jump is between two: such as --payload 16,9000";
        return Err(UsageError::flag("--payload", &typed, fix).into());
    };
    *payloads = vec![from, to];
    let run = run(given, &args.placement, args.time.warmup, &args.output)?;
    let mut request = Request::between(&run, peer)?;
    // Each case is searched once, from its shortest payload to its longest. A case that cannot run with one of the two
    // is skipped.
    let longest = request.plan.clone();
    let verdict = |case: &Case| {
        let case = Case {
            payload: to,
            ..*case
        };
        let planned = longest.cases().find(|planned| planned.case == case);
        planned.map(|planned| planned.verdict.clone())
    };
    for block in &mut request.plan.blocks {
        block.cases.retain(|planned| planned.case.payload == from);
        for planned in &mut block.cases {
            if let Some(Decision::Skip(reason)) = verdict(&planned.case) {
                planned.verdict = Decision::Skip(reason);
            }
        }
    }
    request.plan.blocks.retain(|block| !block.cases.is_empty());
    let question = Question::Cliff(cliff::CliffQuestion {
        from,
        to,
        jump_pct: search.threshold,
        trial: search.trial,
    });
    Ok(of(question, args.time.max_case_time, request, started_at))
}

fn idle(
    args: &SearchArgs<IdleArgs>,
    peer: Option<&Peer>,
    started_at: &str,
) -> anyhow::Result<Header> {
    let search = &args.search;
    refuse_short("--trial", search.trial, MIN_WINDOW)?;
    let (from, to) = (search.silence.iter().min(), search.silence.iter().max());
    let (Some(&from), Some(&to)) = (from, to) else {
        return Err(UsageError::flag("--silence", &"", "use two, such as 10us,1s").into());
    };
    if from == to {
        let fix = "a step is between two: such as --silence 10us,1s";
        return Err(UsageError::flag("--silence", &from, fix).into());
    }
    let mut given = args.parameters.clone();
    refuse_rate(&given)?;
    refuse_arrivals(&given, WITHOUT_RATE)?;
    if let Some(think_time) = given.think_time.iter().flatten().next() {
        let fix = "the search has think times of its own: use --silence FROM,TO";
        return Err(UsageError::flag("--think-time", think_time, fix).into());
    }
    let mut workloads = given.workload.iter().flatten();
    if let Some(other) = workloads.find(|it| **it != Workload::Rr) {
        let fix = "this search is of round trips: leave it out";
        return Err(UsageError::flag("--workload", other, fix).into());
    }
    given.workload = Some(vec![Workload::Rr]);
    if [&given.engine, &given.sender, &given.receiver]
        .iter()
        .all(|engines| engines.is_none())
    {
        given.engine = Some(vec![EngineArg::One(engines::reference())]);
    }
    let two = || 2.try_into().into_iter().collect();
    given.threads.get_or_insert_with(two);
    let payload = || IDLE_PAYLOAD.try_into().into_iter().collect();
    given.payload.get_or_insert_with(payload);
    // Planned with some think time, so that cases that cannot have one are skipped.
    given.think_time = Some(vec![from]);
    let run = run(given, &args.placement, args.time.warmup, &args.output)?;
    let mut request = Request::between(&run, peer)?;
    for block in &mut request.plan.blocks {
        for planned in &mut block.cases {
            planned.case.think_time = None;
        }
    }
    let question = Question::Idle(idle::IdleQuestion {
        from,
        to,
        step_pct: search.threshold,
        trial: search.trial,
    });
    Ok(of(question, args.time.max_case_time, request, started_at))
}

fn refuse_short(flag: &'static str, value: Duration, least: Duration) -> Result<(), UsageError> {
    if value >= least {
        return Ok(());
    }
    let fix = format!("use {} or more", duration::text(least));
    Err(UsageError::flag(flag, &duration::text(value), fix))
}

/// Returns an error for parameters that no search has.
fn refuse_rate(given: &ParameterArgs) -> Result<(), UsageError> {
    if let Some(rate) = given.rate.iter().flatten().next() {
        let fix = "a search has rates of its own, or none: leave it out";
        return Err(UsageError::flag("--rate", rate, fix));
    }
    if let Some(duplex) = given.duplex.iter().flatten().next() {
        let fix = "it is for --workload bidir, which no search has: leave it out";
        return Err(UsageError::flag("--duplex", duplex, fix));
    }
    Ok(())
}

/// Returns an error for `--arrivals` in a search without rates.
fn refuse_arrivals(given: &ParameterArgs, fix: &str) -> Result<(), UsageError> {
    let arrivals = given.arrivals.iter().flatten().next();
    arrivals.map_or(Ok(()), |arrivals| {
        Err(UsageError::flag("--arrivals", arrivals, fix))
    })
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
        environment: Environment {
            board: request.detected.board.name.clone(),
            host: request.host,
            ..Environment::default()
        },
        settings: request.schedule.settings,
        plan: request.plan,
        truesizes: BTreeMap::new(),
        wire: request.wire,
    }
}

fn asked(args: &LosslessArgs) -> Result<LosslessQuestion, UsageError> {
    let refused =
        |flag, value: Duration, fix: String| UsageError::flag(flag, &duration::text(value), fix);
    let shortest = MIN_WINDOW * SHORTEST;
    if args.trial < shortest {
        let fix = format!(
            "the shortest trials are a tenth of it: use {} or more",
            duration::text(shortest)
        );
        return Err(refused("--trial", args.trial, fix));
    }
    if args.sum < args.trial {
        let fix = format!(
            "it holds several trials of {}: use more",
            duration::text(args.trial)
        );
        return Err(refused("--sum", args.sum, fix));
    }
    Ok(LosslessQuestion {
        goal_pct: args.goal,
        exceed_pct: args.exceed,
        trial: args.trial,
        sum: args.sum,
        width_pct: args.width,
        recheck: args.recheck,
    })
}
