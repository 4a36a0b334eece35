//! Status of a case.

use super::reason::Hindrance;
use super::refusals::Refusals;
use super::{Failure, Outcome, Reason, RowInput, Status, derived};
use crate::data::{Case, Sample};
use crate::stats;

/// Returns the status of a case and the reason. A fault of the run outranks the way the case ended.
pub(super) fn status(input: &RowInput) -> (Status, Reason) {
    match &input.outcome {
        Outcome::Skipped(why) => return (Status::Skipped, Reason::Skipped(why.clone())),
        Outcome::Failed(failure) => return (Status::Failed, Reason::Failed(failure.clone())),
        Outcome::Complete(_) | Outcome::Interrupted(_) => {}
    }
    if let Some(failure) = failure(input) {
        return (Status::Failed, Reason::Failed(failure));
    }
    // The measured rounds are valid, but with too few of them there is no interval.
    let is_unsure = stats::coverage(input.samples.len()) < stats::CONFIDENCE;
    match &input.outcome {
        Outcome::Interrupted(by) if is_unsure => {
            (Status::Interrupted, Reason::Interrupted(by.clone()))
        }
        _ => (Status::Ok, Reason::None),
    }
}

/// Returns the fault of a run, if it has one.
fn failure(input: &RowInput) -> Option<Failure> {
    // Look at each window: over several windows, missing and unexpected datagrams could cancel.
    let unaccounted = input.samples.iter().map(|it| it.account().unaccounted);
    let faults: Vec<i64> = unaccounted.filter(|&count| count != 0).collect();
    if !faults.is_empty() {
        return Some(Failure::CountsDiffer {
            windows: faults.len(),
            datagrams: faults.iter().map(|count| count.unsigned_abs()).sum(),
        });
    }
    // Look at the whole run: a receiver that fell asleep in the warm-up left no datagram of the window unread.
    if unread(input) > 0 && !comes_late(input) {
        let why = input.engines.receiver.starves.as_deref();
        let why = why.unwrap_or("the receiver slept on a queue that was not empty");
        return Some(Failure::Starved {
            why: why.to_owned(),
        });
    }
    dead(input.case, input.samples)
}

/// Returns the datagrams found in the queues after the receivers had ended.
pub(super) fn unread(input: &RowInput) -> u64 {
    let unread = input.samples.iter().map(|it| it.accounting.unread);
    unread.sum()
}

/// Returns whether unread datagrams may have arrived late. A path that delays datagrams can deliver them after the
/// receivers have ended.
pub(super) fn comes_late(input: &RowInput) -> bool {
    let is_across = input.samples.iter().any(|sample| !sample.paths.is_empty());
    is_across && input.engines.receiver.starves.is_none()
}

/// Returns why a case is dead, if it is: its counts add up, but no window moved a datagram. A datagram that arrives
/// too late for its window, as on a busy machine, still counts.
fn dead(case: &Case, samples: &[Sample]) -> Option<Failure> {
    let accounting = derived::total_accounting(samples);
    if samples.is_empty() || accounting.received > 0 {
        return None;
    }
    let hindrance = Hindrance {
        refusals: Refusals::of(samples),
        failed_calls: derived::failed_calls(samples),
    };
    // The datagrams received in the windows are from the warm-up.
    let has_earlier = samples.iter().any(|sample| derived::received(sample) > 0);
    Some(match accounting.sent {
        0 if case.is_paced() => Failure::NothingDue { hindrance },
        0 => Failure::NothingSent { hindrance },
        _ if has_earlier => Failure::NothingInWindows { hindrance },
        _ => Failure::NothingReceived { hindrance },
    })
}

/// Returns the reason why there were no more rounds. Empty: no rounds were planned.
pub(super) fn ended_by(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Complete(by) => by.name(),
        Outcome::Interrupted(by) => by.code(),
        Outcome::Failed(_) => "failure",
        Outcome::Skipped(_) => "",
    }
}
