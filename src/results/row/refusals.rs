//! Warnings about datagrams that the kernel refused to send.

use super::derived;
use crate::data::Sample;

/// Returns how many datagrams were refused, why, and where to look. `None`: none were refused. Between two hosts,
/// also if the only reason was a full queue.
pub(super) fn in_words(samples: &[Sample]) -> Option<String> {
    let refused = derived::total_accounting(samples).refused;
    if refused == 0 {
        return None;
    }
    let threads = samples.iter().flat_map(|sample| &sample.threads);
    let mut reasons: Vec<&str> = threads
        .filter_map(|thread| thread.refusal.as_deref())
        .collect();
    reasons.sort_unstable();
    reasons.dedup();
    let reasons: Vec<String> = reasons.into_iter().map(explained).collect();
    let why = if reasons.is_empty() {
        ": no room, or no reason was given".to_owned()
    } else {
        format!(": {}", reasons.join(", "))
    };
    let plural = if refused == 1 { " was" } else { "s were" };
    Some(format!(
        "{refused} datagram{plural} refused at the sender and lost (refused_packets){why}"
    ))
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
