use serde_json::{Value, json};

use super::*;
use crate::soak::log;

fn event(start_ns: u64, silent_ns: u64, lost_forward: Option<u64>) -> Value {
    json!({"kind": "silence", "place": "path", "start_ns": start_ns, "length_ns": silent_ns, "due": 100, "lost": 100,
        "lost_forward": lost_forward, "refused": 0, "refused_errno": 0, "unsent": 0, "silences": 1,
        "longest_silence_ns": silent_ns, "silent_ns": silent_ns, "usual_rtt_ns": 1, "rtt_ns": 0})
}

fn header() -> SoakHeader {
    let header = json!({"version": "0", "started_at": "2026-11-29T10:00:00Z", "command_line": [], "machine": "",
        "board": "", "to": "feB", "address": "10.0.0.2", "interface": "end0", "interface_kind": "veth", "rate": 100,
        "payload": 64, "length_ns": 60_000_000_000_u64, "outage_ns": 1, "delay_ns": 1});
    serde_json::from_value(header).expect("a header")
}

fn text(entries: Value) -> String {
    let entries: Vec<Entry> = serde_json::from_value(entries).expect("entries");
    let (header, entries) = (&header(), &*entries);
    Summary { header, entries }.text(200)
}

#[test]
fn a_silence_that_was_not_over_when_the_soak_was_killed_counts_as_at_least_as_long() {
    let so_far = json!({"start_ns": 0, "length_ns": 20_000_000_000_u64, "due": 2000, "sent": 2000, "returned": 1500,
        "refused": 0, "unsent": 0});
    let over = json!({"event": event(1_000_000_000, 3_000_000_000, Some(50))});
    let mut open = json!({"open": event(15_000_000_000, 2_030_000_000, None)});
    open["open"]["notes"] = json!(["not-over"]);
    let mut entries = vec![over, open, json!({"so_far": so_far})];
    let killed = text(json!(entries));
    for expected in [
        "2 silences, longest 3.0 s, ",
        "; one was not over at the end, and may have lasted longer",
        "  5.0 s",
    ] {
        assert!(killed.contains(expected), "{expected}: {killed}");
    }
    let counters = "no counter tells of most of them";
    assert_eq!(
        killed.matches(counters).count(),
        1,
        "of the other one only: {killed}"
    );
    let resumed = json!({"at": "2026-11-29T11:00:00.000Z", "start_ns": 20_000_000_000_u64, "what": "resumed"});
    entries.push(json!({"remark": resumed}));
    let resumed = text(json!(entries));
    let gap = "resumed    not measured from 2026-11-29T10:00:20.000Z to 2026-11-29T11:00:00.000Z\n";
    assert!(resumed.contains(gap), "{resumed}");
    let entries: Vec<Entry> = serde_json::from_value(json!(entries)).expect("entries");
    assert_eq!(log::events(&entries).count(), 2, "as in the table");
}

#[test]
fn a_far_end_that_cannot_be_started_again_is_said_until_it_is_back() {
    let why = "feB: its program cannot be started again: udpbench: not found";
    let remark = |what: Value| {
        let note = json!({"at": "2026-11-29T11:00:00.000Z", "start_ns": 1, "what": what});
        json!({"remark": note})
    };
    let gone = remark(json!({"not-started": {"host": "feB", "why": "udpbench: not found"}}));
    let said = text(json!([gone]));
    assert!(said.contains(&format!("other end  {why}\n")), "{said}");
    let back = remark(json!({"started-again": {"host": "feB", "silence_ns": 1}}));
    let said = text(json!([gone, back]));
    assert!(!said.contains(why), "{said}");
}

#[test]
fn the_next_steps_are_for_the_places_that_lost_most_and_the_number_of_others_is_said() {
    let entry = |kind: &str, place: &str, lost: u64, notes: Value| {
        let mut event = event(1, 1, None);
        for (key, value) in [
            ("kind", json!(kind)),
            ("place", json!(place)),
            ("lost", json!(lost)),
            ("notes", notes),
        ] {
            event[key] = value;
        }
        json!({"event": event})
    };
    let late = entry("unsent", "here", 0, json!([]));
    let mut entries = vec![late.clone(), late];
    for (lost, place) in [
        "no route",
        "XDP program",
        "wrong IP header",
        "reverse path filter",
    ]
    .into_iter()
    .enumerate()
    {
        let lost = 10 + lost as u64;
        entries.push(entry(
            "loss",
            "back",
            lost,
            json!([{"counted": {"counter": {"here": place}, "by": lost}}]),
        ));
    }
    entries.push(entry("loss", "forward", 2, json!([])));
    entries.push(entry("silence", "far_end", 3984, json!([])));
    let said = text(json!(entries));
    let steps: Vec<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix("next       "))
        .collect();
    assert!(
        steps[0].starts_with("silence, at feB: its program"),
        "{said}"
    );
    assert!(
        steps[1].starts_with("loss, here, reverse path filter: "),
        "{said}"
    );
    assert_eq!(
        steps[5..],
        ["2 more places with 2 lost: the log has their events"],
        "{said}"
    );
}

#[test]
fn a_clock_that_is_set_twice_is_said_with_the_last_time() {
    let remark = |at: &str| {
        let set = json!({"at_ns": 0, "by_ns": -3_000_000, "suspended_ns": 0});
        json!({"remark": {"at": at, "start_ns": 0, "what": {"clock-set": {"set": set}}}})
    };
    let said = text(json!([remark("10:00"), remark("11:00")]));
    let last = "2 times; the last: the clock of this host was set back by 3.000 ms, at 11:00";
    assert!(said.contains(&format!("clock      {last}\n")), "{said}");
}
