//! Board detection from the files of a host.

use std::fmt::Write;

use insta::assert_snapshot;
use udpbench::host::board;
use udpbench::host::facts::Host;

use crate::common::hosts;

use super::{all, board_of, by_model_alone, host, profile, stdout, udpbench};

#[test]
fn each_host_is_the_board_that_it_says_it_is() {
    let mut told = String::new();
    for name in hosts::names() {
        let whole = host(&name);
        for host in [&whole, &by_model_alone(&whole)] {
            let detected = board::detect(host).expect("valid profiles");
            writeln!(told, "{name}: {}: {}", detected.board, detected.reason).expect("is text");
        }
    }
    assert_snapshot!("hosts", told);
}

#[test]
fn every_profile_has_a_host_that_is_recognised_by_its_compatible() {
    let found: Vec<String> = hosts::names()
        .iter()
        .map(|name| board_of(&host(name)))
        .collect();
    for board in all() {
        assert!(found.contains(&board.name), "no fixture is a {board}");
    }
}

#[test]
fn every_profile_with_a_model_has_a_host_that_is_recognised_by_it() {
    let found: Vec<String> = hosts::names()
        .iter()
        .map(|name| board_of(&by_model_alone(&host(name))))
        .collect();
    for board in all() {
        let is_found = found.contains(&board.name);
        assert!(
            is_found || board.detect.model.is_empty(),
            "no fixture has the model of {board}"
        );
    }
}

#[test]
fn every_entry_of_a_profile_leads_to_it() {
    for board in all() {
        for entry in &board.detect.compatible {
            let host = Host {
                compatible: vec![entry.clone()],
                ..host("x86-vm")
            };
            assert_eq!(board_of(&host), board.name, "from {entry}");
        }
        for model in &board.detect.model {
            for shown in [model.clone(), format!("{model} Rev 9.9")] {
                let host = Host {
                    model: Some(shown.clone()),
                    ..host("x86-vm")
                };
                assert_eq!(board_of(&host), board.name, "from {shown}");
            }
        }
    }
}

#[test]
fn a_model_that_only_begins_alike_springs_no_trap() {
    // Longer than the entry of a profile, but no revision: another board.
    for board in all() {
        for model in &board.detect.model {
            for other in ["+", "S", " Plus", " Pro", "B", "0", " Revised"] {
                let shown = format!("{model}{other}");
                if all()
                    .iter()
                    .any(|board| board.detect.model.contains(&shown))
                {
                    continue;
                }
                let host = Host {
                    model: Some(shown.clone()),
                    ..host("x86-vm")
                };
                assert_eq!(board_of(&host), "generic", "{shown}");
            }
        }
    }
    for name in [
        "rpi-3b",
        "rpi-500",
        "rpi-cm4s",
        "orange-pi-5-plus",
        "acme-one",
    ] {
        let host = host(name);
        assert_eq!(board_of(&host), "generic", "{name}");
        assert_eq!(
            board_of(&by_model_alone(&host)),
            "generic",
            "{name} by its model alone"
        );
    }
}

#[test]
fn a_chip_is_no_board() {
    // What several boards share is in no profile: the fixtures of two profiles never meet in one.
    for name in hosts::names() {
        let host = host(&name);
        let fitting: Vec<String> = all()
            .into_iter()
            .filter(|board| {
                let entries = &board.detect.compatible;
                host.compatible.iter().any(|entry| entries.contains(entry))
            })
            .map(|board| board.name)
            .collect();
        assert!(fitting.len() <= 1, "{name}: {fitting:?}");
    }
}

#[test]
fn compatible_is_believed_before_the_model() {
    let host = Host {
        model: host("rpi-4b").model,
        ..host("rpi-5")
    };
    assert_eq!(board_of(&host), "rpi-5");
}

#[test]
fn the_most_specific_compatible_is_believed_first() {
    let entries = [
        "acme,carrier",
        "raspberrypi,5-model-b",
        "raspberrypi,4-model-b",
    ];
    let host = Host {
        compatible: entries.map(str::to_owned).to_vec(),
        ..host("x86-vm")
    };
    assert_eq!(board_of(&host), "rpi-5");
}

#[test]
fn what_is_detected_is_shown_with_what_it_was_detected_from() {
    for name in ["rpi-4b", "rpi-4b-model-only", "rpi-4b-two-cpus", "x86-vm"] {
        assert_snapshot!(format!("detect-{name}"), detect(name));
    }
}

#[test]
fn a_board_whose_cpus_contradict_its_profile_is_told_so() {
    assert_eq!(profile("rock-5b").contradiction(&host("rock-5b")), None);
    assert_snapshot!("detect-rock-5b-renumbered", detect("rock-5b-renumbered"));
}

fn detect(name: &str) -> String {
    stdout(
        udpbench()
            .args(["boards", "--detect", "--root"])
            .arg(hosts::root(name)),
    )
}
