//! Verdicts of a comparison: by case, by engine, by part.
//!
//! A round is one observation: the logarithm of B over A. Over the rounds, the signed-rank test asks whether there is
//! a change beyond [`MARGIN`], and gives an estimate and its interval. The value of an engine in a round is the mean
//! of its cases, weighted: a case that scatters less weighs more.

use std::collections::BTreeMap;

use super::parts::cuts;
use super::record::Measured;
use super::series::{self, Rounds, Series};
use super::{Pair, Record, Side};
use crate::stats::false_discovery;
use crate::stats::signed_rank::SignedRank;
use crate::verdict::compare::{By, Change, Part, Threshold, Verdict};

/// Highest share of false alarms among the reported changes, in the mean over many comparisons.
pub(super) const FALSE_DISCOVERY_RATE: f64 = 0.02;
const CONFIDENCE: f64 = 0.95;
/// Margin of 0.5 %: a change that may be this small is not reported. Two builds of one source may differ by this
/// much, because the same loops lie at other addresses. `docs/BIAS.md` says where it comes from.
pub(super) const MARGIN: f64 = 0.005;
/// Highest probability by chance at which the parts of a cut count as different. All looks share it.
const PARTS_DIFFER: f64 = 0.01;

/// Question of a comparison.
#[derive(Clone, Copy, Debug, Default)]
pub struct Question {
    /// Quantity that is compared.
    pub by: By,
    /// Smallest change that matters. A change that is surely smaller counts as the same.
    pub threshold: Threshold,
}

/// Verdicts of a comparison.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// Question that the verdicts answer.
    pub question: Question,
    /// Rounds of the case that has the most.
    pub rounds: usize,
    /// Number of looks that share the errors.
    pub looks: u32,
    /// Engines, each over all its cases, with its parts.
    pub engines: Vec<Engine>,
    /// Cases that were to run.
    pub cases: Vec<CaseAnswer>,
}

/// Results of an engine over all its cases.
#[derive(Clone, Debug)]
pub struct Engine {
    /// Name of the engine.
    pub label: String,
    /// Result over all its cases.
    pub all: Answer,
    /// Results of each part, grouped by cut.
    pub parts: Vec<Vec<(Part, Answer)>>,
    /// Index of the cut that best explains how cases differ. `None`: no cut has parts that differ by more than
    /// chance.
    pub telling: Option<usize>,
}

/// Result of a case.
#[derive(Clone, Debug)]
pub struct CaseAnswer {
    /// Name of its engine.
    pub label: String,
    /// Key of the case, or both keys if they differ.
    pub key: String,
    /// Middle of the values in A.
    pub a: Option<f64>,
    /// Middle of the values in B.
    pub b: Option<f64>,
    /// Change and verdict.
    pub answer: Answer,
}

/// Change and verdict from some rounds.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Number of cases in the result.
    pub cases: usize,
    /// Difference of B from A. `None`: it is not known.
    pub change: Option<Change>,
    /// Verdict on the change.
    pub verdict: Verdict,
}

/// Judges all cases, engines and parts at one false discovery rate.
pub fn judge(record: &Record, question: Question) -> Judgement {
    let header = record.header();
    let looks = header.until.map_or(1, |until| until.looks);
    let judge = Judge { question, looks };
    let pairs = record.pairs();
    let run: Vec<usize> = (0..pairs.len())
        .filter(|&pair| pairs[pair].refusal().is_none())
        .collect();
    let measured = record.measured();
    let mut cases: Vec<CaseAnswer> = run
        .iter()
        .map(|&pair| judge.case(&pairs[pair], &measured[pair]))
        .collect();
    let mut by_label: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for &pair in run.iter().filter(|&&pair| !record.has_failed(pair)) {
        by_label.entry(pairs[pair].label()).or_default().push(pair);
    }
    let engines = by_label.into_iter();
    let mut engines: Vec<Engine> = engines
        .map(|(label, numbers)| {
            let of_engine: Vec<Pair> = numbers.iter().map(|&number| pairs[number]).collect();
            let series: Vec<Series> = numbers
                .iter()
                .map(|&number| Series::of(measured[number].differences(question.by)))
                .collect();
            judge.engine(label, &of_engine, &series)
        })
        .collect();
    judge.name(&mut cases, &mut engines);
    let rounds = measured
        .iter()
        .map(|pair| pair.differences(question.by).len());
    Judgement {
        question,
        rounds: rounds.max().unwrap_or_default(),
        looks,
        engines,
        cases,
    }
}

impl Judgement {
    /// Returns whether anything is slower, dearer or broken.
    pub fn is_worse(&self) -> bool {
        let is_bad = |verdict: &Verdict| matches!(verdict, Verdict::Worse | Verdict::Broken(_));
        self.answers().any(|answer| is_bad(&answer.verdict))
    }

    /// Returns whether nothing is unclear any more, so that more rounds would change nothing.
    pub fn is_decided(&self) -> bool {
        self.answers()
            .all(|answer| answer.verdict != Verdict::Unclear)
    }

    fn answers(&self) -> impl Iterator<Item = &Answer> {
        let of_engines = self.engines.iter().flat_map(Engine::answers);
        self.cases.iter().map(|case| &case.answer).chain(of_engines)
    }
}

impl Engine {
    fn answers(&self) -> impl Iterator<Item = &Answer> {
        let parts = self.parts.iter().flatten().map(|(_, answer)| answer);
        std::iter::once(&self.all).chain(parts)
    }

