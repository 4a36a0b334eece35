//! Turns the options of `find` into the header of a search: its cases and its question.

mod axis;
mod tuning;

pub use self::tuning::{comparison, limit, wanted};

use std::collections::BTreeMap;
use std::time::Duration;

use super::{MIN_WINDOW, Request};
use crate::cli::peer::Peer;
use crate::cli::{BurstArgs, Cli, FindCommand, FindCommonArgs, LosslessArgs, ParameterArgs};
use crate::data::{AskedRate, Case, Payload, Rate, Workload};
use crate::error::UsageError;
use crate::experiment::find::header::{
    BurstQuestion, FindHeader, LosslessQuestion, SearchQuestion,
};
use crate::plan::Plan;
use crate::results::log::Run;
use crate::term::words::words_as_text;
use crate::text::duration;

/// Default time limit of a case.
const MAX_CASE_TIME: Duration = Duration::from_secs(300);
/// Default time limit of a search for rates of which neither engines nor payloads were typed: three cases take five
/// minutes at most.
const SHORT_CASE_TIME: Duration = Duration::from_secs(100);
/// Senders whose rates are searched by default: one call per datagram, batches, and offload.
const SENDERS: [&str; 3] = ["std", "mmsg", "gso"];

/// Ratio of a full trial to the shortest trial of a search for a rate.
const SHORTEST: u32 = 10;

/// Returns the header of a search with the remote host `peer`, or on this host alone.
///
/// # Errors
/// Fails if an option is wrong or impossible here, and names the fix.
pub fn header(
    what: &FindCommand,
    peer: Option<&Peer>,
    started_at: &str,
) -> anyhow::Result<FindHeader> {
    let common = what.common();
    let mut given = common.parameters.clone();
    let mut question = match what {
        FindCommand::Lossless(args) => lossless(&args.search)?,
        FindCommand::Burst(args) => burst(&args.search)?,
        FindCommand::Cliff(args) => SearchQuestion::Axis(axis::cliff(&args.search, &mut given)?),
        FindCommand::Idle(args) => SearchQuestion::Axis(axis::idle(&args.search, &mut given)?),
        FindCommand::Knee(args) => SearchQuestion::Axis(axis::knee(&args.search, &mut given)?),
        FindCommand::Tuning(_) => {
            let fix =
                "it shows its plan itself, and is no part of a suite: run udpbench find tuning";
            return Err(UsageError::flag("find", "tuning", fix).into());
        }
    };
    if !matches!(question, SearchQuestion::Axis(_)) {
        // Planned with some rate, so that cases that cannot be paced are skipped.
        given.rate = Some(vec![AskedRate::Datagrams(Rate::nearest(1.0))]);
    }
    let mut request = request(given, common, peer)?;
    let plan = &mut request.plan;
    if let SearchQuestion::Axis(asked) = &mut question {
        asked.seed = request.schedule.seed;
        axis::for_search(plan, asked.parameter);
    } else {
        let blocks = plan.blocks.iter_mut();
        for planned in blocks.flat_map(|block| &mut block.cases) {
            planned.case.rate = None;
        }
    }
    let mut max_time = MAX_CASE_TIME;
    if let FindCommand::Lossless(_) = what {
        reduce(plan, &common.parameters);
        if is_default(&common.parameters) == (true, true) {
            max_time = SHORT_CASE_TIME;
        }
    }
    Ok(FindHeader {
        run: Run::new(started_at, words_as_text()),
        question,
        max_time: common.max_case_time.unwrap_or(max_time),
        environment: request.environment(),
        settings: request.schedule.settings,
        plan: request.plan,
        truesizes: BTreeMap::new(),
        wire: request.wire,
    })
}

/// Returns the request for the cases with these parameters.
fn request(
    given: ParameterArgs,
    common: &FindCommonArgs,
    peer: Option<&Peer>,
) -> anyhow::Result<Request> {
    let mut workloads = given.workload.iter().flatten();
    if let Some(other) = workloads.find(|it| ![Workload::Flood, Workload::Rr].contains(it)) {
        let fix = "this search is of floods and round trips: use flood or rr";
        return Err(UsageError::flag("--workload", other, fix).into());
    }
    let mut run = Cli::try_parse_from(["udpbench"])?.run;
    run.parameters = given;
    run.placement = common.placement.clone();
    run.root.clone_from(&common.output.root);
    run.measuring.no_reference = true;
    run.measuring.warmup = common.warmup;
    Ok(Request::new(&run, peer)?)
}

fn lossless(args: &LosslessArgs) -> Result<SearchQuestion, UsageError> {
    // The shortest trials are a tenth of it.
    refuse_short("--trial", args.trial, MIN_WINDOW * SHORTEST)?;
    refuse_short("--sum", args.sum, args.trial)?;
    Ok(SearchQuestion::Lossless(LosslessQuestion {
        goal_pct: args.goal,
        exceed_pct: args.exceed,
        trial: args.trial,
        sum: args.sum,
        width_pct: args.width,
        recheck: args.recheck,
    }))
}

fn burst(args: &BurstArgs) -> Result<SearchQuestion, UsageError> {
    refuse_short("--pause", args.pause, MIN_WINDOW)?;
    refuse_short("--trial", args.trial, args.pause)?;
    refuse_short("--sum", args.sum, args.trial)?;
    Ok(SearchQuestion::Burst(BurstQuestion {
        pause: args.pause,
        trial: args.trial,
        sum: args.sum,
        width_pct: args.width,
    }))
}

fn refuse_short(flag: &'static str, value: Duration, least: Duration) -> Result<(), UsageError> {
    if value >= least {
        return Ok(());
    }
    let fix = format!("use {} or more", duration::text(least));
    Err(UsageError::flag(flag, &duration::text(value), fix))
}

/// Returns a line on how to search more, if the defaults leave cases out.
pub fn how_to_search_more(what: &FindCommand) -> Option<&'static str> {
    let is_reduced = match what {
        FindCommand::Lossless(args) => is_default(&args.common.parameters) != (false, false),
        _ => false,
    };
    is_reduced.then_some("to search more: --engine all, --payload 26,1460")
}

/// Returns whether the engines, and the payloads, are the default ones.
fn is_default(given: &ParameterArgs) -> (bool, bool) {
    let engines = [&given.engine, &given.sender, &given.receiver];
    let engines = engines.iter().all(|engines| engines.is_none());
    (engines, given.payload.is_none())
}

/// Leaves out the engines and payloads whose rates are not searched by default: few enough cases for some minutes. The
/// largest payload stays: it fills an Ethernet frame.
fn reduce(plan: &mut Plan, given: &ParameterArgs) {
    let (engines, payloads) = is_default(given);
    let largest = plan.blocks.iter().map(|block| block.key.payload).max();
    let largest = largest.filter(|_| payloads);
    let has = |case: &Case, payload: Option<Payload>| {
        (!engines || SENDERS.contains(&case.sender.as_str()))
            && payload.is_none_or(|payload| payload == case.payload)
    };
    if plan.cases().any(|planned| has(&planned.case, largest)) {
        for block in &mut plan.blocks {
            block.cases.retain(|planned| has(&planned.case, largest));
        }
        plan.blocks.retain(|block| !block.cases.is_empty());
    }
}
