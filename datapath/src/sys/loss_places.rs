//! The places between an interface and a socket where this host loses datagrams: what the kernel counts there, and what
//! to type next. Everything that names a loss reads this table.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// Part of the way in, in the order of a datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// The interface and its driver.
    Interface,
    /// Programs and filters at the interface, and what is for others.
    Link,
    /// Queue of a CPU.
    Backlog,
    /// IP.
    #[default]
    Ip,
    /// Netfilter, IPsec, security modules.
    Firewall,
    /// UDP, before a socket is found.
    Udp,
    /// A socket.
    Socket,
    /// The way out, which no receiver has to do with.
    Out,
}

/// A place that loses datagrams.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LossPlace {
    /// Name. Code and scripts find places by it.
    pub what: String,
    /// Part of the way. Counters of IP are added up in `ip_in_discards` of a wire.
    pub layer: Layer,
    /// Counters: of IP and UDP by their names in nstat(8), which stand for IPv6 as well (`UdpNoPorts`); of a file of
    /// `/proc/net` after its name (`nf_conntrack drop`); of an interface after a star (`* rx_dropped`).
    pub counters: Vec<String>,
    /// Counters and reasons of other places that `counters` and `reasons` contain.
    pub less: Vec<String>,
    /// Counters that say that nothing was lost if one of them moved, and names of places that explain the loss.
    pub unless: Vec<String>,
    /// File of the counters.
    pub file: String,
    /// Linux version that brought the counters. Empty: all that Rust runs on.
    pub since: String,
    /// The kernel's drop reasons (`enum skb_drop_reason`, since Linux 5.17).
    pub reasons: Vec<String>,
    /// True if what tells of it is of all network namespaces of the machine, and each packet that came to one and was
    /// delivered is none of it.
    pub is_of_machine: bool,
    /// True if other traffic ends here every day: no loss by itself, and `soak` does not blame it.
    pub is_common: bool,
    /// Cause.
    pub why: String,
    /// Command to type next. `{IF}` is the interface.
    pub next: String,
}

impl LossPlace {
    /// Returns whether it is a full receive buffer.
    pub fn is_full(&self) -> bool {
        self.counters == ["UdpRcvbufErrors"]
    }

    /// Returns whether it counts fragments, which wait for others of their datagram.
    pub fn is_of_fragments(&self) -> bool {
        let mut counters = self.counters.iter();
        counters.any(|counter| counter.starts_with("IpReasm"))
    }

    /// Returns the command to type next, with the name of an interface.
    pub fn next_at(&self, interface: &str) -> String {
        self.next.replace("{IF}", interface)
    }
}

/// The table: `loss_places.toml`.
#[derive(Deserialize)]
struct Table {
    place: Vec<LossPlace>,
    ip_without_end: LossPlace,
    refused_answers: LossPlace,
    answers_without_route: LossPlace,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    toml::from_str(include_str!("loss_places.toml")).expect("a test reads the table")
});

/// All places, in the order of a datagram's way in.
pub static PLACES: LazyLock<&[LossPlace]> = LazyLock::new(|| &TABLE.place);
/// Packets that came to IP and whose end no other counter tells.
pub static IP_WITHOUT_END: LazyLock<&LossPlace> = LazyLock::new(|| &TABLE.ip_without_end);
/// Answers of an echo that a firewall of its host refuses to send: the echo itself counts these errors.
pub static REFUSED_ANSWERS: LazyLock<&LossPlace> = LazyLock::new(|| &TABLE.refused_answers);
/// Answers of an echo whose host has no way back: the echo itself counts these errors.
pub static ANSWERS_WITHOUT_ROUTE: LazyLock<&LossPlace> =
    LazyLock::new(|| &TABLE.answers_without_route);

/// Returns the losses of each place by its name, in the order of the way in: first those that are none of every day.
pub fn by_name(packets: &BTreeMap<String, u64>) -> Vec<(&'static LossPlace, u64)> {
    let more = [&IP_WITHOUT_END, &REFUSED_ANSWERS, &ANSWERS_WITHOUT_ROUTE];
    let all = PLACES.iter().chain(more.map(|place| **place));
    let lost = all.filter_map(|place| Some((place, *packets.get(&place.what)?)));
    let mut lost: Vec<_> = lost.collect();
    lost.sort_by_key(|(place, _)| place.is_common);
    lost
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_counter_and_reason_is_of_one_place() {
        let mut seen = BTreeSet::new();
        for place in *PLACES {
            for name in place.counters.iter().chain(&place.reasons) {
                assert!(
                    seen.insert(name),
                    "{name} is of two places: put it into `less`"
                );
            }
        }
    }

    #[test]
    fn each_place_says_its_layer() {
        let text = include_str!("loss_places.toml");
        let places = text.split("[[place]]").skip(1);
        for place in places {
            assert!(place.contains("\nlayer = "), "{place}");
        }
    }

    #[test]
    fn each_place_can_be_seen_and_says_what_to_type() {
        for place in PLACES.iter().chain([*IP_WITHOUT_END]) {
            assert!(
                !place.counters.is_empty() || !place.reasons.is_empty(),
                "{}",
                place.what
            );
            assert_eq!(
                place.counters.is_empty(),
                place.file.is_empty(),
                "{}",
                place.what
            );
            assert!(
                !place.why.is_empty() && !place.next.is_empty(),
                "{}",
                place.what
            );
            assert!(!place.next.contains("eth0"), "{}", place.what);
        }
    }
}
