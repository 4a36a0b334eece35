//! The judge of all comparisons: `compare`, `--against`, `ab` and `find tuning`. It gives each engine or setting, each
//! part of it and each case a verdict.
//!
//! | step | rule |
//! |---|---|
//! | a change is slower or faster | if it is surely larger than the threshold |
//! | a change is the same | if its whole 95 % interval is within the threshold |
//! | who changed | an engine, a part or a case is called only if no other engine explains its change as well |
//! | order | engines, the surest first, then parts and cases; the others are judged again without what has changed |
//! | number of questions | Holm's correction, for engines, and for parts and cases |
//!
//! How sure a change is, depends on what was measured: [`Change::by_signed_rank`] for many rounds (`ab`, `find
//! tuning`), [`Change::by_student`] for few sweeps (`compare`).

mod change;
pub mod parts;
pub mod rows;
pub mod table;
mod threshold;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::stats;
use crate::verdict::grouped;

pub use self::change::Change;
pub use self::parts::{Part, Parts};
pub use self::threshold::Threshold;
pub use self::verdict::{Obstacle, Verdict};

/// Highest probability that anything is called faster or slower whose change is at most the threshold: one half of it
/// for engines, the other for parts and cases.
pub const ERROR_RATE: f64 = 0.03;

/// Quantity that is compared, and what is asked about it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Criterion {
    /// Quantity that is compared.
    pub by: Metric,
    /// Smallest change that matters.
    pub threshold: Threshold,
}

/// Quantity that is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Datagrams received
    #[default]
    Speed,
    /// CPU time per datagram
    Cpu,
}

impl Metric {
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
    pub question: Criterion,
    /// Word for what is judged in [`Judgement::engines`]: engine or setting.
    pub noun: &'static str,
    /// Highest probability of a false call among engines.
    risk: f64,
    /// Engines, in alphabetical order.
    pub engines: Vec<JudgedEngine>,
    /// Cases, in the order in which they were given.
    pub cases: Vec<JudgedCase>,
}

/// Results of an engine.
#[derive(Clone, Debug)]
pub struct JudgedEngine {
    /// Label of the engine.
    pub label: String,
    /// Mean change over all cases. The verdict is "slower" if any part of it is.
    pub whole: JudgedChange,
    /// Results of each part, by cut.
    pub parts: Vec<Vec<(Part, JudgedChange)>>,
}

/// Results of a case.
#[derive(Clone, Debug)]
pub struct JudgedCase {
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
    pub answer: JudgedChange,
}

/// Change and verdict.
#[derive(Clone, Debug)]
pub struct JudgedChange {
    /// Number of cases in it.
    pub cases: usize,
    /// Change from one side to the other. `None`: it is not known.
    pub change: Option<Change>,
    /// Verdict on the change.
    pub verdict: Verdict,
}

/// Function that returns the mean change of some cases, by their numbers, or `None` if it is not known.
pub type Changes<'a> = Box<dyn Fn(&[usize]) -> Option<Change> + 'a>;

/// Function that returns why a change of some cases, although it was seen, cannot be called theirs.
pub type Doubts<'a> = Box<dyn Fn(&[usize], Change) -> Option<Obstacle> + 'a>;

/// What was measured, as the judge asks it.
pub trait Evidence {
    /// Returns the changes. `changed`: cases that have changed, by which others must not be measured.
    fn changes(&self, changed: &BTreeSet<usize>) -> Changes<'_>;

    /// Returns the doubts about changes. `risk`: highest probability that a change of another engine goes unnoticed.
    fn doubts(&self, _changed: &BTreeSet<usize>, _risk: f64) -> Doubts<'_> {
        Box::new(|_, _| None)
    }

    /// Returns why the change of these cases, or its error, is not known.
    fn obstacle(&self, cases: &[usize]) -> Obstacle;
}

