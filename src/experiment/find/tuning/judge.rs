//! Judges the effect of settings by their pairs, in the way of `ab`: a round is one observation, the logarithm of one
//! trial over the other.

use crate::experiment::find::{Record, Search};
use crate::stats::signed_rank::SignedRank;
use crate::stats::{CONFIDENCE, holm};
use crate::verdict::judge::{Change, ERROR_RATE, Threshold};

/// Verdict on a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Faster with the tried value.
    Helps,
    /// Slower with the tried value.
    Hurts,
    /// No difference shown. The interval says how large a hidden difference may be.
    NotShown,
}

impl Verdict {
    /// Returns the verdict in a word or two.
    pub fn text(self) -> &'static str {
        match self {
            Self::Helps => "helps",
            Self::Hurts => "hurts",
            Self::NotShown => "not shown",
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
    /// Probability of a change this far beyond the threshold by chance, if the true change is within it.
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
    let change = Change::by_signed_rank(&differences, CONFIDENCE, Threshold::default())?;
    let middle = |nth: usize| {
        let logarithms: Vec<f64> = pairs.iter().map(|pair| pair[nth].ln()).collect();
        SignedRank::of(&logarithms).map(|it| it.estimate().exp())
    };
    Some(SettingEffect {
        before_ns: middle(0)?,
        tried_ns: middle(1)?,
        faster: change.estimate.ln_1p(),
        low: change.low.ln_1p(),
        high: change.high.ln_1p(),
        p_value: change.p_value,
        verdict: Verdict::NotShown,
    })
}

/// Gives the verdicts, with Holm's correction for all of them.
pub(in crate::experiment::find) fn name<'a>(answers: impl Iterator<Item = &'a mut SettingEffect>) {
    let answers: Vec<&mut SettingEffect> = answers.collect();
    let p_values: Vec<f64> = answers.iter().map(|answer| answer.p_value).collect();
    let shown = holm::significant(&p_values, ERROR_RATE);
    for (answer, _) in answers
        .into_iter()
        .zip(shown)
        .filter(|(_, is_shown)| *is_shown)
    {
        answer.verdict = if answer.faster > 0.0 {
            Verdict::Helps
        } else {
            Verdict::Hurts
        };
    }
}
