//! The judge of all comparisons: `compare`, `--against`, `ab` and `find tuning`. It gives each engine, each part of it
//! and each case a verdict.
//!
//! | step | rule |
//! |---|---|
//! | a change is slower or faster | if it is surely larger than the threshold |
//! | a change is the same | if its whole 95 % interval is within the threshold |
//! | engines | one after the other, the surest first; an engine that changed is no measure for the others any more |
//! | number of questions | Holm's correction, for engines, and for parts and cases |
//!
//! How sure a change is, depends on what was measured: [`Change::by_signed_rank`] for many rounds (`ab`, `find
//! tuning`), [`Change::by_student`] for few sweeps (`compare`).

mod change;
pub mod parts;
pub(crate) mod percent;
pub mod rows;
pub mod table;
mod threshold;
mod verdict;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::stats::holm;

pub use self::change::Change;
pub use self::parts::{Part, Parts};
pub use self::threshold::Threshold;
pub use self::verdict::Verdict;

/// Highest probability that anything is called faster or slower whose change is at most the threshold: one half of it
/// for engines, the other for parts and cases.
pub const ERROR_RATE: f64 = 0.03;

/// Quantity that is compared, and what is asked about it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Question {
    /// Quantity that is compared.
    pub by: By,
    /// Smallest change that matters.
    pub threshold: Threshold,
}

/// Quantity that is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// Datagrams received
    #[default]
    Speed,
    /// CPU time per datagram
    Cpu,
}

impl By {
    /// Returns the name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Speed => "speed",
            Self::Cpu => "cpu",
        }
    }

    /// Returns the quantity, the word for better, and the word for worse.
    pub(crate) fn words(self) -> [&'static str; 3] {
        let what = match self {
            Self::Speed => "datagrams received",
            Self::Cpu => "CPU time per datagram",
        };
        [what, Verdict::Better.word(self), Verdict::Worse.word(self)]
    }

    /// Returns a change so that less than 0 is worse: more datagrams are better, more CPU time is worse.
    pub(super) fn upward_if_better(self, change: f64) -> f64 {
        match self {
            Self::Speed => change,
            Self::Cpu => -change,
        }
    }
}

/// Verdicts on two sides.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// Question that the verdicts answer.
    pub question: Question,
    /// Highest probability of a false call among engines.
    risk: f64,
    /// Engines, in alphabetical order.
    pub engines: Vec<Engine>,
    /// Cases, in the order in which they were given.
    pub cases: Vec<Case>,
}

/// Results of an engine.
#[derive(Clone, Debug)]
pub struct Engine {
    /// Label of the engine.
    pub label: String,
    /// Mean change over all cases. The verdict is "slower" if any part of it is.
    pub whole: Answer,
    /// Results of each part, by cut.
    pub parts: Vec<Vec<(Part, Answer)>>,
    /// Index of the cut whose parts differ most. `None`: all parts changed alike, as far as can be told.
    pub telling: Option<usize>,
}

/// Results of a case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Label of its engines.
    pub label: String,
    /// Key of the case, or both keys if they differ.
    pub key: String,
    /// The part of each cut that it is in.
    pub parts: Parts,
    /// Value on each side.
    pub values: [Option<f64>; 2],
    /// Change and verdict. A case that comes to the judge with another verdict than `Unclear` keeps it, and counts for
    /// nothing else.
    pub answer: Answer,
}

/// Change and verdict.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Number of cases in it.
    pub cases: usize,
    /// Change from one side to the other. `None`: it is not known.
    pub change: Option<Change>,
    /// Verdict on the change.
    pub verdict: Verdict,
}

/// Function that returns the mean change of some cases, by their numbers, or `None` if it cannot be told.
pub type Changes<'a> = Box<dyn Fn(&[usize]) -> Option<Change> + 'a>;

/// What was measured, as the judge asks it.
pub trait Evidence {
    /// Returns the changes. `changed`: labels of the engines that have changed, by which the others must not be
    /// measured.
    fn changes(&self, changed: &[&str]) -> Changes<'_>;

    /// Returns why a change of these cases cannot be told.
    fn obstacle(&self, cases: &[usize]) -> String;
}