    fn answers_mut(&mut self) -> impl Iterator<Item = &mut Answer> {
        let parts = self.parts.iter_mut().flatten().map(|(_, answer)| answer);
        std::iter::once(&mut self.all).chain(parts)
    }
}

struct Judge {
    question: Question,
    looks: u32,
}

impl Judge {
    fn case(&self, pair: &Pair, measured: &Measured) -> CaseAnswer {
        let differences: Vec<f64> = measured
            .differences(self.question.by)
            .into_values()
            .collect();
        let mut answer = self.answer(1, &differences);
        let failed = match &measured.failures {
            [None, None] => None,
            [None, Some(reason)] => Some(Verdict::Broken(reason.clone())),
            [Some(reason), None] => Some(Verdict::NotComparable(format!("fails in A: {reason}"))),
            [Some(reason), Some(_)] => {
                Some(Verdict::NotComparable(format!("fails in both: {reason}")))
            }
        };
        if let Some(verdict) = failed {
            (answer.change, answer.verdict) = (None, verdict);
        }
        CaseAnswer {
            label: pair.label(),
            key: pair.key(),
            a: measured.middle(Side::A, self.question.by),
            b: measured.middle(Side::B, self.question.by),
            answer,
        }
    }

    fn engine(&self, label: String, pairs: &[Pair], series: &[Series]) -> Engine {
        let cuts = cuts(pairs);
        let of_part = |places: &Vec<usize>| {
            let series: Vec<&Series> = places.iter().map(|&place| &series[place]).collect();
            series::mean(&series)
        };
        let limit = PARTS_DIFFER / f64::from(self.looks);
        let differ = |parts: &[(Part, Vec<usize>)]| {
            let means: Vec<Rounds> = parts.iter().map(|(_, places)| of_part(places)).collect();
            series::chance_of(&means) <= limit
        };
        let telling = cuts.iter().enumerate().filter(|(_, parts)| differ(parts));
        let left_over = telling.map(|(number, parts)| (number, series::left_over(series, parts)));
        let telling = left_over.min_by(|(_, one), (_, other)| one.total_cmp(other));
        let parts = cuts.iter().map(|parts| {
            let parts = parts.iter();
            let answer = |(part, places): &(Part, Vec<usize>)| {
                let rounds: Vec<f64> = of_part(places).into_values().collect();
                (*part, self.answer(places.len(), &rounds))
            };
            parts.map(answer).collect()
        });
        let every: Vec<&Series> = series.iter().collect();
        let all: Vec<f64> = series::mean(&every).into_values().collect();
        Engine {
            label,
            all: self.answer(pairs.len(), &all),
            parts: parts.collect(),
            telling: telling.map(|(number, _)| number),
        }
    }

    fn answer(&self, cases: usize, rounds: &[f64]) -> Answer {
        let Some(test) = SignedRank::of(rounds) else {
            return Answer {
                cases,
                change: None,
                verdict: Verdict::NotComparable("no round has both sides".to_owned()),
            };
        };
        let (low, high) = test.interval(1.0 - (1.0 - CONFIDENCE) / f64::from(self.looks));
        let margin = MARGIN.min(self.question.threshold.fraction());
        Answer {
            cases,
            change: Some(Change {
                estimate: test.estimate().exp_m1(),
                low: low.exp_m1(),
                high: high.exp_m1(),
                p_value: test.p_value(margin),
            }),
            verdict: Verdict::Unclear,
        }
    }

    /// Gives the verdicts. Cases are one family of questions, engines with their parts are the other. Each family has
    /// half of the rate.
    fn name(&self, cases: &mut [CaseAnswer], engines: &mut [Engine]) {
        let rate = FALSE_DISCOVERY_RATE / 2.0 / f64::from(self.looks);
        self.name_family(cases.iter_mut().map(|case| &mut case.answer), rate);
        self.name_family(engines.iter_mut().flat_map(Engine::answers_mut), rate);
        for engine in engines {
            let is_uneven = engine
                .parts
                .iter()
                .flatten()
                .any(|(_, part)| part.verdict != Verdict::Same);
            if is_uneven && engine.all.verdict == Verdict::Same {
                engine.all.verdict = Verdict::Unclear;
            }
        }
    }

    fn name_family<'a>(&self, answers: impl Iterator<Item = &'a mut Answer>, rate: f64) {
        let asked: Vec<(&mut Answer, Change)> = answers
            .filter(|answer| answer.verdict == Verdict::Unclear)
            .filter_map(|answer| answer.change.map(|change| (answer, change)))
            .collect();
        let threshold = self.question.threshold.fraction();
        let is_same = |change: &Change| -threshold < change.low && change.high < threshold;
        // A change that does not matter must not loosen the limit for the others.
        let p_value =
            |(_, change): &(_, Change)| if is_same(change) { 1.0 } else { change.p_value };
        let p_values: Vec<f64> = asked.iter().map(p_value).collect();
        let limit = false_discovery::limit(&p_values, rate);
        for ((answer, change), p_value) in asked.into_iter().zip(p_values) {
            answer.verdict = if is_same(&change) {
                Verdict::Same
            } else if p_value <= limit {
                self.question.by.direction(change.estimate)
            } else {
                Verdict::Unclear
            };
        }
    }
}
