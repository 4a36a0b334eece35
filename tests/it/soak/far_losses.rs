//! What the other host loses before its program.

use std::process::Command;

use super::{Watched, log, pause};
use crate::common::lab::Lab;
use crate::common::{Place, assert_code, stdout, words};

#[test]
fn a_firewall_of_the_other_host_is_the_place() {
    if Command::new("nft").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no nft");
        return;
    }
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let place = Place::new();
    let (lab, place) = (&lab, &place);
    let watched = Watched { lab, place };
    let soak = watched.start("--for 6s --rate 500 --outage 200ms -o soak.jsonl");
    watched.wait_for_probes(500);
    watched.far("nft add table inet s");
    watched.far("nft add chain inet s i { type filter hook input priority 0 ; }");
    watched.far("nft add rule inet s i udp dport >= 1024 drop");
    pause(1000);
    watched.far("nft delete table inet s");
    let output = soak.wait_with_output().expect("it ends");
    assert_code(&output, 0);
    let log = log(&place.path("soak.jsonl"));
    let place = "there: between IP and UDP, without a counter +";
    let has_note = log.events().any(|event| event.notes_text().contains(place));
    let text = stdout(&output);
    assert!(has_note, "{text}");
    let next = "at far, between IP and UDP, without a counter: there, sudo nft list ruleset;";
    assert!(words(&text).contains(next), "{text}");
}
