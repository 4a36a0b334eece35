//! Words about an event: its line, its place, and the commands to type next.

use std::collections::BTreeMap;
use std::io;

use serde_json::Value;

use super::event::{Counter, Event, Kind, Place, Remark};
use super::log::SoakHeader;
use crate::sys::loss_places::{Layer, LossPlace, PLACES, by_name};
use crate::time::time_text;

/// Name of the place where packets are dropped on the way out.
const WAY_OUT: &str = "way out";
/// A place that counted more than this part of an event's losses has a step beside an end or a link that failed.
const MANY: u64 = 4;
const FIREWALL: &str = "firewall (NETFILTER_DROP)";
/// Next step where a program did not run.
const BUSY: &str = "top -H shows what else runs; sudo dmesg, if the board is hot or lacks power";

impl Event {
    /// Returns the line for people, which does not begin with the time of day. `host` is the other end.
    pub fn line(&self, host: &str) -> String {
        let length = time_text(self.length_ns);
        let longest = time_text(self.longest_silence_ns);
        let mut parts = vec![match self.silences {
            0 => length,
            1 => longest,
            times => format!("{length} ({times} times, longest {longest})"),
        }];
        if self.lost > 0 {
            parts.push(format!("{} of {} lost", self.lost, self.due));
        }
        if self.unsent > 0 {
            parts.push(format!("{} not sent", self.unsent));
        }
        if self.rtt_ns > 0 {
            let (rtt, usual) = (time_text(self.rtt_ns), time_text(self.usual_rtt_ns));
            parts.push(format!("round trip {rtt} instead of {usual}"));
        }
        parts.push(self.place_text(host));
        let notes = self.notes.iter().map(Remark::to_string);
        let parts = std::iter::once(parts.join(", ")).chain(notes);
        let text = parts.collect::<Vec<_>>().join("; ");
        format!("{:<8}{text}", self.kind.word())
    }

    /// Returns the row for programs: an object without lists.
    pub fn row(&self) -> Value {
        let mut row = serde_json::to_value(self).unwrap_or_default();
        let codes: Vec<&str> = self.notes.iter().map(Remark::code).collect();
        row["note_codes"] = codes.join(" ").into();
        row["notes"] = self.notes_text().into();
        row
    }

    /// Returns the notes for people.
    pub fn notes_text(&self) -> String {
        let notes: Vec<String> = self.notes.iter().map(Remark::to_string).collect();
        notes.join("; ")
    }

    /// Returns the place for people.
    pub fn place_text(&self, host: &str) -> String {
        match self.place {
            Place::Here if self.refused > 0 => {
                let error = io::Error::from_raw_os_error(self.refused_errno);
                format!("here: sending failed: {error}")
            }
            Place::Here if self.is_full => {
                "here: this program's receive buffer was full".to_owned()
            }
            Place::Here => "here: this program did not get to run".to_owned(),
            Place::Link => "at this host's link".to_owned(),
            Place::Forward => format!("on the way to {host}"),
            Place::Back => format!("on the way from {host}"),
            Place::Path => "on the way there or back".to_owned(),
            Place::FarEnd if self.kind == Kind::Delay => {
                format!("at {host}: its program answered late")
            }
            // Mostly its buffer was full. If not, a note says why.
            Place::FarEnd if self.is_full => {
                format!("at {host}: its program's socket dropped them")
            }
            Place::FarEnd => format!("at {host}: its program did not answer"),
        }
    }

    /// Returns whether the log ends in it.
    pub(super) fn is_open(&self) -> bool {
        self.notes.contains(&Remark::NotOver)
    }

    pub(super) fn was_set_down(&self) -> bool {
        let mut notes = self.notes.iter();
        notes.any(|note| matches!(note, Remark::SetDown { .. }))
    }

    pub(super) fn had_no_carrier(&self) -> bool {
        self.counts()
            .any(|(counter, _)| *counter == Counter::Carrier)
    }

    fn counts(&self) -> impl Iterator<Item = (&Counter, u64)> {
        self.notes.iter().filter_map(|note| match note {
            Remark::Counted { counter, by } => Some((counter, *by)),
            _ => None,
        })
    }

