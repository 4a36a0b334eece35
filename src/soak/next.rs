//! Commands to type next about an event: by its place, and by the counters of this host that moved with it.

use std::collections::BTreeMap;

use super::event::{Event, Kind, Place};
use super::log::Header;
use super::remark::{Counter, Remark};
use crate::sys::loss_places::{Layer, LossPlace, PLACES, by_name};

/// Name of the place where packets are dropped on the way out.
const WAY_OUT: &str = "way out";
/// A place that counted more than this part of an event's losses has a step beside an end or a link that failed.
const MANY: u64 = 4;
const FIREWALL: &str = "firewall (NETFILTER_DROP)";
/// Next step where a program did not run.
const BUSY: &str = "top -H shows what else runs; sudo dmesg, if the board is hot or lacks power";

/// Returns the places of an event, each with the command to type next, and the probes lost there, at most. Faults that
/// follow each other at once are one event: beside an end or a link that failed, what the counters tell of is another.
pub(super) fn steps(event: &Event, header: &Header) -> Vec<(String, u64)> {
    let host = header.far_end();
    let here = counted_place(event, End::Here).map(|(counted, by)| {
        let next = counted.next_at(&header.interface);
        (format!("here, {}: {next}", counted.what), by)
    });
    let there = counted_place(event, End::There).map(|(counted, by)| {
        let next = counted.next_at("NIC");
        (format!("at {host}, {}: there, {next}", counted.what), by)
    });
    let place = event.place_text(host);
    let own = (format!("{place}: {}", of_place(event, header)), event.lost);
    if !matches!(event.place, Place::FarEnd | Place::Link) {
        // A veth(4) counts what its other end refuses, too.
        let counted = here.into_iter().chain(there);
        let counted: Vec<(String, u64)> = counted.map(|(step, _)| (step, event.lost)).collect();
        return if counted.is_empty() {
            vec![own]
        } else {
            counted
        };
    }
    let is_carrier = |note: &Remark| match note {
        Remark::Counted { counter, .. } => *counter == Counter::Carrier,
        _ => false,
    };
    let has_link = event.place == Place::FarEnd && event.notes.iter().any(is_carrier);
    let link = has_link.then(|| (format!("at this host's link: {}", link(header)), event.lost));
    let counted = here.into_iter().chain(there);
    let counted = counted.map(|(step, by)| (step, by.min(event.lost)));
    std::iter::once(own).chain(link).chain(counted).collect()
}

/// Returns the places of an event in which the log ends: mostly nobody has read any counter for it.
pub(super) fn steps_of_open(event: &Event, header: &Header) -> Vec<(String, u64)> {
    let mut ends = [End::Here, End::There].into_iter();
    if event.place != Place::Path || ends.any(|end| counted_place(event, end).is_some()) {
        return steps(event, header);
    }
    let place = event.place_text(header.far_end());
    let step = format!("{place}: not known: the log ends in it");
    vec![(step, event.lost)]
}

/// Host whose counters are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Here,
    There,
}

/// Returns the place whose counters at one end tell of most of an event's losses, or of many beside an end or a link that
/// failed, and its packets.
fn counted_place(event: &Event, end: End) -> Option<(&'static LossPlace, u64)> {
    let mut counts = BTreeMap::<String, u64>::new();
    for note in &event.notes {
        let Remark::Counted { counter, by } = note else {
            continue;
        };
        let name = match (counter, end) {
            (Counter::Qdisc | Counter::InterfaceOut, End::Here) => WAY_OUT,
            (Counter::Here(place), End::Here) | (Counter::There(place), End::There) => place,
            _ => continue,
        };
        *counts.entry(name.to_owned()).or_default() += by;
    }
    let is_forward = |place: &LossPlace| (place.layer == Layer::Out) == (end == End::Here);
    let mut counts = by_name(&counts);
    // Probes and answers are UDP to open ports.
    let is_of_others = |place: &LossPlace| place.is_common && place.layer > Layer::Link;
    counts.retain(|(place, by)| {
        let least = match event.place {
            Place::Path => Some(event.lost / 2),
            Place::Forward => is_forward(place).then_some(event.lost / 2),
            Place::Back => (!is_forward(place)).then_some(event.lost / 2),
            // Its socket is full if it does not read.
            Place::FarEnd => (place.layer != Layer::Socket).then_some(event.lost / MANY),
            // Nothing goes out without a link.
            Place::Link => (place.layer != Layer::Out).then_some(event.lost / MANY),
            Place::Here => None,
        };
        event.lost > 0 && least.is_some_and(|least| *by > least) && !is_of_others(place)
    });
    counts.first().copied()
}

