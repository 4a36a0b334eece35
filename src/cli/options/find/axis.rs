//! Turns the options of `find cliff`, `find idle` and `find knee` into the header of a search.

use std::fmt::Display;

use clap::Args;

use super::{MIN_WINDOW, Peer, Request, of, refuse_short, refuse_workloads, run};
use crate::cli::{AxisArgs, IdleArgs, KneeArgs, ParameterArgs, SearchArgs};
use crate::data::{Batch, Case, Payload, Train};
use crate::error::UsageError;
use crate::experiment::find::axis::{AxisQuestion, Parameter};
use crate::experiment::find::header::{Header, Question};
use crate::plan::{Decision, Plan, Planned};
use crate::verdict::judge::By;

/// Highest number of rounds of two neighbours. If they do not tell in which half a step is, the change is gradual.
const MOST_ROUNDS: u32 = 18;

/// Reason for cases that are not searched.
const ONE_PER_CALL: &str = "one datagram per call: this search is for batches (mmsg, uring, uring-zerocopy) and trains \
                            (gso, quinn-udp, zerocopy)";
/// Reason for cases whose payload allows no train.
const NO_TRAIN_FITS: &str = "no train of two: trains have 65507 B at most, and no empty datagrams; use a smaller --payload, above 0";

pub(super) fn cliff(
    args: &SearchArgs<AxisArgs>,
    peer: Option<&Peer>,
    started_at: &str,
) -> anyhow::Result<Header> {
    let mut given = args.parameters.clone();
    refuse_workloads(&given, "is of round trips and floods")?;
    let payloads = given.payload.as_deref().unwrap_or_default();
    let (from, to) = range("--payload", payloads, "16,9000")?;
    given.payload = Some(vec![from, to]);
    let parameter = Parameter::Payload { from, to };
    let asked = asked(parameter, &args.search, 10.0);
    header(args, asked, given, peer, started_at)
}

pub(super) fn idle(
    args: &SearchArgs<IdleArgs>,
    peer: Option<&Peer>,
    started_at: &str,
) -> anyhow::Result<Header> {
    let (from, to) = range("--silence", &args.search.silence, "10us,1s")?;
    let mut given = args.parameters.clone();
    // Planned with some think time, so that cases that cannot have one are skipped.
    given.think_time = Some(vec![from]);
    let parameter = Parameter::Silence { from, to };
    let asked = asked(parameter, &args.search.axis, 100.0);
    header(args, asked, given, peer, started_at)
}

pub(super) fn knee(
    args: &SearchArgs<KneeArgs>,
    peer: Option<&Peer>,
    started_at: &str,
) -> anyhow::Result<Header> {
    let mut given = args.parameters.clone();
    // Planned with the highest values: cases keep those that their engines have.
    given.batch = Some(Batch::try_from(Batch::MAX).into_iter().collect());
    given.train = Some(Train::try_from(Train::MAX).into_iter().collect());
    let asked = AxisQuestion {
        by: args.search.by,
        rounds: args.search.rounds,
        ..asked(Parameter::Call, &args.search.axis, 2.0)
    };
    header(args, asked, given, peer, started_at)
}

/// Returns a question without its seed.
fn asked(parameter: Parameter, args: &AxisArgs, threshold_pct: f64) -> AxisQuestion {
    AxisQuestion {
        parameter,
        by: By::Speed,
        threshold_pct: args.threshold.unwrap_or(threshold_pct),
        rounds: MOST_ROUNDS,
        trial: args.trial,
        seed: 0,
    }
}

fn header<S: Args>(
    args: &SearchArgs<S>,
    asked: AxisQuestion,
    given: ParameterArgs,
    peer: Option<&Peer>,
    started_at: &str,
) -> anyhow::Result<Header> {
    refuse_short("--trial", asked.trial, MIN_WINDOW)?;
    let run = run(given, &args.placement, args.time.warmup, &args.output)?;
    let mut request = Request::between(&run, peer)?;
    for_search(&mut request.plan, asked.parameter);
    let seed = request.schedule.seed;
    let question = Question::Axis(AxisQuestion { seed, ..asked });
    Ok(of(question, args.time.max_case_time, request, started_at))
}

/// Returns the smallest and the largest of the values.
fn range<T: Copy + Ord + Display>(
    flag: &'static str,
    values: &[T],
    example: &str,
) -> Result<(T, T), UsageError> {
    let ends = values.iter().min().zip(values.iter().max());
    let ends = ends.filter(|(from, to)| from < to);
    ends.map(|(from, to)| (*from, *to)).ok_or_else(|| {
        let typed = values.first().map_or_else(String::new, T::to_string);
        let fix = format!("a step is between two: such as {flag} {example}");
        UsageError::flag(flag, &typed, fix)
    })
}

/// Leaves each case once in the plan, without the parameter that is searched. A case that cannot run with both ends of
/// the range is skipped.
fn for_search(plan: &mut Plan, parameter: Parameter) {
    let with_all = plan.clone();
    for block in &mut plan.blocks {
        if let Parameter::Payload { from, .. } = parameter {
            block.cases.retain(|planned| planned.case.payload == from);
        }
        for planned in &mut block.cases {
            match parameter {
                Parameter::Payload { to, .. } => skip_with(planned, &with_all, to),
                Parameter::Silence { .. } => planned.case.think_time = None,
                Parameter::Call => with_most_per_call(planned),
            }
        }
    }
    plan.blocks.retain(|block| !block.cases.is_empty());
}

/// Skips a case that is skipped with this payload.
fn skip_with(planned: &mut Planned, plan: &Plan, payload: Payload) {
    let with_payload = Case {
        payload,
        ..planned.case
    };
    let mut cases = plan.cases();
    let with_payload = cases.find(|planned| planned.case == with_payload);
    if let Some(Decision::Skip(reason)) = with_payload.map(|it| &it.verdict) {
        planned.verdict = Decision::Skip(reason.clone());
    }
}

/// Gives a case the highest value that is searched: of the train, if the sender sends trains, or else of the batch.
fn with_most_per_call(planned: &mut Planned) {
    let case = &mut planned.case;
    if case.train.is_some() {
        case.train = Train::try_from(most_in_train(case.payload)).ok();
        case.batch = case.batch.map(|_| Batch::DEFAULT);
    }
    if Parameter::per_call(case) == 1 && planned.runs() {
        let reason = planned.case.train.map_or(ONE_PER_CALL, |_| NO_TRAIN_FITS);
        planned.verdict = Decision::Skip(reason.to_owned());
    }
}

/// Returns the longest train of datagrams of this payload.
fn most_in_train(payload: Payload) -> u16 {
    let fit = Payload::MAX_DATAGRAM.checked_div(payload.into());
    let fit = fit.and_then(|fit| u16::try_from(fit).ok());
    match fit {
        Some(fit) => fit.clamp(1, Train::MAX),
        None if payload == Payload::MIN => 1,
        None => Train::MAX,
    }
}
