//! Judges a comparison: a round is one observation, the logarithm of B over A.
//!
//! The value of an engine in a round is the mean of its cases, weighted: a case that scatters less weighs more.

use std::collections::BTreeSet;

use super::record::Measured;
use super::series::{self, Series};
use super::{Pair, Record, Side};
use crate::stats::CONFIDENCE;
use crate::verdict::judge::{
    Answer, Case, Change, Changes, Evidence, Judgement, Obstacle, Question, Threshold, Verdict,
    parts,
};

/// Factor by which errors are rarer on a busy machine. Where it is quiet, no change below the threshold looks like one
/// of 2 % and more, so false calls are rarer than [`ERROR_RATE`](crate::verdict::judge::ERROR_RATE). Where windows
/// scatter by half of their value, nothing but this rate prevents false calls.
const CAUTION: u32 = 100;

/// Judges all cases, engines and parts.
pub fn judge(record: &Record, question: Question) -> Judgement {
    let looks = record.header().until.map_or(1, |until| until.looks);
    let pairs = record.pairs();
    let measured = record.measured().iter().zip(&pairs);
    let run = measured.filter(|(_, pair)| pair.refusal().is_none());
    let (series, cases) = run
        .map(|(measured, pair)| {
            let series = Series::of(measured.differences(question.by));
            (
                series,
                case(pair, measured, question, record.rounds_to_blame()),
            )
        })
        .unzip();
    let rounds = Rounds {
        series,
        confidence: 1.0 - (1.0 - CONFIDENCE) / f64::from(looks),
        threshold: question.threshold,
    };
    let caution = if record.is_of_busy_machine() {
        CAUTION
    } else {
        1
    };
    let mut judgement = crate::verdict::judge::judge(question, cases, looks * caution, &rounds);
    if record.header().tunings.is_some() {
        judgement.noun = "setting";
    }
    doubt_failures(record, &mut judgement);
    judgement
}

/// Calls nothing the same or better whose B alone failed now and then.
fn doubt_failures(record: &Record, judgement: &mut Judgement) {
    if !record.has_failures() {
        return;
    }
    let doubt = |answer: &mut Answer, failures: Option<Verdict>| {
        let is_kept = answer.verdict.is_bad() || answer.verdict.reason().is_some();
        if let Some(failures) = failures.filter(|_| !is_kept) {
            answer.verdict = failures;
        }
    };
    for engine in &mut judgement.engines {
        doubt(&mut engine.whole, record.failures_of_b_alone(&engine.label));
    }
    let measured = record.measured().iter().zip(record.pairs());
    let run = measured.filter(|(_, pair)| pair.refusal().is_none());
    for ((measured, pair), case) in run.zip(&mut judgement.cases) {
        let is_suspect = record.failures_of_b_alone(&pair.label()).is_some();
        doubt(
            &mut case.answer,
            measured.failures_of_b().filter(|_| is_suspect),
        );
    }
}

/// Rounds of all cases.
struct Rounds {
    series: Vec<Series>,
    confidence: f64,
    threshold: Threshold,
}

impl Evidence for Rounds {
    fn changes(&self, _changed: &BTreeSet<usize>) -> Changes<'_> {
        Box::new(|cases| {
            let series: Vec<&Series> = cases.iter().map(|&case| &self.series[case]).collect();
            let rounds: Vec<f64> = series::mean(&series).into_values().collect();
            Change::by_signed_rank(&rounds, self.confidence, self.threshold)
        })
    }

    fn obstacle(&self, _cases: &[usize]) -> Obstacle {
        Obstacle::TooFewRounds
    }
}

fn case(pair: &Pair, measured: &Measured, question: Question, to_blame: usize) -> Case {
    let verdict = measured
        .verdict_on_failures(to_blame)
        .unwrap_or(Verdict::Unclear);
    let [a, b] = [pair.a, pair.b].map(|planned| parts::of_case(&planned.case));
    let common = |number: usize| a[number].filter(|_| a[number] == b[number]);
    Case {
        label: pair.label(),
        key: pair.key(),
        parts: [0, 1, 2, 3].map(common),
        values: Side::BOTH.map(|side| measured.middle(side, question.by)),
        answer: Answer {
            cases: 1,
            change: None,
            verdict,
        },
    }
}