/// Returns what to type about a link that was down, which nobody here set down.
fn link(header: &Header) -> String {
    let interface = &header.interface;
    let damaged = typed("damaged frames", interface);
    let host = header.far_end();
    format!(
        "the cable, its plugs, the port of the switch; sudo ethtool {interface}; {damaged}; sudo dmesg; or somebody set \
         it down at {host}: there, journalctl -b -n 50"
    )
}

/// Returns the command of a place of the table.
fn typed(what: &str, interface: &str) -> String {
    let place = PLACES.iter().find(|place| place.what == what);
    place.map_or_else(String::new, |place| place.next_at(interface))
}

fn of_place(event: &Event, header: &Header) -> String {
    let (host, interface) = (header.far_end(), &header.interface);
    let typed = |what: &str| typed(what, interface);
    match event.place {
        Place::Here if event.refused > 0 => format!(
            "ip route get {}; {}; {}",
            header.address,
            typed(WAY_OUT),
            typed(FIREWALL)
        ),
        Place::Here => format!("{BUSY}; run it by: sudo chrt -f 50 udpbench"),
        Place::Link if event.set_down().is_some() => format!(
            "sudo ip link set {interface} up; who does that: journalctl -b -u NetworkManager -u systemd-networkd"
        ),
        Place::Link => link(header),
        Place::FarEnd => match event.dropped_at_its_socket().filter(|_| event.is_full) {
            Some(place) => format!("there, {}", place.next_at("NIC")),
            None => format!("there, {BUSY}; journalctl -b -n 50"),
        },
        Place::Path if event.kind == Kind::Delay => {
            format!("a full queue: {}; the same there", typed(WAY_OUT))
        }
        Place::Path if event.lost_forward.is_none() => format!(
            "which of them is not known: nothing returned before it, or after it; {0}; there, {0}; then cables and \
             switches",
            typed(FIREWALL)
        ),
        Place::Forward | Place::Path => format!(
            "no counter of {host} tells of most of them; rules of a firewall have none: here and there, {}; here, tc -s qdisc \
             show dev {interface}; then cables and switches",
            typed(FIREWALL)
        ),
        Place::Back => format!(
            "firewalls were not looked at: here and there, {}; there, tc -s qdisc; ip -s link; then cables and \
             switches",
            typed(FIREWALL)
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn steps_of(place: &str, change: &serde_json::Value) -> Vec<(String, u64)> {
        let header = json!({"version": "0", "started_at": "", "command_line": [], "machine": "", "board": "", "to": "board",
            "address": "10.0.0.2", "interface": "end0", "interface_kind": "veth", "rate": 1000, "payload": 64,
            "length_ns": 1, "outage_ns": 1, "delay_ns": 1});
        let mut event = json!({"kind": "silence", "place": place, "start_ns": 1, "length_ns": 1, "due": 100, "lost": 100,
            "refused": 0, "refused_errno": 0, "unsent": 0, "silences": 1, "longest_silence_ns": 1, "silent_ns": 1,
            "usual_rtt_ns": 1, "rtt_ns": 0});
        for (key, value) in change.as_object().expect("an object") {
            event[key] = value.clone();
        }
        let event = serde_json::from_value(event).expect("an event");
        steps(&event, &serde_json::from_value(header).expect("a header"))
    }

    fn counted(counter: &serde_json::Value, by: u64) -> serde_json::Value {
        json!({"counted": {"counter": counter, "by": by}})
    }

    #[test]
    fn a_place_that_counted_many_has_a_step_beside_a_program_that_did_not_answer() {
        let firewall = "between IP and UDP, without a counter";
        let there = |place, by| counted(&json!({"there": place}), by);
        let notes = |by| json!({"notes": [there(firewall, by), there("full receive buffers", 90)]});
        let both = steps_of("far_end", &notes(68));
        assert_eq!(both.len(), 2, "{both:?}");
        let [(program, 100), (counted, 68)] = &both[..] else {
            panic!("{both:?}")
        };
        assert!(program.starts_with("at board: its program did not answer: "));
        let expected =
            "at board, between IP and UDP, without a counter: there, sudo nft list ruleset; ";
        assert!(counted.starts_with(expected), "{counted}");
        assert_eq!(steps_of("far_end", &notes(9)).len(), 1, "too few");
    }

    #[test]
    fn what_followed_a_link_that_failed_at_once_has_a_step_of_its_own() {
        let notes = json!({"notes": [counted(&json!("carrier"), 2), counted(&json!({"there": FIREWALL}), 68)]});
        let both = steps_of("link", &notes);
        assert!(
            both[1]
                .0
                .starts_with("at board, firewall (NETFILTER_DROP): there, "),
            "{both:?}"
        );
        let notes = json!({"notes": [counted(&json!("carrier"), 2)]});
        let both = steps_of("far_end", &notes);
        assert!(
            both[1].0.starts_with("at this host's link: the cable, "),
            "{both:?}"
        );
        assert!(
            both[1]
                .0
                .ends_with("set it down at board: there, journalctl -b -n 50"),
            "{both:?}"
        );
        let notes = json!({"notes": [counted(&json!("carrier"), 2), counted(&json!("qdisc"), 90)]});
        assert_eq!(
            steps_of("link", &notes).len(),
            1,
            "nothing goes out without a link"
        );
    }

    #[test]
    fn each_place_has_a_command_and_a_counter_that_moved_as_much_comes_first() {
        for (place, change, expected) in [
            ("link", json!({}), "at this host's link: the cable, "),
            (
                "link",
                json!({"notes": [counted(&json!("carrier"), 1), {"set-down": {"interface": "end0"}}]}),
                "end0 was set down here: sudo ip link set end0 up; who does that: journalctl ",
            ),
            (
                "forward",
                json!({}),
                "on the way to board: no counter of board tells of most of them; ",
            ),
            (
                "forward",
                json!({"notes": [counted(&json!({"here": "reverse path filter"}), 98), counted(&json!({"there": "reverse path filter"}), 98)]}),
                "at board, reverse path filter: there, a route to the sender's ADDRESS: ",
            ),
            (
                "back",
                json!({}),
                "on the way from board: firewalls were not looked at: here and there, sudo nft list ruleset; ",
            ),
            (
                "back",
                json!({"notes": [counted(&json!({"here": "reverse path filter"}), 98), counted(&json!({"here": "way out"}), 100)]}),
                "here, reverse path filter: a route to the sender's ADDRESS: sudo ip route add ADDRESS dev end0; ",
            ),
            // The port of the probes is open.
            (
                "back",
                json!({"notes": [counted(&json!({"here": "closed UDP ports"}), 1697)]}),
                "on the way from board: firewalls were not looked at: ",
            ),
            (
                "back",
                json!({"notes": [counted(&json!({"there": "its own firewall refuses the answers (EPERM)"}), 99)]}),
                "at board, its own firewall refuses the answers (EPERM): there, sudo nft list ruleset",
            ),
            // Too few, and not on that way.
            (
                "back",
                json!({"notes": [counted(&json!({"here": "reverse path filter"}), 9), counted(&json!("qdisc"), 100)]}),
                "on the way from board: ",
            ),
            (
                "forward",
                json!({"notes": [counted(&json!("qdisc"), 100), {"kernel": {"line": "end0: +3"}}]}),
                "here, way out: tc -s qdisc show dev end0; ",
            ),
            (
                "far_end",
                json!({}),
                "at board: its program did not answer: there, top -H ",
            ),
            (
                "far_end",
                json!({"is_full": true}),
                "at board: its program did not read, until its receive buffer was full: there, top -H ",
            ),
            // The socket counts all that it drops.
            (
                "far_end",
                json!({"is_full": true, "notes": [counted(&json!({"there": "IPsec policy"}), 100)]}),
                "at board: IPsec policy: there, sudo ip xfrm policy; ",
            ),
            // The frames' address is not the other host's: they are for others there.
            (
                "forward",
                json!({"notes": [counted(&json!({"there": "frames for other hosts (OTHERHOST)"}), 98)]}),
                "at board, frames for other hosts (OTHERHOST): there, ip link show dev NIC; ",
            ),
            (
                "here",
                json!({"refused": 100, "refused_errno": 101}),
                "here: sending failed: Network is unreachable (os error 101): ip route get 10.0.0.2; ",
            ),
            (
                "here",
                json!({"kind": "unsent", "lost": 0}),
                "here: this program did not get to run: top -H ",
            ),
            (
                "path",
                json!({"kind": "delay", "lost": 0}),
                "on the way there or back: a full queue: tc -s qdisc show dev end0; ",
            ),
        ] {
            let found = steps_of(place, &change).remove(0).0;
            assert!(found.starts_with(expected), "{found}");
        }
    }
}
