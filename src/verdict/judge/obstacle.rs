//! Reasons why a change is not judged, or why a case is broken.

use crate::results::row::Failure;
use crate::term::escape;
use crate::text::digits::counted;
use crate::text::sentences;

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
