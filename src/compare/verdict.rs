//! What a change is called.

use super::numbers;
use super::significance::{Asked, Kind, discoveries};
use super::{Against, By, Change, EngineChange, Options, Stratum, Threshold};

/// What a change is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Faster, or cheaper: no accident, and as much as matters.
    Better,
    /// Slower, or dearer: no accident, and as much as matters.
    Worse,
    /// Whatever changed is less than what matters, at 95 %.
    Same,
    /// It may have changed or not: more rounds would tell.
    Unclear,
    /// It is what the others are held against.
    Reference,
    /// Worked in the base, failed now; the reason.
    Broken(String),
    /// They must not, or cannot, be compared; the reason.
    NotComparable(String),
}

impl Verdict {
    /// The word for it.
    pub fn word(&self, by: By) -> &'static str {
        match (self, by) {
            (Self::Better, By::Speed) => "faster",
            (Self::Better, By::Cpu) => "cheaper",
            (Self::Worse, By::Speed) => "slower",
            (Self::Worse, By::Cpu) => "dearer",
            (Self::Same, _) => "same",
            (Self::Unclear, _) => "unclear",
            (Self::Reference, _) => "reference",
            (Self::Broken(_), _) => "broken",
            (Self::NotComparable(_), _) => "not comparable",
        }
    }

    /// Why, where that is to be said.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Broken(reason) | Self::NotComparable(reason) => Some(reason),
            _ => None,
        }
    }

    /// Whether it answers the question, if only by "unclear".
    pub fn is_answer(&self) -> bool {
        !matches!(self, Self::Reference | Self::NotComparable(_))
    }
}

/// Gives each change its verdict. All files are judged together: more comparisons have more chances to be wrong.
pub(super) fn judge(files: &mut [Against], options: Options) {
    struct Question<'a> {
        kind: Kind,
        change: Change,
        /// Whether all of it is the same, if the change is.
        is_even: bool,
        verdict: &'a mut Verdict,
    }
    let mut questions: Vec<Question> = Vec::new();
    for file in files {
        let cases = file.cases.iter_mut();
        questions.extend(cases.filter_map(|case| {
            Some(Question {
                kind: Kind::Case,
                change: case.change?,
                is_even: true,
                verdict: &mut case.verdict,
            })
        }));
        let engines = file.engines.iter_mut();
        questions.extend(engines.filter_map(|engine| {
            let is_even = engine.not_same_at(options.threshold).count() == 0;
            Some(Question {
                kind: Kind::Engine,
                change: engine.change?,
                is_even,
                verdict: &mut engine.verdict,
            })
        }));
    }
    let asked: Vec<Asked> = questions
        .iter()
        .map(|Question { kind, change, .. }| Asked {
            // Changes below the threshold must not loosen the limit for the others.
            p_value: if change.matters(options.threshold) {
                change.p_value
            } else {
                1.0
            },
            kind: *kind,
        })
        .collect();
    for (question, is_discovery) in questions.into_iter().zip(discoveries(&asked)) {
        let change = question.change;
        *question.verdict = if is_discovery {
            options.by.direction(change.estimate)
        } else if change.is_within(options.threshold) && question.is_even {
            Verdict::Same
        } else {
            Verdict::Unclear
        };
    }
}

impl By {
    pub(crate) fn direction(self, estimate: f64) -> Verdict {
        // More datagrams are better, more CPU time is worse.
        if (estimate > 0.0) == (self == Self::Speed) {
            Verdict::Better
        } else {
            Verdict::Worse
        }
    }
}

impl EngineChange {
    /// The thread counts at which it is not surely the same.
    fn not_same_at(&self, threshold: Threshold) -> impl Iterator<Item = &Stratum> {
        let is_same =
            move |change: Option<Change>| change.is_some_and(|change| change.is_within(threshold));
        let strata = self.strata.iter();
        strata.filter(move |stratum| !is_same(stratum.change))
    }

    /// What keeps it from being the same, where all its blocks together are: `4 threads -9.8 % (-12.1..-7.4)`.
    pub(crate) fn unevenness(&self, threshold: Threshold) -> Option<String> {
        let is_same = self.change?.is_within(threshold);
        if !is_same || self.verdict != Verdict::Unclear {
            return None;
        }
        let texts = self.not_same_at(threshold).map(|stratum| {
            let plural = if stratum.threads.is_alone() { "" } else { "s" };
            let threads = format!("{} thread{plural}", stratum.threads);
            match stratum.change {
                None => format!("{threads}: a single block"),
                Some(_) => format!(
                    "{threads}: {} % ({})",
                    numbers::change(stratum.change),
                    numbers::interval(stratum.change)
                ),
            }
        });
        Some(texts.collect::<Vec<_>>().join(", "))
    }
}

impl Change {
    fn matters(&self, threshold: Threshold) -> bool {
        self.estimate != 0.0 && self.estimate.abs() >= threshold.fraction()
    }

    fn is_within(&self, threshold: Threshold) -> bool {
        -threshold.fraction() < self.low && self.high < threshold.fraction()
    }
}
