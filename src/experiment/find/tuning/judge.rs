//! Judges the effect of settings by their pairs, in the way of `ab`: a round is one observation, the logarithm of one
//! trial over the other.

use crate::experiment::find::{Record, Search};
use crate::stats::false_discovery;
use crate::stats::signed_rank::SignedRank;

/// Highest share of false alarms among the reported changes, in the mean, over all settings and cases.
const FALSE_DISCOVERY_RATE: f64 = 0.01;
const CONFIDENCE: f64 = 0.95;
/// Margin of 0.5 %, also used by `ab`: a change that may be this small is not reported. `docs/BIAS.md` says where it
/// comes from.
pub(super) const MARGIN: f64 = 0.005;

/// Verdict on a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Faster with the tried value.
    Helps,
    /// Slower with the tried value.
    Hurts,
    /// No visible difference. The interval says how large a hidden difference may be.
    NoDifference,
}

impl Verdict {
    /// Returns the verdict in a word or two.
    pub fn text(self) -> &'static str {
        match self {
            Self::Helps => "helps",
            Self::Hurts => "hurts",
            Self::NoDifference => "no difference",
        }
    }
}

/// Effect of a setting in a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettingEffect {
    /// Nanoseconds with the current value: half of the rounds take no longer.
    pub before_ns: f64,
    /// Nanoseconds with the tried value: half of the rounds take no longer.
    pub tried_ns: f64,
    /// Gain of speed with the tried value, as a logarithm. Its 95 % interval is infinite with too few rounds.
    pub faster: f64,
    /// Lower end of the interval of `faster`.
    pub low: f64,
    /// Upper end of the interval of `faster`.
    pub high: f64,
    /// Probability of a change this large by chance, if the true change is within the margin of `ab`.
    pub p_value: f64,
    /// Verdict on the setting.
    pub verdict: Verdict,
}

/// Judges each setting in each case. `None`: no pair was measured.
pub fn judge(record: &Record) -> Vec<Vec<Option<SettingEffect>>> {
    let of_case = |search: &Search| match search {
        Search::Tuning(search) => search.series().iter().map(|it| answer(&it.pairs)).collect(),
        _ => Vec::new(),
    };
    let cases = record.cases().iter();
    let mut answers: Vec<Vec<Option<SettingEffect>>> =
        cases.map(|case| of_case(&case.search)).collect();
    name(answers.iter_mut().flatten().flatten());
    answers
}

pub(in crate::experiment::find) fn answer(pairs: &[[f64; 2]]) -> Option<SettingEffect> {
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
    Some(SettingEffect {
        before_ns: middle(0)?,
        tried_ns: middle(1)?,
        faster: test.estimate(),
        low,
        high,
        p_value: test.p_value(MARGIN),
        verdict: Verdict::NoDifference,
    })
}

/// Gives the verdicts at one false discovery rate for all.
pub(in crate::experiment::find) fn name<'a>(answers: impl Iterator<Item = &'a mut SettingEffect>) {
    let answers: Vec<&mut SettingEffect> = answers.collect();
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
