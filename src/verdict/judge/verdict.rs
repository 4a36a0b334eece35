//! Verdicts in words, and the reasons why a change is not judged, or why a case is broken.

use super::Metric;
use crate::results::row::Failure;
use crate::term::escape;
use crate::text::digits::counted;
use crate::text::sentences;

/// Verdict on a change.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Faster or cheaper: surely by more than the threshold.
    Better,
    /// Slower or dearer: surely by more than the threshold.
    Worse,
    /// Change surely below the threshold.
    Same,
    /// Possible change: the interval is too wide to tell.
    Unclear,
    /// Possible change that more of the same would not tell, with the reason: a busy machine, it may be another
    /// engine's, or nothing shows by how much results differ by chance.
    Undecided(Obstacle),
    /// Failure of a case that worked before, with the reason.
    Broken(Obstacle),
    /// Results that must not or cannot be compared, with the reason.
    NotComparable(Obstacle),
}

impl Verdict {
    /// Returns the word for the verdict.
    pub fn word(&self, by: Metric) -> &'static str {
        match (self, by) {
            (Self::Better, Metric::Speed) => "faster",
            (Self::Better, Metric::Cpu) => "cheaper",
            (Self::Worse, Metric::Speed) => "slower",
            (Self::Worse, Metric::Cpu) => "dearer",
            (Self::Same, _) => "same",
            (Self::Unclear | Self::Undecided(_), _) => "unclear",
            (Self::Broken(_), _) => "broken",
            (Self::NotComparable(_), _) => "not comparable",
        }
    }

    /// Returns the reason, if the verdict has one.
    pub fn reason(&self) -> Option<&Obstacle> {
        match self {
            Self::Broken(reason) | Self::Undecided(reason) | Self::NotComparable(reason) => {
                Some(reason)
            }
            _ => None,
        }
    }

    /// Returns whether the verdict is shown in a list of changes: better, worse or broken.
    pub fn is_news(&self) -> bool {
        matches!(self, Self::Better | Self::Worse | Self::Broken(_))
    }

    /// Returns whether the verdict is worse or broken.
    pub fn is_bad(&self) -> bool {
        matches!(self, Self::Worse | Self::Broken(_))
    }

    /// Returns whether the verdict is unclear, with a reason or without.
    pub fn is_unclear(&self) -> bool {
        matches!(self, Self::Unclear | Self::Undecided(_))
    }

    /// Returns whether there was something to judge: every verdict but `NotComparable`.
    pub fn was_judged(&self) -> bool {
        !matches!(self, Self::NotComparable(_))
    }
}

sentences! {
    /// Reason of a verdict.
    pub enum Obstacle {
        "failed": Failed { failure: Failure } => "{}", line(failure);
        "given-up": GivenUp { failure: Failure } => "given up: {}", line(failure);
        "failed-in-side": FailedIn { side: String, failure: Failure } => "fails in {side}: {}", line(failure);
        "failed-in-both": FailedInBoth { failure: Failure } => "fails in both: {}", line(failure);
        "failed-now-and-then": FailedNowAndThen { side: String, failures: usize, rounds: usize, failure: Failure } =>
            "{side} failed in {failures} of {}: {}", counted(*rounds, "round"), line(failure);
        "failed-in-b-alone": FailedInBAlone { failures: usize, rounds: usize, failure: Failure } =>
            "B failed in {failures} of {}, A in none: {}", counted(*rounds, "round"), line(failure);
        "failed-in-runs": FailedInRuns { failures: usize, runs: usize, failure: Failure } =>
            "failed in {failures} of {runs} runs AFTER: {}", line(failure);
        "too-busy": TooBusy { programs: String, failed: Box<Obstacle> } =>
            "the machine was too busy: {programs}; {failed}";
        "disturbed": Disturbed { sides: String } => "benchmark threads lost CPU time to other programs {sides}";
        "several-rows": SeveralRows { rows: usize, side: String } =>
            "{rows} rows of this case in one file {side}: give each run its own file";
        "other-circumstance": Other { what: String, before: String, after: String } =>
            "other {what}: {before}, now {after}";
        "throttled": Throttled { how: String } => "the board was throttled: {how}";
        "at-a-rate": AtARate => "at a given rate the speed is what was asked for; use --by cpu";
        "no-value": NoValue { what: String } => "no {what} above 0";
        "too-few-rounds": TooFewRounds => "fewer than two rounds have both sides";
        "alone": Alone => "no other engine in its blocks, to tell it from a change of the machine";
        "one-block": OneBlock => "one block, and one sweep on a side: a second sweep, or more payloads, can tell";
        "state": State { pct: u64 } =>
            "a state of the virtual machine may change an engine by up to {pct} %: measure in turn, with ab";
        "one-of-two": OneOfTwo { one: String, other: String } =>
            "{one} or {other} changed: which of them cannot be told";
        "ratio-of-two": RatioOfTwo { one: String, other: String } =>
            "only the ratio of {one} and {other} changed: which of them cannot be told";
    }
}

/// Returns the sentence about a failure as one line, with control characters escaped.
fn line(failure: &Failure) -> String {
    escape::line(&failure.to_string()).into_owned()
}
