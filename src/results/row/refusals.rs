//! Datagrams that the kernel refused to send.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::derived;
use crate::data::Sample;
use crate::text::digits::counted_with_verb;

/// Datagrams that the kernel refused to send.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refusals {
    datagrams: u64,
    /// Names of the errors, such as `EPERM`. Empty: the queue was full, or no reason was given.
    errnos: BTreeSet<String>,
}

impl Refusals {
    /// Collects the refusals of all windows. `None`: none were refused. Between two hosts, datagrams are refused also
    /// if the only reason was a full queue.
    pub(super) fn of(samples: &[Sample]) -> Option<Self> {
        let datagrams = derived::total_accounting(samples).refused;
        let threads = samples.iter().flat_map(|sample| &sample.threads);
        (datagrams > 0).then(|| Self {
            datagrams,
            errnos: threads
                .filter_map(|thread| thread.refusal.clone())
                .collect(),
        })
    }
}

impl fmt::Display for Refusals {
    /// Writes how many were refused, why, and where to look.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reasons: Vec<String> = self.errnos.iter().map(|errno| explained(errno)).collect();
        let why = if reasons.is_empty() {
            "no room, or no reason was given".to_owned()
        } else {
            reasons.join(", ")
        };
        let refused = counted_with_verb(self.datagrams, "datagram");
        write!(
            f,
            "{refused} refused at the sender and lost (refused_packets): {why}"
        )
    }
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
