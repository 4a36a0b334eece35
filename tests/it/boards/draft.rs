//! Drafts of profiles for boards that have none.

use std::fs;

use insta::assert_snapshot;
use proptest::prelude::*;
use tempfile::TempDir;
use udpbench::host::board::{self, Board};
use udpbench::host::facts::Host;
use udpbench::sys::files::Root;

use crate::common::hosts;

use super::{all, board_of, by_model_alone, host, profile, stdout, threads, udpbench};

#[test]
fn a_draft_says_what_was_read_and_what_is_left_to_decide() {
    for name in ["acme-one", "rpi-4b-two-cpus", "x86-vm"] {
        let draft = draft(&host(name), name);
        let target = format!("targets = [{:?}]", udpbench::TARGET);
        assert_eq!(draft.matches(&target).count(), 1, "{draft}");
        assert_snapshot!(
            format!("draft-{name}"),
            draft
                .replace(&target, "targets = [TARGET]")
                .replace(udpbench::VERSION, "VERSION")
        );
    }
}

#[test]
fn a_draft_is_a_profile_that_places_as_generic_does() {
    for name in hosts::names() {
        let host = host(&name);
        let draft = parsed(&host, &name);
        assert_eq!(draft.targets, [udpbench::TARGET]);
        assert_eq!(draft.contradiction(&host), None, "{name}");
        for count in [1, 2, 4] {
            let [placed, generic] = [&draft, &profile("generic")]
                .map(|board| board.placement(threads(count), &host).expect("has a place"));
            assert_eq!(
                placed.placement, generic.placement,
                "{name}, {count} threads"
            );
            assert_eq!(placed.fallback_reason, None, "{name}, {count} threads");
        }
    }
}

#[test]
fn a_draft_that_is_added_is_what_its_board_is_recognised_as() {
    for name in hosts::names() {
        let host = host(&name);
        // Nothing says which board it is.
        if host.compatible.is_empty() && host.model.is_none() {
            continue;
        }
        let draft = parsed(&host, &name);
        for host in [by_model_alone(&host), host] {
            let mut boards = all();
            boards.retain(|board| board.name != board_of(&host) || board.name == board::GENERIC);
            boards.push(draft.clone());
            assert_eq!(
                board::detect_among(boards, &host).board.name,
                draft.name,
                "{name}"
            );
        }
    }
}

#[test]
fn a_draft_can_be_used_as_it_is() {
    let directory = TempDir::new().expect("can be made");
    let drafted = stdout(
        udpbench()
            .args(["boards", "--new", "--root"])
            .arg(hosts::root("acme-one")),
    );
    fs::write(directory.path().join("acme-one.toml"), drafted).expect("can be written");
    let mut command = udpbench();
    command.current_dir(&directory).args([
        "plan",
        "--full",
        "--details",
        "--board",
        "./acme-one.toml",
        "--root",
    ]);
    command
        .arg(hosts::root("acme-one"))
        .args(["--engine", "std", "--ip", "v4", "--payload", "26"]);
    assert_snapshot!(
        "plan-with-draft",
        stdout(command.args(["--connection", "connected"]))
    );
}

#[test]
fn a_board_that_has_a_profile_is_drafted_all_the_same() {
    let output = udpbench()
        .args(["boards", "--new", "--root"])
        .arg(hosts::root("rpi-4b"))
        .assert()
        .success();
    let said = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert_eq!(
        said,
        "this board has a profile, rpi-4b: the device tree is compatible with \
         raspberrypi,4-model-b\n"
    );
    let drafted = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    assert!(
        drafted.contains("name = \"raspberrypi-4-model-b\""),
        "{drafted}"
    );
}

#[test]
fn a_machine_that_shows_nothing_still_gets_a_draft() {
    let empty = TempDir::new().expect("can be made");
    let root = Root::new(empty.path());
    let drafted = board::draft(&Host::default(), &root);
    let board = Board::parse(&drafted, "draft").expect("is a profile");
    assert_eq!(
        (board.name.as_str(), board.title.as_str()),
        ("my-board", "My board")
    );
}

proptest! {
    #[test]
    fn whatever_a_machine_calls_itself_its_draft_is_a_profile(
        compatible in proptest::collection::vec(any::<String>(), 0..3),
        model in proptest::option::of(any::<String>()),
        kernel in proptest::option::of(any::<String>()),
    ) {
        let host = Host { compatible, model, kernel, ..Host::default() };
        let drafted = board::draft(&host, &Root::new(hosts::root("rpi-4b")));
        if let Err(error) = Board::parse(&drafted, "draft") {
            prop_assert!(false, "{error}\n{drafted}");
        }
    }
}

fn draft(host: &Host, name: &str) -> String {
    board::draft(host, &Root::new(hosts::root(name)))
}

fn parsed(host: &Host, name: &str) -> Board {
    let draft = draft(host, name);
    for line in draft.lines() {
        assert!(line.chars().count() <= 110, "{name}: {line}");
    }
    Board::parse(&draft, name).expect("is a profile")
}