/// Judges each engine, each part and each case. `looks`: number of times that one judges as results come in; they
/// share the errors.
pub fn judge(
    question: Question,
    cases: Vec<Case>,
    looks: u32,
    evidence: &impl Evidence,
) -> Judgement {
    let risk = ERROR_RATE / 2.0 / f64::from(looks);
    let mut by_label: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (number, case) in cases.iter().enumerate() {
        if case.answer.verdict == Verdict::Unclear {
            by_label.entry(&case.label).or_default().push(number);
        }
    }
    let changed = changed(&by_label, risk, evidence);
    let change = evidence.changes(&changed);
    let answer = |members: &[usize]| {
        let change = change(members);
        let verdict = match change {
            None => Verdict::NotComparable(evidence.obstacle(members)),
            Some(change) if change.is_within(question.threshold) => Verdict::Same,
            Some(_) => Verdict::Unclear,
        };
        let cases = members.len();
        Answer {
            cases,
            change,
            verdict,
        }
    };
    let mut engines = Vec::new();
    for (&label, members) in &by_label {
        let mut whole = answer(members);
        if changed.contains(&label) {
            whole.verdict = question.direction(whole.change);
        }
        let cuts = parts::cuts(members, |number| cases[number].parts);
        let parts = cuts.iter().map(|parts| {
            let part = |(part, members): &(Part, Vec<usize>)| (*part, answer(members));
            parts.iter().map(part).collect()
        });
        engines.push(Engine {
            label: label.to_owned(),
            whole,
            parts: parts.collect(),
            telling: None,
        });
    }
    let answers: Vec<(usize, Answer)> = by_label
        .values()
        .flatten()
        .map(|&number| (number, answer(&[number])))
        .collect();
    let mut cases = cases;
    for (number, answer) in answers {
        cases[number].answer = answer;
    }
    let mut judgement = Judgement {
        question,
        risk,
        engines,
        cases,
    };
    judgement.call_parts_and_cases();
    for engine in &mut judgement.engines {
        engine.conclude();
    }
    judgement
}

/// Returns the engines that surely changed, the surest first, by Holm's procedure. Once an engine is known to have
/// changed, the others are judged without it.
fn changed<'a>(
    engines: &BTreeMap<&'a str, Vec<usize>>,
    risk: f64,
    evidence: &impl Evidence,
) -> Vec<&'a str> {
    let mut changed: Vec<&str> = Vec::new();
    loop {
        let change = evidence.changes(&changed);
        let left = engines.iter().filter(|(label, _)| !changed.contains(label));
        let asked = left.filter_map(|(label, cases)| Some((*label, change(cases)?)));
        let asked: Vec<(&str, Change)> = asked.collect();
        let limit = risk / asked.len() as f64;
        let surest = asked.iter().min_by(|(_, one), (_, other)| {
            let larger = other.estimate.abs().total_cmp(&one.estimate.abs());
            one.p_value.total_cmp(&other.p_value).then(larger)
        });
        match surest {
            Some((label, found)) if found.p_value <= limit => changed.push(label),
            _ => return changed,
        }
    }
}

impl Question {
    fn direction(self, change: Option<Change>) -> Verdict {
        match change {
            Some(change) if self.by.upward_if_better(change.estimate) < 0.0 => Verdict::Worse,
            _ => Verdict::Better,
        }
    }
}

impl Judgement {
    /// Calls changes of parts and cases. A part of a single case is that case.
    fn call_parts_and_cases(&mut self) {
        let question = self.question;
        let parts = self
            .engines
            .iter_mut()
            .flat_map(|engine| engine.parts.iter_mut().flatten());
        let parts = parts
            .map(|(_, answer)| answer)
            .filter(|answer| answer.cases > 1);
        let cases = self.cases.iter_mut().map(|case| &mut case.answer);
        let asked = parts
            .chain(cases)
            .filter_map(|answer| Some((answer.change?.p_value, answer)));
        let (p_values, answers): (Vec<f64>, Vec<&mut Answer>) = asked.unzip();
        let found = holm::significant(&p_values, self.risk);
        for (answer, _) in answers
            .into_iter()
            .zip(found)
            .filter(|(_, is_found)| *is_found)
        {
            answer.verdict = question.direction(answer.change);
        }
        for engine in &mut self.engines {
            let own = self.cases.iter().filter(|case| case.label == engine.label);
            let own: Vec<&Case> = own.collect();
            for (part, answer) in engine.parts.iter_mut().flatten() {
                if answer.cases == 1 {
                    let case = own.iter().find(|case| case.parts.contains(&Some(*part)));
                    answer.verdict =
                        case.map_or(Verdict::Unclear, |case| case.answer.verdict.clone());
                }
            }
        }
    }

    /// Returns whether anything is slower, dearer or broken.
    pub fn is_worse(&self) -> bool {
        let engines = self.engines.iter().map(|engine| &engine.whole.verdict);
        let cases = self.cases.iter().map(|case| &case.answer.verdict);
        engines.chain(cases).any(Verdict::is_bad)
    }

    /// Returns whether each engine is surely not worse than before by more than the threshold, and no case is undecided.
    pub fn is_surely_not_worse(&self) -> bool {
        let is_undecided = |case: &Case| matches!(case.answer.verdict, Verdict::Undecided(_));
        !self.engines.is_empty()
            && !self.cases.iter().any(is_undecided)
            && self
                .engines
                .iter()
                .all(|engine| engine.is_surely_not_worse(self.question))
    }