/// Judges each engine, each part and each case. `looks`: number of times that one judges as results come in; they
/// share the errors.
pub fn judge(
    question: Criterion,
    mut cases: Vec<JudgedCase>,
    looks: u32,
    evidence: &impl Evidence,
) -> Judgement {
    let risk = ERROR_RATE / 2.0 / f64::from(looks);
    let judged = cases.iter().enumerate();
    let judged = judged.filter(|(_, case)| case.answer.verdict == Verdict::Unclear);
    let by_label = grouped(judged.map(|(number, case)| (case.label.clone(), number)));
    let cut = |members: &Vec<usize>| parts::cuts(members, |number| cases[number].parts);
    let cuts: Vec<_> = by_label.values().map(cut).collect();
    let parts = cuts.iter().flatten().flatten();
    let parts = parts.map(|(_, members)| members.clone());
    let single = by_label.values().flatten().map(|&number| vec![number]);
    let details = parts.filter(|members| members.len() > 1).chain(single);
    let families = [by_label.values().cloned().collect(), details.collect()];
    let called = CalledGroups::new(&families, risk, evidence);
    let change = evidence.changes(&called.cases);
    let answer = |members: &[usize]| {
        let change = change(members);
        let verdict = match change {
            Some(change) if called.groups.contains(members) => {
                match question.by.upward_if_better(change.estimate) {
                    upward if upward < 0.0 => Verdict::Worse,
                    _ => Verdict::Better,
                }
            }
            Some(change) if change.is_testable() => match called.doubts.get(members) {
                Some(why) => Verdict::Undecided(why.clone()),
                None if change.is_within(question.threshold) => Verdict::Same,
                None => Verdict::Unclear,
            },
            _ => Verdict::Undecided(evidence.obstacle(members)),
        };
        JudgedChange {
            cases: members.len(),
            change,
            verdict,
        }
    };
    let engine = |((label, members), cuts): ((&String, &Vec<usize>), Vec<Vec<_>>)| {
        let part = |(part, members): (Part, Vec<usize>)| (part, answer(&members));
        let cuts = cuts.into_iter();
        let parts = cuts.map(|parts| parts.into_iter().map(part).collect());
        let mut engine = JudgedEngine {
            label: label.clone(),
            whole: answer(members),
            parts: parts.collect(),
        };
        engine.conclude();
        engine
    };
    let engines = by_label.iter().zip(cuts).map(engine).collect();
    for &number in by_label.values().flatten() {
        cases[number].answer = answer(&[number]);
    }
    Judgement {
        question,
        noun: "engine",
        risk,
        engines,
        cases,
    }
}

/// Groups of cases whose change is called: those of an engine, of a part, or a single one.
#[derive(Default)]
struct CalledGroups {
    groups: BTreeSet<Vec<usize>>,
    /// All cases of the groups.
    cases: BTreeSet<usize>,
    /// Why groups are not called that surely changed.
    doubts: BTreeMap<Vec<usize>, Obstacle>,
}

impl CalledGroups {
    /// Calls by Holm's procedure: engines one after the other, the surest first, then all parts and cases. Once a group
    /// has changed, the others are judged without it.
    fn new([engines, details]: &[Vec<Vec<usize>>; 2], risk: f64, evidence: &impl Evidence) -> Self {
        let mut called = Self::default();
        loop {
            let change = evidence.changes(&called.cases);
            let doubt = evidence.doubts(&called.cases, risk);
            called.doubts.clear();
            let mut news = called.sure(engines, risk, &change, &doubt);
            news.truncate(1);
            if news.is_empty() {
                news = called.sure(details, risk, &change, &doubt);
            }
            if news.is_empty() {
                return called;
            }
            called.cases.extend(news.iter().copied().flatten());
            called.groups.extend(news.into_iter().cloned());
        }
    }

    /// Returns the groups of a family that surely changed and are not called yet, the surest first. Keeps the doubts
    /// about others.
    fn sure<'a>(
        &mut self,
        family: &'a [Vec<usize>],
        risk: f64,
        change: &Changes<'_>,
        doubt: &Doubts<'_>,
    ) -> Vec<&'a Vec<usize>> {
        let open = family.iter().filter(|group| !self.groups.contains(*group));
        let asked = open.filter_map(|group| Some((group, change(group)?)));
        let asked: Vec<(&Vec<usize>, Change)> = asked.collect();
        let p_values: Vec<f64> = asked.iter().map(|(_, change)| change.p_value).collect();
        let is_sure = stats::significant(&p_values, risk);
        let mut sure = Vec::new();
        let asked = asked.into_iter().zip(is_sure);
        for ((group, change), _) in asked.filter(|(_, is_sure)| *is_sure) {
            match doubt(group, change) {
                Some(why) => {
                    self.doubts.insert(group.clone(), why);
                }
                None => sure.push((group, change)),
            }
        }
        sure.sort_by(|(_, one), (_, other)| {
            let larger = other.estimate.abs().total_cmp(&one.estimate.abs());
            one.p_value.total_cmp(&other.p_value).then(larger)
        });
        sure.into_iter().map(|(group, _)| group).collect()
    }
}

impl Judgement {
    /// Returns whether anything is slower, dearer or broken.
    pub fn is_worse(&self) -> bool {
        let engines = self.engines.iter().map(|engine| &engine.whole.verdict);
        let cases = self.cases.iter().map(|case| &case.answer.verdict);
        engines.chain(cases).any(Verdict::is_bad)
    }

    /// Returns whether each engine is surely not worse than before by more than the threshold, and no case is
    /// undecided.
    pub fn is_surely_not_worse(&self) -> bool {
        let is_undecided = |case: &JudgedCase| matches!(case.answer.verdict, Verdict::Undecided(_));
        // Nor is anything called the contrary by what could not have called a change.
        !self.engines.is_empty()
            && !self.is_too_short()
            && !self.cases.iter().any(is_undecided)
            && (self.engines.iter()).all(|it| it.is_surely_not_worse(self.question))
    }

    /// Returns whether the question is open: nothing is surely worse, and something may be.
    pub fn is_inconclusive(&self) -> bool {
        !self.is_worse() && !self.is_surely_not_worse()
    }

