//! Users' own profiles, valid and broken.

use std::collections::BTreeSet;
use std::fs;

use insta::assert_snapshot;
use tempfile::TempDir;
use udpbench::host::board::Board;

use crate::common::hosts;

use super::{boards, plan_command, stdout, udpbench};

/// A complete profile. The tests break one line each.
const MINE: &str = r#"# Mine.
name = "mine"
title = "My board"
verified_on = ["my desk, 2026-01-01"]
targets = ["aarch64-unknown-linux-gnu"]
limits = ["it hums"]

[detect]
compatible = ["acme,board"]
model = ["Acme Board"]

[cpus]
count = 8
big = [4, 5, 6, 7]

[defaults]
threads = [2]
payload = [26]

[timing]
warmup = "20ms"
heat = "500ms"

[cooldown]
below_c = 60
at_most = "120s"

[throttle]
from_c = 80
critical_c = 85

[[loopback]]
threads = 2
senders = [6]
receivers = [7]

[[wire]]
threads = 1
cpus = [7]
"#;

#[test]
fn a_profile_of_ones_own_brings_its_defaults_and_its_placement() {
    let directory = with_file("mine.toml", MINE);
    let output = stdout(
        udpbench()
            .current_dir(&directory)
            .args([
                "plan",
                "--full",
                "--details",
                "--board",
                "mine.toml",
                "--root",
            ])
            .arg(hosts::root("rock-5b"))
            .args(["--engine", "std", "--ip", "v4"]),
    );
    assert_snapshot!("plan-own-profile", output);
}

#[test]
fn an_unknown_key_is_refused() {
    assert_snapshot!("refused-unknown-key", refusal(&broken("heat =", "haet =")));
}

#[test]
fn a_missing_field_is_refused() {
    let text = broken("verified_on = [\"my desk, 2026-01-01\"]\n", "");
    assert_snapshot!("refused-missing-field", refusal(&text));
}

#[test]
fn a_missing_field_in_a_table_is_refused() {
    let text = broken("heat = \"500ms\"\n", "");
    assert_snapshot!("refused-missing-field-in-table", refusal(&text));
}

#[test]
fn a_wrong_type_is_refused() {
    let text = broken("threads = [2]", "threads = \"2\"");
    assert_snapshot!("refused-wrong-type", refusal(&text));
}

#[test]
fn a_thread_count_out_of_range_is_refused() {
    let text = broken("threads = [2]", "threads = [2, 257]");
    assert_snapshot!("refused-threads-out-of-range", refusal(&text));
}

#[test]
fn a_payload_out_of_range_is_refused() {
    let text = broken("payload = [26]", "payload = [65508]");
    assert_snapshot!("refused-payload-out-of-range", refusal(&text));
}

#[test]
fn a_duration_without_a_unit_is_refused() {
    let text = broken("warmup = \"20ms\"", "warmup = \"20\"");
    assert_snapshot!("refused-duration-without-unit", refusal(&text));
}

#[test]
fn a_duration_that_is_none_is_refused() {
    let text = broken("at_most = \"120s\"", "at_most = \"a while\"");
    assert_snapshot!("refused-bad-duration", refusal(&text));
}

#[test]
fn too_few_cpus_for_a_thread_count_are_refused() {
    let text = broken("\nthreads = 2\n", "\nthreads = 4\n");
    assert_snapshot!("refused-too-few-cpus", refusal(&text));
}

#[test]
fn what_contradicts_itself_is_refused_at_its_line() {
    let breaks = [
        ("count = 8", "count = 0"),
        ("count = 8", "count = 7"),
        ("big = [4, 5, 6, 7]", "big = [4, 8]"),
        ("big = [4, 5, 6, 7]", "big = [5, 5]"),
        ("big = [4, 5, 6, 7]", "big = [0, 1, 2, 3, 4, 5, 6, 7]"),
        ("below_c = 60", "below_c = 80"),
        ("critical_c = 85", "critical_c = 80"),
        ("senders = [6]", "senders = [8]"),
        ("receivers = [7]", "receivers = [8]"),
        ("receivers = [7]", "receivers = [6]"),
        ("cpus = [7]", "cpus = [8]"),
        ("cpus = [7]", "cpus = [6, 7]"),
        ("threads = 1\ncpus = [7]", "threads = 2\ncpus = [7, 7]"),
        (
            "threads = 1\ncpus = [7]",
            "threads = 1\ncpus = [7]\n[[wire]]\nthreads = 1\ncpus = [6]",
        ),
        (
            "limits = [\"it hums\"]",
            "limits = [\n  \"it hums\",\n  \" \",\n]",
        ),
        ("model = [\"Acme Board\"]", "model = [\"\"]"),
        ("\"aarch64-unknown-linux-gnu\"", "\"aarch64-linux-gnu\""),
        ("\"aarch64-unknown-linux-gnu\"", ""),
    ];
    let told = breaks.map(|(from, to)| format!("{to:?}\n{}", refusal(&broken(from, to))));
    assert_snapshot!("refused-contradictions", told.join("\n"));
}

