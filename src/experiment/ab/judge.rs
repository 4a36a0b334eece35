//! What a comparison says: case by case, engine by engine, part by part.
//!
//! A round is one observation: the logarithm of B over A. Over the rounds, the signed-rank test asks whether there is
//! a change beyond [`MARGIN`], and gives an estimate and its interval. An engine's round is the mean of its cases',
//! each weighed by how little it scatters.

use std::collections::BTreeMap;

use super::parts::cuts;
use super::record::Measured;
use super::series::{self, Rounds, Series};
use super::{Pair, Record, Side};
use crate::stats::false_discovery;
use crate::stats::signed_rank::SignedRank;
use crate::verdict::compare::{By, Change, Part, Threshold, Verdict};

/// Of what is called a change, at most this part is none, in the mean over many comparisons.
pub(super) const FALSE_DISCOVERY_RATE: f64 = 0.02;
const CONFIDENCE: f64 = 0.95;
/// By so much two builds of one source may differ, in which the same loops only lie elsewhere: no change is called one
/// that may be as small. `docs/BIAS.md` says where it comes from.
pub(super) const MARGIN: f64 = 0.005;
/// Parts of one cut differ where chance alone would let them differ so much this rarely.
const PARTS_DIFFER: f64 = 0.01;

/// What is asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Question {
    /// What is compared.
    pub by: By,
    /// What matters: what is surely less than this is the same.
    pub threshold: Threshold,
}

/// The answers.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// What was asked.
    pub question: Question,
    /// Rounds of the case that has the most.
    pub rounds: usize,
    /// Among how many looks the errors were divided.
    pub looks: u32,
    /// Each engine over all its cases, followed by its parts.
    pub engines: Vec<Engine>,
    /// Each case that was to run.
    pub cases: Vec<CaseAnswer>,
}

/// What all cases of an engine say.
#[derive(Clone, Debug)]
pub struct Engine {
    /// What it is called.
    pub label: String,
    /// Over all its cases.
    pub all: Answer,
    /// In each part of each cut.
    pub parts: Vec<Vec<(Part, Answer)>>,
    /// The cut that explains best how cases differ, where its parts do, and that is no accident.
    pub telling: Option<usize>,
}

/// One case.
#[derive(Clone, Debug)]
pub struct CaseAnswer {
    /// What its engine is called.
    pub label: String,
    /// Its key, or both keys.
    pub key: String,
    /// The middle in A.
    pub a: Option<f64>,
    /// The middle in B.
    pub b: Option<f64>,
    /// What it says.
    pub answer: Answer,
}

/// What some rounds say.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Of so many cases.
    pub cases: usize,
    /// How far B is from A. `None`: there is nothing to say.
    pub change: Option<Change>,
    /// What that is called.
    pub verdict: Verdict,
}

/// Finds all answers, at one false discovery rate.
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
    /// Whether anything is slower, dearer or broken.
    pub fn is_worse(&self) -> bool {
        let is_bad = |verdict: &Verdict| matches!(verdict, Verdict::Worse | Verdict::Broken(_));
        self.answers().any(|answer| is_bad(&answer.verdict))
    }

    /// Whether more rounds would change nothing: every question has its answer.
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

    /// Cases are one family of questions, engines and their parts the other: each has half of the rate.
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
        // What does not matter must not loosen the limit for the others.
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
