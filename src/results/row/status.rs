//! Whether a case failed, and why.

use std::collections::BTreeSet;

use super::warning::calls_failed;
use super::{EndedBy, Failure, Reason, RowInput, derived};
use crate::data::Sample;
use crate::stats;
use crate::text::digits::counted_with_verb;

/// Returns why a row is not `ok`. A fault of the run outranks the way the case ended.
pub(super) fn reason(input: &RowInput) -> Reason {
    if let Err(reason @ (Reason::Skipped(_) | Reason::Failed(_))) = &input.ended {
        return reason.clone();
    }
    if let Some(failure) = failure(input) {
        return Reason::Failed(failure);
    }
    // The measured rounds are valid, but with too few of them there is no interval.
    let is_unsure = stats::coverage(input.samples.len()) < stats::CONFIDENCE;
    let interrupted = input.ended.as_ref().err().filter(|_| is_unsure);
    interrupted.cloned().unwrap_or_default()
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
    dead(input)
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
fn dead(input: &RowInput) -> Option<Failure> {
    let samples = input.samples;
    let accounting = derived::total_accounting(samples);
    if samples.is_empty() || accounting.received > 0 {
        return None;
    }
    let calls = derived::failed_calls(samples);
    let calls = (calls > 0).then(|| calls_failed(calls));
    let hindrance = refusals(samples).or(calls);
    let hindrance = hindrance.map_or_else(String::new, |text| format!(": {text}"));
    // The datagrams received in the windows are from the warm-up.
    let has_earlier = samples.iter().any(|sample| derived::received(sample) > 0);
    Some(match accounting.sent {
        0 if input.case.is_paced() => Failure::NothingDue { hindrance },
        0 => Failure::NothingSent { hindrance },
        _ if has_earlier => Failure::NothingInWindows { hindrance },
        _ => Failure::NothingReceived { hindrance },
    })
}

/// Returns how many datagrams the kernel refused to send, why, and where to look. `None`: none were refused. Between
/// two hosts, datagrams are refused also if the only reason was a full queue.
pub(super) fn refusals(samples: &[Sample]) -> Option<String> {
    let datagrams = derived::total_accounting(samples).refused;
    let threads = samples.iter().flat_map(|sample| &sample.threads);
    let errnos: BTreeSet<&String> = threads.filter_map(|it| it.refusal.as_ref()).collect();
    let reasons: Vec<String> = errnos.iter().map(|errno| explained(errno)).collect();
    let why = if reasons.is_empty() {
        "no room, or no reason was given".to_owned()
    } else {
        reasons.join(", ")
    };
    let refused = counted_with_verb(datagrams, "datagram");
    (datagrams > 0)
        .then(|| format!("{refused} refused at the sender and lost (refused_packets): {why}"))
}

/// Returns an `errno` with a hint where to look.
fn explained(errno: &str) -> String {
    let look = match errno {
        "EPERM" | "EACCES" => "a firewall on the way out? See nft list ruleset, iptables -S OUTPUT",
        "ENETUNREACH" | "ENETDOWN" | "EHOSTUNREACH" | "EHOSTDOWN" => {
            "a route, a link or a neighbour went away: see ip route, ip link, ip neigh"
        }
        "ECONNREFUSED" => "nobody listened at the port that an earlier one went to",
        "EMSGSIZE" => "they are longer than the way takes: use a smaller --payload",
        "ENOMEM" => "the kernel had no memory",
        _ => return errno.to_owned(),
    };
    format!("{errno} ({look})")
}

/// Returns the reason why there were no more rounds. Empty: no rounds were planned.
pub(super) fn ended_by(ended: &Result<EndedBy, Reason>) -> &'static str {
    match ended {
        Ok(by) => by.name(),
        Err(Reason::Interrupted(by)) => by.code(),
        Err(Reason::Failed(_)) => "failure",
        Err(Reason::Skipped(_) | Reason::None) => "",
    }
}
