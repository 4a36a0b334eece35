//! What settings change, by the pairs of their rounds, as `ab` judges: a round is one observation, the logarithm of one
//! trial over the other.

use crate::experiment::find::{Record, Search};
use crate::stats::false_discovery;
use crate::stats::signed_rank::SignedRank;

/// Of what is called a change, at most this part is none, in the mean: over all settings and cases.
const FALSE_DISCOVERY_RATE: f64 = 0.01;
const CONFIDENCE: f64 = 0.95;
/// As in `ab`: no change is called one that may be as small. `docs/BIAS.md` says where it comes from.
pub(super) const MARGIN: f64 = 0.005;

/// What is said of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Faster with the value that is tried.
    Helps,
    /// Slower.
    Hurts,
    /// Nothing shows; how much may hide, the interval says.
    NoDifference,
}

impl Verdict {
    /// In a word or two.
    pub fn text(self) -> &'static str {
        match self {
            Self::Helps => "helps",
            Self::Hurts => "hurts",
            Self::NoDifference => "no difference",
        }
    }
}

/// What a setting does in a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// Nanoseconds as it is: half of the rounds take no longer.
    pub before_ns: f64,
    /// The same with the value that is tried.
    pub tried_ns: f64,
    /// How much faster that is, as a logarithm, with an interval of 95 %. Infinite: too few rounds.
    pub faster: f64,
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// How probable so much is by chance, if the change is no more than the margin that `ab` has, too.
    pub p_value: f64,
    /// What that is called.
    pub verdict: Verdict,
}

/// Finds all answers, case by case and setting by setting. `None`: no pair was measured.
pub fn judge(record: &Record) -> Vec<Vec<Option<Answer>>> {
    let of_case = |search: &Search| match search {
        Search::Knob(search) => search.series().iter().map(|it| answer(&it.pairs)).collect(),
        _ => Vec::new(),
    };
    let cases = record.cases().iter();
    let mut answers: Vec<Vec<Option<Answer>>> = cases.map(|case| of_case(&case.search)).collect();
    name(answers.iter_mut().flatten().flatten());
    answers
}

pub(in crate::experiment::find) fn answer(pairs: &[[f64; 2]]) -> Option<Answer> {
    let differences: Vec<f64> = pairs
        .iter()
        .map(|[before, tried]| (before / tried).ln())
        .collect();
    let test = SignedRank::of(&differences)?;
    let middle = |nth: usize| {
        let logarithms: Vec<f64> = pairs.iter().map(|pair| pair[nth].ln()).collect();
        SignedRank::of(&logarithms).map(|it| it.estimate().exp())
    };
    let (low, high) = test.interval(CONFIDENCE);
    Some(Answer {
        before_ns: middle(0)?,
        tried_ns: middle(1)?,
        faster: test.estimate(),
        low,
        high,
        p_value: test.p_value(MARGIN),
        verdict: Verdict::NoDifference,
    })
}

/// At one false discovery rate for all.
pub(in crate::experiment::find) fn name<'a>(answers: impl Iterator<Item = &'a mut Answer>) {
    let answers: Vec<&mut Answer> = answers.collect();
    let p_values: Vec<f64> = answers.iter().map(|answer| answer.p_value).collect();
    let limit = false_discovery::limit(&p_values, FALSE_DISCOVERY_RATE);
    for answer in answers {
        if answer.p_value <= limit {
            answer.verdict = if answer.faster > 0.0 {
                Verdict::Helps
            } else {
                Verdict::Hurts
            };
        }
    }
}