    /// Returns the places of the event, each with the command to type next, and the probes lost there, at most. Faults
    /// that follow each other at once are one event: beside an end or a link that failed, what the counters tell of is
    /// another. If the log ends in it, mostly nobody has read any counter for it.
    pub(super) fn steps(&self, header: &SoakHeader) -> Vec<(String, u64)> {
        let host = header.far_end();
        let (mut steps, mut is_of_socket) = (Vec::new(), false);
        for is_here in [true, false] {
            let Some((place, by)) = self.counted_place(is_here) else {
                continue;
            };
            let step = if is_here {
                format!("here, {}: {}", place.what, place.next_at(&header.interface))
            } else {
                is_of_socket = place.layer == Layer::Socket;
                format!("at {host}, {}: there, {}", place.what, place.next_at("NIC"))
            };
            steps.push((step, self.lost.min(by)));
        }
        let has_failed = match self.place {
            // What its socket dropped for another reason than a full buffer is no matter of its program.
            Place::FarEnd => !is_of_socket,
            place => place == Place::Link,
        };
        if has_failed || steps.is_empty() && !(self.is_open() && self.place == Place::Path) {
            let own = format!("{}: {}", self.place_text(host), self.own_step(header));
            steps.insert(0, (own, self.lost));
        }
        if self.place == Place::FarEnd && self.had_no_carrier() {
            steps.insert(
                1,
                (format!("at this host's link: {}", link(header)), self.lost),
            );
        }
        steps
    }

    /// Returns the place whose counters here or there tell of most of the losses, or of many beside an end or a link
    /// that failed, and its packets.
    fn counted_place(&self, is_here: bool) -> Option<(&'static LossPlace, u64)> {
        let mut counts = BTreeMap::<String, u64>::new();
        for (counter, by) in self.counts() {
            let name = match counter {
                Counter::Qdisc | Counter::InterfaceOut if is_here => WAY_OUT,
                Counter::Here(place) if is_here => place,
                Counter::There(place) if !is_here => place,
                _ => continue,
            };
            *counts.entry(name.to_owned()).or_default() += by;
        }
        let is_possible = |place: &LossPlace| {
            let is_out = place.layer == Layer::Out;
            match self.place {
                Place::Forward => is_out == is_here,
                Place::Back => is_out != is_here,
                // Its socket is full if it does not read.
                Place::FarEnd => !place.is_full(),
                // Nothing goes out without a link.
                Place::Link => !is_out,
                Place::Path => true,
                Place::Here => false,
            }
        };
        let least = match self.place {
            Place::FarEnd | Place::Link => self.lost / MANY,
            _ => self.lost / 2,
        };
        let mut counts = by_name(&counts);
        // Probes and answers are UDP to open ports.
        let is_of_others = |place: &LossPlace| place.is_common && place.layer > Layer::Link;
        counts.retain(|(place, by)| {
            self.lost > 0 && *by > least && is_possible(place) && !is_of_others(place)
        });
        counts.first().copied()
    }

    /// Returns the command to type next about the event's own place.
    fn own_step(&self, header: &SoakHeader) -> String {
        let interface = &header.interface;
        let [way_out, firewall] = [WAY_OUT, FIREWALL].map(|what| typed(what, interface));
        match self.place {
            Place::Here if self.refused > 0 => {
                format!("ip route get {}; {way_out}; {firewall}", header.address)
            }
            Place::Here => format!("{BUSY}; run it by: sudo chrt -f 50 udpbench"),
            Place::Link if self.was_set_down() => format!(
                "{interface} was set down here: sudo ip link set {interface} up; who does that: journalctl -b -u \
                 NetworkManager -u systemd-networkd"
            ),
            Place::Link => link(header),
            Place::FarEnd => format!("there, {BUSY}; journalctl -b -n 50"),
            Place::Path if self.kind == Kind::Delay => {
                format!("a full queue: {way_out}; the same there")
            }
            Place::Forward | Place::Path | Place::Back => format!(
                "no counter tells of most of them, and rules of a firewall have none: here and there, {firewall}; {way_out}; \
                 ip -s link; then cables and switches"
            ),
        }
    }
}

/// Returns what to type about a link that was down, which nobody here set down.
fn link(header: &SoakHeader) -> String {
    let (interface, host) = (&header.interface, header.far_end());
    let damaged = typed("damaged frames", interface);
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
        let event: Event = serde_json::from_value(event).expect("an event");
        event.steps(&serde_json::from_value(header).expect("a header"))
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
                "at this host's link: end0 was set down here: sudo ip link set end0 up; who does that: journalctl ",
            ),
            (
                "forward",
                json!({}),
                "on the way to board: no counter tells of most of them, ",
            ),
            (
                "forward",
                json!({"notes": [counted(&json!({"here": "reverse path filter"}), 98), counted(&json!({"there": "reverse path filter"}), 98)]}),
                "at board, reverse path filter: there, a route to the sender's ADDRESS: ",
            ),
            (
                "back",
                json!({}),
                "on the way from board: no counter tells of most of them, and rules of a firewall have none: here and there, sudo nft ",
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
                "on the way from board: no counter ",
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
                "at board: its program's socket dropped them: there, top -H ",
            ),
            // The socket counts all that it drops.
            (
                "far_end",
                json!({"is_full": true, "notes": [counted(&json!({"there": "IPsec policy"}), 100)]}),
                "at board, IPsec policy: there, sudo ip xfrm policy; ",
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
