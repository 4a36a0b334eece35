//! The cases of a search for rates of which neither engines nor payloads were typed: few enough for some minutes.

use std::time::Duration;

use crate::cli::{FindCommand, ParameterArgs};
use crate::data::{Case, Payload};
use crate::plan::Plan;

/// Senders that are searched by default: one call per datagram, batches, and offload.
const SENDERS: [&str; 3] = ["std", "mmsg", "gso"];

/// Returns a line on how to search more, if the defaults leave cases out.
pub fn how_to_search_more(what: &FindCommand) -> Option<&'static str> {
    let FindCommand::Lossless(args) = what else {
        return None;
    };
    let (engines, payloads) = is_default(&args.parameters);
    match (engines, payloads) {
        (true, true) => Some("to search more: --engine all, --payload 26,1460"),
        (true, false) => Some("to search more: --engine all"),
        (false, true) => Some("to search more: --payload 26,1460"),
        (false, false) => None,
    }
}

/// Returns the time limit of a case: three cases take five minutes at most. `None`: engines or payloads were typed.
pub(super) fn max_case_time(given: &ParameterArgs) -> Option<Duration> {
    (is_default(given) == (true, true)).then_some(Duration::from_secs(100))
}

/// Returns whether the engines, and the payloads, are the default ones.
fn is_default(given: &ParameterArgs) -> (bool, bool) {
    let engines = [&given.engine, &given.sender, &given.receiver];
    let engines = engines.iter().all(|engines| engines.is_none());
    (engines, given.payload.is_none())
}

/// Leaves out the engines and payloads that a search does not need by default. The largest payload stays: it fills an
/// Ethernet frame.
pub(super) fn reduce(plan: &mut Plan, given: &ParameterArgs) {
    let (engines, payloads) = is_default(given);
    let largest = plan.blocks.iter().map(|block| block.key.payload).max();
    let largest = largest.filter(|_| payloads);
    let has = |case: &Case, payload: Option<Payload>| {
        (!engines || SENDERS.contains(&case.sender.to_string().as_str()))
            && payload.is_none_or(|payload| payload == case.payload)
    };
    if plan.cases().any(|planned| has(&planned.case, largest)) {
        for block in &mut plan.blocks {
            block.cases.retain(|planned| has(&planned.case, largest));
        }
        plan.blocks.retain(|block| !block.cases.is_empty());
    }
}
