//! Judges a comparison: a round is one observation, the logarithm of B over A.
//!
//! The value of an engine in a round is the mean of its cases, weighted: a case that scatters less weighs more.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::header::Pair;
use super::windows::PairWindows;
use super::{AbComparison, Side};
use crate::stats::CONFIDENCE;
use crate::verdict::judge::{
    self, Change, Changes, Criterion, Evidence, JudgedCase, JudgedChange, Judgement, Obstacle,
    Threshold, Verdict, parts,
};

/// Factor by which errors are rarer on a busy machine. Where it is quiet, no change below the threshold looks like one
/// of 2 % and more, so false calls are rarer than [`ERROR_RATE`](crate::verdict::judge::ERROR_RATE). Where windows
/// scatter by half of their value, nothing but this rate prevents false calls.
const CAUTION: u32 = 100;

/// Judges all cases, engines and parts.
pub fn judge(comparison: &AbComparison, question: Criterion) -> Judgement {
    let looks = comparison.header.until.map_or(1, |until| until.looks);
    let pairs = comparison.pairs();
    let measured = comparison.pairs.iter().zip(&pairs);
    let run = measured.filter(|(_, pair)| pair.refusal().is_none());
    let to_blame = comparison.rounds_to_blame();
    let judged = run.map(|(measured, pair)| {
        let series = CaseSeries::of(measured.differences(question.by));
        (series, case(pair, measured, question, to_blame))
    });
    let (series, cases) = judged.unzip();
    let rounds = AbEvidence {
        series,
        confidence: 1.0 - (1.0 - CONFIDENCE) / f64::from(looks),
        threshold: question.threshold,
    };
    let is_busy = comparison.is_of_busy_machine();
    let questions = if is_busy { looks * CAUTION } else { looks };
    let mut judgement = judge::judge(question, cases, questions, &rounds);
    if comparison.header.tunings.is_some() {
        judgement.noun = "setting";
    }
    doubt_failures(comparison, &mut judgement);
    judgement
}

/// Returns the results for programs: objects with the same keys, one for each engine, part and case. `null`: unknown,
/// or not in this kind of row.
pub fn rows(comparison: &AbComparison, judgement: &Judgement) -> Vec<Value> {
    let shared = json!({ "rounds": comparison.rounds() });
    judge::rows::rows(judgement, ["a_value", "b_value"], &shared)
}

/// Calls nothing the same or better whose B alone failed now and then.
fn doubt_failures(comparison: &AbComparison, judgement: &mut Judgement) {
    if !comparison.has_failures() {
        return;
    }
    let doubt = |answer: &mut JudgedChange, failures: Option<Verdict>| {
        let is_kept = answer.verdict.is_bad() || answer.verdict.reason().is_some();
        if let Some(failures) = failures.filter(|_| !is_kept) {
            answer.verdict = failures;
        }
    };
    for engine in &mut judgement.engines {
        doubt(
            &mut engine.whole,
            comparison.failures_of_b_alone(&engine.label),
        );
    }
    let measured = comparison.pairs.iter().zip(comparison.pairs());
    let run = measured.filter(|(_, pair)| pair.refusal().is_none());
    for ((measured, pair), case) in run.zip(&mut judgement.cases) {
        let failures = comparison.failures_of_b_alone(&pair.label());
        let has_any = measured.failures(Side::B) > 0;
        doubt(&mut case.answer, failures.filter(|_| has_any));
    }
}

/// Rounds of all cases.
struct AbEvidence {
    series: Vec<CaseSeries>,
    confidence: f64,
    threshold: Threshold,
}

impl Evidence for AbEvidence {
    fn changes(&self, _changed: &BTreeSet<usize>) -> Changes<'_> {
        Box::new(|cases| {
            let series: Vec<&CaseSeries> = cases.iter().map(|&case| &self.series[case]).collect();
            let rounds: Vec<f64> = mean_by_round(&series).into_values().collect();
            Change::by_signed_rank(&rounds, self.confidence, self.threshold)
        })
    }

    fn obstacle(&self, _cases: &[usize]) -> Obstacle {
        Obstacle::TooFewRounds
    }
}

/// Logarithm of B over A, by round.
type ByRound = BTreeMap<u32, f64>;

/// Differences of a case, with its weight.
struct CaseSeries {
    rounds: ByRound,
    weight: f64,
}

/// Lower limit of the spread, as a logarithm. No scatter is known more exactly.
const LEAST_SPREAD: f64 = 1e-3;

impl CaseSeries {
    fn of(rounds: ByRound) -> Self {
        let mut values: Vec<f64> = rounds.values().copied().collect();
        values.sort_unstable_by(f64::total_cmp);
        // Range of the middle half: outliers do not make a case noisy.
        let quarter = values.len() / 4;
        let spread = match &values[quarter..values.len() - quarter] {
            [low, .., high] => high - low,
            _ => 0.0,
        };
        Self {
            rounds,
            weight: spread.max(LEAST_SPREAD).powi(-2),
        }
    }
}

/// Returns the weighted mean of these cases for each round that most of them have, by weight. In a few rounds, windows
/// of a case may have failed.
fn mean_by_round(series: &[&CaseSeries]) -> ByRound {
    let all: f64 = series.iter().map(|case| case.weight).sum();
    let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for case in series {
        for (round, difference) in &case.rounds {
            let (sum, weight) = sums.entry(*round).or_default();
            *sum += case.weight * difference;
            *weight += case.weight;
        }
    }
    let sums = sums.into_iter();
    let most = sums.filter(|(_, (_, weight))| 2.0 * weight >= all);
    let means = most.map(|(round, (sum, weight))| (round, sum / weight));
    means.collect()
}

fn case(pair: &Pair, measured: &PairWindows, question: Criterion, to_blame: usize) -> JudgedCase {
    let failures = measured.verdict_on_failures(to_blame);
    let [a, b] = [pair.a, pair.b].map(|planned| parts::of_case(&planned.case));
    let common = |number: usize| a[number].filter(|_| a[number] == b[number]);
    JudgedCase {
        label: pair.label(),
        key: pair.key(),
        parts: [0, 1, 2, 3].map(common),
        values: Side::BOTH.map(|side| measured.middle(side, question.by)),
        answer: JudgedChange {
            cases: 1,
            change: None,
            verdict: failures.unwrap_or(Verdict::Unclear),
        },
    }
}
