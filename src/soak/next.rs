//! Commands to type next about an event: by its place, and by the counters of this host that moved with it.

use super::event::{Event, Kind, Place};
use super::log::Header;
use super::notes::{OUT_DROPS, THERE};
use crate::sys::loss_places::{Layer, LossPlace, PLACES, by_name};

/// Name in the table of places of what counts [`OUT_DROPS`].
const WAY_OUT: &str = "way out";
const FIREWALL: &str = "firewall (NETFILTER_DROP)";
/// Next step where a program did not run.
const BUSY: &str = "top -H shows what else runs; sudo dmesg, if the board is hot or lacks power";

/// Returns the place of an event, and the command to type next.
pub(super) fn step(event: &Event, header: &Header) -> String {
    let host = header.far_end();
    let place = event.place_text(host);
    if let Some(counted) = counted_place(event, "") {
        let next = counted.next_at(&header.interface);
        return format!("here, {}: {next}", counted.what);
    }
    if let Some(counted) = counted_place(event, THERE) {
        let next = counted.next_at("NIC");
        return format!("at {host}, {}: there, {next}", counted.what);
    }
    format!("{place}: {}", of_place(event, header))
}

/// Returns the place of an event in which the log ends: nobody has read any counter for it.
pub(super) fn step_of_open(event: &Event, header: &Header) -> String {
    if event.place != Place::Path || counted_place(event, "").is_some() {
        return step(event, header);
    }
    let place = event.place_text(header.far_end());
    format!("{place}: not known: the log ends in it")
}

/// Returns the place whose counters tell of most of an event's losses: of this host, or of the other one if their notes
/// begin with `at`.
fn counted_place(event: &Event, at: &str) -> Option<&'static LossPlace> {
    let counts = event.notes.iter().filter_map(|note| {
        let (name, by) = note.strip_prefix(at)?.rsplit_once(" +")?;
        let is_out = OUT_DROPS.contains(&name);
        let name = if is_out { WAY_OUT } else { name };
        Some((name.to_owned(), by.parse().ok()?))
    });
    let is_forward = |place: &LossPlace| (place.layer == Layer::Out) == at.is_empty();
    let mut counts = by_name(&counts.collect());
    counts.retain(|(place, by)| {
        let fits = match event.place {
            Place::Path => true,
            Place::Forward => is_forward(place),
            Place::Back => !is_forward(place),
            Place::Here | Place::Link | Place::FarEnd => false,
        };
        fits && event.lost > 0 && 2 * by > event.lost
    });
    counts.first().map(|(place, _)| *place)
}

fn of_place(event: &Event, header: &Header) -> String {
    let (host, interface) = (header.far_end(), &header.interface);
    let typed = |what: &str| {
        let place = PLACES.iter().find(|place| place.what == what);
        place.map_or_else(String::new, |place| place.next_at(interface))
    };
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
        Place::Link => format!(
            "the cable, its plugs, the port of the switch; sudo ethtool {interface}; {}; sudo dmesg",
            typed("damaged frames")
        ),
        Place::FarEnd => format!("there, {BUSY}; journalctl -b -n 50"),
        Place::Path if event.kind == Kind::Delay => {
            format!("a full queue: {}; the same there", typed(WAY_OUT))
        }
        Place::Path if event.lost_forward.is_none() => format!(
            "which of them is not known: nothing returned before it, or after it; {0}; there, {0}; then cables and \
             switches",
            typed(FIREWALL)
        ),
        Place::Forward | Place::Path => format!(
            "no counter of {host} tells of them; rules of a firewall have none: there, {}; then cables and switches",
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

    fn step_of(place: &str, change: &serde_json::Value) -> String {
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
        step(&event, &serde_json::from_value(header).expect("a header"))
    }

    #[test]
    fn each_place_has_a_command_and_a_counter_that_moved_as_much_comes_first() {
        for (place, change, expected) in [
            ("link", json!({}), "at this host's link: the cable, "),
            (
                "link",
                json!({"notes": ["carrier changes +1", "end0 was set down here"]}),
                "end0 was set down here: sudo ip link set end0 up; who does that: journalctl ",
            ),
            (
                "forward",
                json!({}),
                "on the way to board: no counter of board tells of them; ",
            ),
            (
                "forward",
                json!({"notes": ["reverse path filter +98", "there: reverse path filter +98"]}),
                "at board, reverse path filter: there, a route to the sender's ADDRESS: ",
            ),
            (
                "back",
                json!({}),
                "on the way from board: firewalls were not looked at: here and there, sudo nft list ruleset; ",
            ),
            (
                "back",
                json!({"notes": ["reverse path filter +98", "way out +100"]}),
                "here, reverse path filter: a route to the sender's ADDRESS: sudo ip route add ADDRESS dev end0; ",
            ),
            (
                "back",
                json!({"notes": ["there: its own firewall refuses the answers (EPERM) +99"]}),
                "at board, its own firewall refuses the answers (EPERM): there, sudo nft list ruleset",
            ),
            // Too few, and not on that way.
            (
                "back",
                json!({"notes": ["reverse path filter +9", "dropped by the qdisc +100"]}),
                "on the way from board: ",
            ),
            (
                "forward",
                json!({"notes": ["dropped by the qdisc +100", "kernel: end0: +3"]}),
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
                "at board: its program's receive buffer was full: there, top -H ",
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
            let found = step_of(place, &change);
            assert!(found.starts_with(expected), "{found}");
        }
    }
}
