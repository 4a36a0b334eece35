//! Checks of the built-in profiles.

use std::collections::BTreeSet;
use std::fs;

use insta::assert_snapshot;
use udpbench::host::board::{self, Board};

use super::{all, boards, package, stdout, text_of, udpbench};

#[test]
fn every_file_in_boards_is_in_the_build_under_its_own_name() {
    let entries = fs::read_dir(boards()).expect("is readable");
    let files = entries.map(|entry| entry.expect("is readable").path());
    let files = files.filter(|file| {
        file.extension()
            .is_some_and(|extension| extension == "toml")
    });
    let names: BTreeSet<String> = files
        .map(|file| {
            file.file_stem()
                .expect("has a name")
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    for name in &names {
        assert_eq!(board::source(name), Some(text_of(name).as_str()));
    }
    let built: Vec<String> = all().into_iter().map(|board| board.name).collect();
    assert_eq!(built.first().map(String::as_str), Some("generic"));
    assert!(built[1..].is_sorted(), "{built:?}");
    assert_eq!(built.len(), names.len(), "each name once: {built:?}");
    assert_eq!(built.into_iter().collect::<BTreeSet<_>>(), names);
}

#[test]
fn every_profile_says_what_it_is_and_where_its_facts_are_from() {
    for board in all() {
        let text = text_of(&board.name);
        assert!(text.starts_with("# "), "{board} begins with what it is");
        let has_sources = text.lines().any(|line| line.starts_with("# Sources: "));
        let is_detected = !(board.detect.compatible.is_empty() && board.detect.model.is_empty());
        assert!(has_sources || !is_detected, "{board} names its sources");
        assert!(
            text.contains(" judgement") || !is_detected,
            "{board} says what is judgement"
        );
        for line in text.lines() {
            assert!(line.chars().count() <= 110, "{board}: {line}");
        }
    }
}

#[test]
fn every_profile_says_what_runs_on_it_and_what_it_cannot_do() {
    for board in all() {
        assert!(!board.targets.is_empty(), "{board}");
        assert!(!board.limits.is_empty(), "{board}");
        for limit in &board.limits {
            let is_part = !limit.ends_with('.') && limit.chars().count() <= 92;
            assert!(
                is_part,
                "{board}: {limit}: stands in a list, without a full stop"
            );
        }
    }
}

#[test]
fn no_entry_is_in_two_profiles() {
    let mut seen = BTreeSet::new();
    for board in all() {
        for entry in board.detect.compatible.iter().chain(&board.detect.model) {
            assert!(seen.insert(entry.clone()), "{board}: {entry}");
        }
    }
}

#[test]
fn every_board_but_generic_says_which_cpus_it_has() {
    for board in all() {
        assert_eq!(board.cpus.is_none(), board.name == "generic", "{board}");
    }
}

#[test]
fn the_list_of_profiles_says_which_are_verified() {
    let list = stdout(udpbench().arg("boards"));
    for line in list.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    assert_snapshot!("list", list);
}

#[test]
fn a_profile_is_shown_as_it_was_written() {
    for board in all() {
        let shown = stdout(udpbench().args(["boards", &board.name]));
        assert_eq!(shown, text_of(&board.name));
    }
}

#[test]
fn a_profile_that_does_not_exist_cannot_be_shown() {
    let output = udpbench().args(["boards", "nope"]).assert().code(2);
    let message = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert_snapshot!("nope", message);
}

#[test]
fn the_readme_counts_the_boards() {
    let readme = fs::read_to_string(package().join("README.md")).expect("is there");
    let boards = format!("profiles of {} boards", all().len() - 1);
    assert!(readme.contains(&boards), "{boards}");
}

// Each profile with one thing broken.

#[test]
fn a_missing_field_of_any_profile_is_refused_at_its_table() {
    const OPTIONAL: &[&str] = &["compatible", "model", "big", "critical_c"];
    for (board, key, text, line) in all().iter().flat_map(each_key_removed) {
        let refusal = Board::parse(&text, "mine.toml").map(|board| board.name);
        if OPTIONAL.contains(&key.as_str()) {
            assert_eq!(refusal, Ok(board), "{key} is optional");
            continue;
        }
        let message = refusal.expect_err(&key).to_string();
        let expected = format!("mine.toml, line {line}: missing field `{key}`");
        assert_eq!(message, expected, "{board}");
    }
}

#[test]
fn an_unknown_key_in_any_profile_is_refused_at_its_line() {
    let mut tried = 0;
    for board in all() {
        let text = text_of(&board.name);
        for (n, (key, line)) in keyed_lines(&text) {
            let broken = replaced(&text, n, &line.replacen(&key, &format!("{key}_x"), 1));
            let message = Board::parse(&broken, "mine.toml")
                .expect_err(&key)
                .to_string();
            let expected = format!(
                "mine.toml, line {}: unknown field `{key}_x`, expected ",
                n + 1
            );
            assert!(message.starts_with(&expected), "{board}: {message}");
            tried += 1;
        }
    }
    assert!(tried > 20 * all().len(), "{tried}");
}

#[test]
fn a_wrong_cpu_in_any_profile_is_refused_at_its_line() {
    let mut tried = 0;
    for board in all() {
        let Some(cpus) = &board.cpus else {
            continue; // generic
        };
        let (text, wrong) = (text_of(&board.name), cpus.count);
        for (n, (key, line)) in keyed_lines(&text) {
            let is_list = ["senders", "receivers", "cpus", "big"].contains(&key.as_str());
            if !is_list || line.ends_with("[]") {
                continue;
            }
            let (head, list) = line.split_once('[').expect("is a list");
            let end = list.find([',', ']']).expect("has an end");
            let broken = replaced(&text, n, &format!("{head}[{wrong}{}", &list[end..]));
            let message = Board::parse(&broken, "mine.toml")
                .expect_err(&key)
                .to_string();
            let expected = format!("mine.toml, line {}: no CPU {wrong}: ", n + 1);
            assert!(message.starts_with(&expected), "{board}: {message}");
            tried += 1;
        }
    }
    assert!(tried > 5 * all().len(), "{tried}");
}

/// Every `key = value` of a profile's text: its line, counted from 0, its key, the line itself.
fn keyed_lines(text: &str) -> impl Iterator<Item = (usize, (String, String))> {
    text.lines().enumerate().filter_map(|(n, line)| {
        let (key, _) = line.split_once(" = ")?;
        let is_key = key
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        is_key.then(|| (n, (key.to_owned(), line.to_owned())))
    })
}

/// The text with another line `n`.
fn replaced(text: &str, n: usize, line: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines[n] = line;
    lines.join("\n")
}

/// Each key of a profile: the profile, the key, the text without it, and the line of its table.
fn each_key_removed(board: &Board) -> Vec<(String, String, String, usize)> {
    let text = text_of(&board.name);
    let lines: Vec<&str> = text.lines().collect();
    let removed = keyed_lines(&text).map(|(n, (key, line))| {
        // A list may go on until a line that closes it.
        let more = if line.ends_with('[') {
            lines[n..]
                .iter()
                .position(|line| *line == "]")
                .expect("is closed")
        } else {
            0
        };
        let rest: Vec<&str> = [&lines[..n], &lines[n + more + 1..]].concat();
        let table = lines[..n].iter().rposition(|line| line.starts_with('['));
        let table = table.map_or(1, |at| at + 1);
        (board.name.clone(), key, rest.join("\n"), table)
    });
    removed.collect()
}