#[test]
fn a_receiver_in_the_one_thread_mode_is_refused() {
    let text = broken("\nthreads = 2\n", "\nthreads = 1\n");
    assert_snapshot!("refused-receiver-of-one-thread", refusal(&text));
}

#[test]
fn a_file_that_is_not_toml_is_refused() {
    let text = "Which CPUs?\nAny that are free.\n";
    assert_snapshot!("refused-not-toml", refusal(text));
}

#[test]
fn an_empty_file_is_refused() {
    assert_snapshot!("refused-empty", refusal(""));
}

#[test]
fn a_file_that_is_not_there_is_refused() {
    let directory = TempDir::new().expect("can be made");
    assert_snapshot!("refused-nonexistent", refusal_of(&directory, "mine.toml"));
}

#[test]
fn a_directory_is_refused() {
    let directory = TempDir::new().expect("can be made");
    fs::create_dir(directory.path().join("mine.toml")).expect("can be made");
    assert_snapshot!("refused-directory", refusal_of(&directory, "mine.toml"));
}

#[test]
fn a_file_that_is_not_text_is_refused() {
    let directory = with_file("mine.toml", b"name = \"\xff\"\n");
    assert_snapshot!("refused-not-text", refusal_of(&directory, "mine.toml"));
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;

    let directory = with_file("mine.toml", MINE);
    let file = directory.path().join("mine.toml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).expect("is ours");
    if fs::read(&file).is_ok() {
        return; // root may read everything
    }
    assert_snapshot!("refused-unreadable", refusal_of(&directory, "mine.toml"));
}

#[test]
fn a_name_that_no_profile_has_is_refused_with_the_way_to_those_that_there_are() {
    let directory = TempDir::new().expect("can be made");
    assert_snapshot!("refused-unknown-name", refusal_of(&directory, "nope"));
}

#[test]
fn the_readme_explains_every_field_and_its_example_is_a_profile() {
    let readme = fs::read_to_string(boards().join("README.md")).expect("is there");
    for name in keys(&MINE.parse().expect("is TOML")) {
        let spellings = [
            format!("`{name}`"),
            format!("`[{name}]`"),
            format!("`[[{name}]]`"),
        ];
        let is_explained = spellings.iter().any(|spelling| readme.contains(spelling));
        assert!(is_explained, "{name}");
    }
    let (_, example) = readme.split_once("```toml\n").expect("has an example");
    let (example, _) = example.split_once("```").expect("ends");
    Board::parse(example, "boards/README.md").expect("is a profile");
}

/// [`MINE`] with one thing changed.
fn broken(from: &str, to: &str) -> String {
    assert_eq!(MINE.matches(from).count(), 1, "{from}");
    MINE.replace(from, to)
}

fn with_file(name: &str, content: impl AsRef<[u8]>) -> TempDir {
    let directory = TempDir::new().expect("can be made");
    fs::write(directory.path().join(name), content).expect("can be written");
    directory
}

/// Returns the error for a profile that cannot be used. It names the file and the line.
fn refusal(profile: &str) -> String {
    let message = refusal_of(&with_file("mine.toml", profile), "mine.toml");
    assert!(message.starts_with("error: mine.toml, line "), "{message}");
    message
}

/// Returns the error for `--board choice` in `directory`.
fn refusal_of(directory: &TempDir, choice: &str) -> String {
    let mut command = plan_command("rpi-4b", "1");
    let assert = command
        .current_dir(directory)
        .args(["--board", choice])
        .assert()
        .code(2)
        .stdout("");
    String::from_utf8(assert.get_output().stderr.clone()).expect("is text")
}

/// The keys of a table and of the tables in it.
fn keys(table: &toml::Table) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (name, value) in table {
        names.insert(name.clone());
        let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
        for inner in std::iter::once(value).chain(list) {
            names.extend(inner.as_table().map(keys).unwrap_or_default());
        }
    }
    names
}
