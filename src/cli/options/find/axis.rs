//! Turns the options of `find cliff`, `find idle` and `find knee` into the header of a search.

use std::fmt::Display;

use super::{MIN_WINDOW, refuse_short};
use crate::cli::{AxisArgs, IdleArgs, KneeArgs, ParameterArgs};
use crate::data::{Batch, Payload, Train};
use crate::error::UsageError;
use crate::experiment::find::axis::{AxisQuestion, Parameter};
use crate::plan::{Decision, Plan, Planned};
use crate::verdict::judge::Metric;

/// Highest number of rounds of two neighbours. If they do not tell in which half a step is, the change is gradual.
const MOST_ROUNDS: u32 = 18;

/// Reason for cases that are not searched.
const ONE_PER_CALL: &str = "one datagram per call: this search is for batches (mmsg, uring, uring-zerocopy) and trains \
                            (gso, quinn-udp, zerocopy)";
/// Reason for cases whose payload allows no train.
const NO_TRAIN_FITS: &str = "no train of two: trains have 65507 B at most, and no empty datagrams; use a smaller --payload, above 0";

pub(super) fn cliff(
    args: &AxisArgs,
    given: &mut ParameterArgs,
) -> Result<AxisQuestion, UsageError> {
    let payloads = given.payload.as_deref().unwrap_or_default();
    let (from, to) = range("--payload", payloads, "16,9000")?;
    given.payload = Some(vec![from, to]);
    asked(Parameter::Payload { from, to }, args, 10.0)
}

pub(super) fn idle(args: &IdleArgs, given: &mut ParameterArgs) -> Result<AxisQuestion, UsageError> {
    let (from, to) = range("--silence", &args.silence, "10us,1s")?;
    // Planned with some think time, so that cases that cannot have one are skipped.
    given.think_time = Some(vec![from]);
    asked(Parameter::Silence { from, to }, &args.axis, 100.0)
}

pub(super) fn knee(args: &KneeArgs, given: &mut ParameterArgs) -> Result<AxisQuestion, UsageError> {
    // Planned with the highest values: cases keep those that their engines have.
    given.batch = Some(Batch::try_from(Batch::MAX).into_iter().collect());
    given.train = Some(Train::try_from(Train::MAX).into_iter().collect());
    Ok(AxisQuestion {
        by: args.by,
        rounds: args.rounds,
        ..asked(Parameter::Call, &args.axis, 2.0)?
    })
}

/// Returns a question without its seed.
fn asked(
    parameter: Parameter,
    args: &AxisArgs,
    threshold_pct: f64,
) -> Result<AxisQuestion, UsageError> {
    refuse_short("--trial", args.trial, MIN_WINDOW)?;
    Ok(AxisQuestion {
        parameter,
        by: Metric::Speed,
        threshold_pct: args.threshold.unwrap_or(threshold_pct),
        rounds: MOST_ROUNDS,
        trial: args.trial,
        seed: 0,
    })
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
pub(super) fn for_search(plan: &mut Plan, parameter: Parameter) {
    let with_all = plan.clone();
    for block in &mut plan.blocks {
        if let Parameter::Payload { from, .. } = parameter {
            block.cases.retain(|planned| planned.case.payload == from);
        }
        for planned in &mut block.cases {
            match parameter {
                Parameter::Payload { to: payload, .. } => {
                    let mut longest = planned.case;
                    longest.payload = payload;
                    let longest = with_all.cases().find(|planned| planned.case == longest);
                    if let Some(reason) = longest.and_then(Planned::refusal) {
                        planned.verdict = Decision::Skip(reason.to_owned());
                    }
                }
                Parameter::Silence { .. } => planned.case.think_time = None,
                Parameter::Call => with_most_per_call(planned),
            }
        }
    }
    plan.blocks.retain(|block| !block.cases.is_empty());
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
    // Empty datagrams form no train.
    let fit = fit.map_or(1, |fit| fit.clamp(1, Train::MAX.into()));
    u16::try_from(fit).unwrap_or(Train::MAX)
}
