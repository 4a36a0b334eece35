//! What a change is called.

use super::significance::{Asked, Kind, discoveries};
use super::{Against, By, Change, Options, Threshold};

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

    /// Whether it answers the question, if only by "nobody knows".
    pub fn is_answer(&self) -> bool {
        !matches!(self, Self::Reference | Self::NotComparable(_))
    }
}

/// Gives each change its verdict. All files are judged together: who asks more has more chances to be wrong.
pub(super) fn judge(files: &mut [Against], options: Options) {
    let mut changes: Vec<(Kind, Change, &mut Verdict)> = Vec::new();
    for file in files {
        let cases = file.cases.iter_mut();
        changes
            .extend(cases.filter_map(|case| Some((Kind::Case, case.change?, &mut case.verdict))));
        let engines = file.engines.iter_mut();
        changes.extend(
            engines.filter_map(|engine| Some((Kind::Engine, engine.change?, &mut engine.verdict))),
        );
    }
    let asked: Vec<Asked> = changes
        .iter()
        .map(|(kind, change, _)| Asked {
            // What is of no interest shall not loosen the limit for what is.
            p_value: if change.matters(options.threshold) {
                change.p_value
            } else {
                1.0
            },
            kind: *kind,
        })
        .collect();
    for ((_, change, verdict), is_discovery) in changes.into_iter().zip(discoveries(&asked)) {
        *verdict = if is_discovery {
            options.by.direction(change.estimate)
        } else if change.is_within(options.threshold) {
            Verdict::Same
        } else {
            Verdict::Unclear
        };
    }
}

impl By {
    fn direction(self, estimate: f64) -> Verdict {
        // More datagrams are better, more CPU time is worse.
        if (estimate > 0.0) == (self == Self::Speed) {
            Verdict::Better
        } else {
            Verdict::Worse
        }
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
