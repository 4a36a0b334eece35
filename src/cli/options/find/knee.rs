//! Turns the options of `find knee` into the header of a search.

use clap::Parser;

use super::{
    MIN_WINDOW, Peer, Request, WITHOUT_RATE, of, refuse_arrivals, refuse_rate, refuse_short, run,
};
use crate::cli::{Cli, KneeArgs, ParameterArgs, SearchArgs};
use crate::data::{Batch, Case, Payload, Train, Workload};
use crate::error::UsageError;
use crate::experiment::find::header::{Header, Question};
use crate::experiment::find::knee::{Call, KneeQuestion};
use crate::plan::Decision;

/// Default parameters: an engine that batches, and one that sends trains.
const USUAL: &str = "udpbench --engine mmsg,gso --threads 2 --payload 1460";

/// Reason for cases that are not searched.
const ONE_PER_CALL: &str = "one datagram per call: this search is for batches (mmsg, uring, uring-zerocopy) and trains \
                            (gso, quinn-udp, zerocopy)";
/// Reason for cases whose payload allows no train.
const NO_TRAIN_FITS: &str = "no train of two: trains have 65507 B at most, and no empty datagrams; use a smaller --payload, above 0";

pub(super) fn header(
    args: &SearchArgs<KneeArgs>,
    peer: Option<&Peer>,
    started_at: &str,
) -> anyhow::Result<Header> {
    let search = &args.search;
    refuse_short("--trial", search.trial, MIN_WINDOW)?;
    let mut given = args.parameters.clone();
    refuse_rate(&given)?;
    refuse_arrivals(&given, WITHOUT_RATE)?;
    refuse_searched(&given)?;
    complete(&mut given)?;
    let run = run(given, &args.placement, args.time.warmup, &args.output)?;
    let mut request = Request::between(&run, peer)?;
    for block in &mut request.plan.blocks {
        for planned in &mut block.cases {
            planned.case = searched(&planned.case);
            if Call::of(&planned.case).1 == 1 && planned.runs() {
                let reason = match planned.case.train {
                    Some(_) => NO_TRAIN_FITS,
                    None => ONE_PER_CALL,
                };
                planned.verdict = Decision::Skip(reason.to_owned());
            }
        }
    }
    let question = Question::Knee(KneeQuestion {
        by: search.by,
        threshold_pct: search.threshold,
        rounds: search.rounds,
        trial: search.trial,
        seed: request.schedule.seed,
    });
    Ok(of(question, args.time.max_case_time, request, started_at))
}

/// Returns an error for parameters that the search chooses.
fn refuse_searched(given: &ParameterArgs) -> Result<(), UsageError> {
    let fix = "the search chooses it: leave it out";
    if let Some(batch) = given.batch.iter().flatten().next() {
        return Err(UsageError::flag("--batch", batch, fix));
    }
    if let Some(train) = given.train.iter().flatten().next() {
        return Err(UsageError::flag("--train", train, fix));
    }
    let mut workloads = given.workload.iter().flatten();
    if let Some(other) = workloads.find(|it| **it != Workload::Flood) {
        let fix = "this search is of floods: leave it out";
        return Err(UsageError::flag("--workload", other, fix));
    }
    Ok(())
}

fn complete(given: &mut ParameterArgs) -> anyhow::Result<()> {
    let usual = Cli::try_parse_from(USUAL.split(' '))?.run.parameters;
    if given.sender.is_none() && given.receiver.is_none() {
        given.engine = given.engine.take().or(usual.engine);
    }
    given.threads = given.threads.take().or(usual.threads);
    given.payload = given.payload.take().or(usual.payload);
    // Planned with the highest values. Cases keep those that their engines have.
    given.batch = Some(Batch::try_from(Batch::MAX).into_iter().collect());
    given.train = Some(Train::try_from(Train::MAX).into_iter().collect());
    Ok(())
}

/// Returns the case with the highest value that is searched: of the train, if the sender sends trains, or else of the
/// batch.
fn searched(case: &Case) -> Case {
    let fit = Payload::MAX_DATAGRAM.checked_div(case.payload.into());
    let fit = fit.and_then(|fit| u16::try_from(fit).ok());
    let most = match fit {
        Some(fit) => fit.clamp(1, Train::MAX),
        None if case.payload == Payload::MIN => 1,
        None => Train::MAX,
    };
    match case.train {
        Some(_) => Case {
            train: Train::try_from(most).ok(),
            batch: case.batch.map(|_| Batch::DEFAULT),
            ..*case
        },
        None => *case,
    }
}