    /// Returns the engines that look worse by the threshold or more, but not surely.
    pub fn suspects(&self) -> impl Iterator<Item = &Engine> {
        let Question { by, threshold } = self.question;
        self.engines.iter().filter(move |engine| {
            let change = engine
                .whole
                .change
                .filter(|_| !engine.whole.verdict.is_news());
            change
                .is_some_and(|change| by.upward_if_better(change.estimate) <= -threshold.fraction())
        })
    }

    /// Returns the smallest change that this test would call worse in 9 of 10 repetitions, as a fraction: of the engine about
    /// which one can tell most, and of the one about which one can tell least. `None` in place of a number: no change
    /// would have been, however large.
    pub fn visible(&self) -> Option<[Option<f64>; 2]> {
        let judged = self
            .engines
            .iter()
            .filter(|engine| engine.whole.change.is_some());
        let mut visible: Vec<Option<f64>> = judged
            .map(|engine| self.visible_in(&engine.whole))
            .collect();
        visible.sort_by(|one, other| one.unwrap_or(1.0).total_cmp(&other.unwrap_or(1.0)));
        Some([*visible.first()?, *visible.last()?])
    }

    /// Returns the smallest change that this test would call worse in 9 of 10 repetitions in place of this one, as a
    /// fraction, if it were the surest of all engines.
    fn visible_in(&self, answer: &Answer) -> Option<f64> {
        let risk = self.risk / self.engines.len().max(1) as f64;
        answer.change?.visible(risk, self.question)
    }
}

impl Engine {
    /// Returns all answers about the engine.
    pub fn answers(&self) -> impl Iterator<Item = &Answer> {
        let parts = self.parts.iter().flatten().map(|(_, answer)| answer);
        std::iter::once(&self.whole).chain(parts)
    }

    /// Returns whether the engine is surely not worse by more than the threshold, and the interval of no part is beyond
    /// it.
    pub fn is_surely_not_worse(&self, question: Question) -> bool {
        let is_above =
            |end: f64| question.by.upward_if_better(end) > -question.threshold.fraction();
        let whole = self.whole.change;
        let mut answers = self.answers().filter_map(|answer| answer.change);
        whole.is_some_and(|change| is_above(change.low) && is_above(change.high))
            && answers.all(|change| is_above(change.low) || is_above(change.high))
    }

    /// Returns by how many times as many observations the engine is expected to get a verdict, from how far its change
    /// is from the threshold. `None`: its change is not known, or at the threshold.
    pub fn times_to_tell(&self, question: Question) -> Option<f64> {
        let change = self.whole.change?;
        let half = (change.high.ln_1p() - change.low.ln_1p()) / 2.0;
        let log = change.estimate.ln_1p();
        let distance = (log.abs() - question.threshold.log(log)).abs();
        Some((half / distance).powi(2)).filter(|times| times.is_finite())
    }

    /// Finds the cut that tells where a change is, and gives the engine the verdict of its parts: slower if one of them
    /// is, and the same only if all are.
    fn conclude(&mut self) {
        let whole = self.whole.verdict.clone();
        let differs = |(_, part): &(Part, Answer)| {
            part.verdict != whole
                && (part.verdict.is_news() || whole.is_news() && part.verdict == Verdict::Same)
        };
        let telling = self
            .parts
            .iter()
            .enumerate()
            .filter(|(_, parts)| parts.iter().any(differs));
        let telling = telling.max_by(|(_, one), (_, other)| apart(one).total_cmp(&apart(other)));
        self.telling = telling.map(|(number, _)| number);
        let verdicts: Vec<&Verdict> = self.answers().map(|answer| &answer.verdict).collect();
        let verdict = if verdicts.contains(&&Verdict::Worse) {
            Verdict::Worse
        } else if verdicts.contains(&&Verdict::Better) {
            Verdict::Better
        } else if whole == Verdict::Same
            && verdicts.iter().any(|verdict| **verdict != Verdict::Same)
        {
            Verdict::Unclear
        } else {
            whole
        };
        self.whole.verdict = verdict;
    }
}

/// Returns by how much parts differ: the mean square between them.
fn apart(parts: &[(Part, Answer)]) -> f64 {
    let changes = parts
        .iter()
        .filter_map(|(_, answer)| Some((answer.cases as f64, answer.change?.estimate.ln_1p())));
    let changes: Vec<(f64, f64)> = changes.collect();
    let cases: f64 = changes.iter().map(|(cases, _)| cases).sum();
    let mean = changes.iter().map(|(cases, log)| cases * log).sum::<f64>() / cases;
    let squares: f64 = changes
        .iter()
        .map(|(cases, log)| cases * (log - mean).powi(2))
        .sum();
    squares / (changes.len() as f64 - 1.0).max(1.0)
}