    /// Returns the engines that look worse by the threshold or more, but not surely.
    pub fn suspects(&self) -> impl Iterator<Item = &JudgedEngine> {
        let Criterion { by, threshold } = self.question;
        self.engines.iter().filter(move |engine| {
            let is_worse = |it: Change| by.upward_if_better(it.estimate) <= -threshold.fraction();
            !engine.whole.verdict.is_news() && engine.whole.change.is_some_and(is_worse)
        })
    }

    /// Returns the smallest change that this test would call worse in 9 of 10 repetitions, as a fraction, of whichever
    /// engine. Infinite: no change would have been of some engine, however large.
    pub fn visible(&self) -> Option<f64> {
        let judged = self.engines.iter().filter(|it| it.whole.change.is_some());
        let visible = judged.map(|it| self.visible_in(&it.whole).unwrap_or(f64::INFINITY));
        visible.max_by(f64::total_cmp)
    }

    /// Returns whether so little was measured that no change of any engine would be called, however large.
    pub fn is_too_short(&self) -> bool {
        let changes = self.engines.iter().filter_map(|it| it.whole.change);
        let mut testable = changes.filter(Change::is_testable).peekable();
        testable.peek().is_some() && testable.all(|it| !it.is_callable(self.risk_of_surest()))
    }

    /// Returns the smallest change that this test would call worse in 9 of 10 repetitions in place of this one, as a
    /// fraction, if it were the surest of all engines.
    fn visible_in(&self, answer: &JudgedChange) -> Option<f64> {
        answer.change?.visible(self.risk_of_surest(), self.question)
    }

    /// Returns the highest p-value with which the surest of all engines is called.
    fn risk_of_surest(&self) -> f64 {
        self.risk / self.engines.len().max(1) as f64
    }
}

impl JudgedEngine {
    /// Returns all answers about the engine.
    pub fn answers(&self) -> impl Iterator<Item = &JudgedChange> {
        let parts = self.parts.iter().flatten().map(|(_, answer)| answer);
        std::iter::once(&self.whole).chain(parts)
    }

    /// Returns whether the engine is surely not worse by more than the threshold, and the interval of no part is beyond
    /// it.
    pub fn is_surely_not_worse(&self, question: Criterion) -> bool {
        let is_above =
            |end: f64| question.by.upward_if_better(end) > -question.threshold.fraction();
        if matches!(self.whole.verdict, Verdict::Undecided(_)) {
            return false;
        }
        let whole = self.whole.change;
        let mut answers = self.answers().filter_map(|answer| answer.change);
        whole.is_some_and(|change| is_above(change.low) && is_above(change.high))
            && answers.all(|change| is_above(change.low) || is_above(change.high))
    }

    /// Returns by how many times as many observations the engine is expected to get a verdict, from how far its change
    /// is from the threshold. `None`: its change is not known, or at the threshold.
    pub fn times_to_tell(&self, question: Criterion) -> Option<f64> {
        let change = self.whole.change?;
        let half = (change.high.ln_1p() - change.low.ln_1p()) / 2.0;
        let log = change.estimate.ln_1p();
        let distance = (log.abs() - question.threshold.log(log)).abs();
        Some((half / distance).powi(2)).filter(|times| times.is_finite())
    }

    /// Returns whether a change was seen that may be another engine's.
    pub fn is_unattributed(&self) -> bool {
        matches!(self.whole.verdict, Verdict::Undecided(_)) && self.is_testable()
    }

    /// Returns whether a test could call a change of the engine.
    pub fn is_testable(&self) -> bool {
        self.whole.change.is_some_and(|change| change.is_testable())
    }

    /// Returns the cut that tells best where a change is: some part surely changed, and another surely did not.
    pub fn telling(&self) -> Option<&Vec<(Part, JudgedChange)>> {
        let count = |parts: &[(Part, JudgedChange)], is_so: fn(&Verdict) -> bool| {
            let verdicts = parts.iter().map(|(_, answer)| &answer.verdict);
            verdicts.filter(|verdict| is_so(verdict)).count()
        };
        let cuts = self.parts.iter();
        let cuts = cuts.filter(|parts| count(parts, Verdict::is_news) > 0);
        let cuts = cuts.filter(|parts| count(parts, |it| *it == Verdict::Same) > 0);
        cuts.min_by_key(|parts| count(parts, Verdict::is_unclear))
    }

    /// Gives the engine the verdict of its parts: slower if one of them is, and the same only if all are.
    fn conclude(&mut self) {
        let place = |verdict: &&Verdict| match verdict {
            Verdict::Worse | Verdict::Broken(_) => 0,
            Verdict::Better => 1,
            Verdict::Undecided(_) | Verdict::NotComparable(_) => 2,
            Verdict::Unclear => 3,
            Verdict::Same => 4,
        };
        // Of equal ones the first: that of the whole.
        let verdicts = self.answers().map(|answer| &answer.verdict);
        if let Some(first) = verdicts.min_by_key(place).cloned() {
            self.whole.verdict = first;
        }
    }
}
