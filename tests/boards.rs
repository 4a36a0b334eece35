//! Board profiles and the machines they are for: which profile a host gets, where its threads go, and what
//! the author of a broken profile is told.
//!
//! The hosts are trees of `/proc` and `/sys` in `tests/fixtures/hosts`; see the README beside them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use insta::assert_snapshot;
use proptest::prelude::*;
use tempfile::TempDir;
use udpbench::board::{self, Board};
use udpbench::case::Threads;
use udpbench::host::Host;
use udpbench::sys::files::Root;
use udpbench::sys::sensors;

const HOSTS: &[&str] = &[
    "rk3588",
    "rpi-3b",
    "rpi-400",
    "rpi-4b",
    "rpi-4b-model-only",
    "rpi-4b-two-cpus",
    "rpi-5",
    "rpi-500",
    "x86-vm",
];

// Which board is this?

#[test]
fn a_pi_4b_is_recognised_by_its_compatible() {
    assert_snapshot!("detect-rpi-4b", detect("rpi-4b"));
}

#[test]
fn a_pi_5_with_16_kib_pages_is_recognised_by_its_compatible() {
    assert_snapshot!("detect-rpi-5", detect("rpi-5"));
}

#[test]
fn a_pi_4b_that_shows_only_its_model_is_recognised_by_its_beginning() {
    assert_snapshot!("detect-rpi-4b-model-only", detect("rpi-4b-model-only"));
}

#[test]
fn a_pi_4b_in_a_cpuset_is_still_a_pi_4b() {
    assert_snapshot!("detect-rpi-4b-two-cpus", detect("rpi-4b-two-cpus"));
}

#[test]
fn a_pi_3b_has_no_profile_and_is_generic() {
    assert_snapshot!("detect-rpi-3b", detect("rpi-3b"));
}

#[test]
fn a_pi_400_is_not_taken_for_a_pi_4b() {
    assert_snapshot!("detect-rpi-400", detect("rpi-400"));
}

#[test]
fn a_pi_500_is_not_taken_for_a_pi_5() {
    assert_snapshot!("detect-rpi-500", detect("rpi-500"));
}

#[test]
fn an_rk3588_has_no_profile_and_is_generic() {
    assert_snapshot!("detect-rk3588", detect("rk3588"));
}

#[test]
fn a_machine_without_a_device_tree_is_generic() {
    assert_snapshot!("detect-x86-vm", detect("x86-vm"));
}

#[test]
fn a_model_that_only_begins_alike_springs_no_trap() {
    for name in ["rpi-3b", "rpi-400", "rpi-500"] {
        let host = Host {
            compatible: Vec::new(),
            ..host(name)
        };
        assert_eq!(board_of(&host), "generic", "{name} by its model alone");
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

// What does the host show?

#[test]
fn big_and_little_cores_are_told_apart() {
    let cpus = host("rk3588").cpus;
    let capacities: Vec<u32> = cpus.iter().map(|cpu| cpu.capacity).collect();
    assert_eq!(capacities, [530, 530, 530, 530, 1024, 1024, 1024, 1024]);
    assert!(cpus.iter().all(|cpu| cpu.core == cpu.id));
    assert!(
        cpus.iter().all(|cpu| cpu.cache == 0),
        "one L3 for all eight"
    );
}

#[test]
fn only_the_cpus_of_the_cpuset_are_usable() {
    assert_eq!(host("rpi-4b").cpu_list(), "0,1,2,3");
    assert_eq!(host("rpi-4b-two-cpus").cpu_list(), "0,1");
}

#[test]
fn governors_are_read_where_there_is_cpufreq() {
    let governor = |name| host(name).governor;
    assert_eq!(governor("rpi-4b").as_deref(), Some("ondemand"));
    assert_eq!(
        governor("rk3588").as_deref(),
        Some("schedutil"),
        "three policies, one governor"
    );
    assert_eq!(governor("x86-vm"), None);
}

#[test]
fn the_kernel_and_its_receive_buffer_limit_are_read_everywhere() {
    for name in HOSTS {
        let host = host(name);
        let (kernel, version) = (host.kernel.expect(name), host.kernel_version.expect(name));
        assert!(
            version.starts_with(&format!("Linux version {kernel} ")),
            "{version}"
        );
        assert!(host.rmem_max.is_some(), "{name}");
    }
}

#[test]
fn the_hottest_zone_and_the_throttle_bits_are_read_where_there_are_any() {
    let sensors = |name| {
        let root = Root::new(root(name));
        (
            sensors::hottest_millic(&root),
            sensors::throttle_bits(&root),
        )
    };
    assert_eq!(sensors("rpi-4b"), (Some(48_686), Some(0)));
    // Hexadecimal without 0x, below a `soc` with an address: under-voltage and throttling in the past.
    assert_eq!(sensors("rpi-5"), (Some(51_250), Some(0x5_0000)));
    assert_eq!(
        sensors("rk3588"),
        (Some(46_230), None),
        "the big cores are hottest"
    );
    assert_eq!(sensors("x86-vm"), (None, None));
}

// Where do the threads go?

#[test]
fn a_pi_4b_follows_its_profile() {
    assert_snapshot!("plan-rpi-4b", plan("rpi-4b", "1,2,3,4,8,9"));
}

#[test]
fn a_pi_5_follows_its_profile() {
    assert_snapshot!("plan-rpi-5", plan("rpi-5", "1,2,3,4,8,9"));
}

#[test]
fn a_pi_4b_in_a_cpuset_falls_back_to_the_generic_placement_and_says_so() {
    assert_snapshot!(
        "plan-rpi-4b-two-cpus",
        plan("rpi-4b-two-cpus", "1,2,3,4,8,9")
    );
}

#[test]
fn an_unknown_big_little_board_fills_the_big_cores_first() {
    assert_snapshot!("plan-rk3588", plan("rk3588", "1,2,3,4,8"));
}

#[test]
fn two_cpus_are_shared_by_more_threads() {
    assert_snapshot!("plan-x86-vm", plan("x86-vm", "1,2,3,4,8,9"));
}

#[test]
fn a_profile_forced_on_a_machine_with_too_few_cpus_falls_back_and_says_so() {
    let mut command = plan_command("x86-vm", "1,2,4,9");
    let output = stdout(command.args(["--board", "rpi-4b"]));
    assert_snapshot!("plan-x86-vm-as-rpi-4b", output);
}

#[test]
fn more_threads_than_cpus_leave_no_cpu_idle() {
    for (name, cpus) in [("rpi-4b", 4), ("rk3588", 8), ("x86-vm", 2)] {
        let host = host(name);
        let board = board::detect(&host).expect("valid").board;
        for count in cpus..=2 * cpus {
            let placed = board.placement(threads(count), &host).expect("has a place");
            let used: BTreeSet<_> = placed.placement.cpus().flatten().collect();
            assert_eq!(
                used.len(),
                usize::from(cpus),
                "{name}, {count} threads: {used:?}"
            );
        }
    }
}

#[test]
fn every_profile_places_its_default_threads_on_its_own_board() {
    for (file, board) in profiles() {
        let Some(name) = HOSTS.iter().find(|&&name| name == file) else {
            continue; // no fixture for this board
        };
        let host = host(name);
        for &threads in &board.defaults.threads {
            let placed = board.placement(threads, &host).expect("has a place");
            assert_eq!(placed.fallback, None, "{file}, {threads} threads");
        }
    }
}

// A profile of one's own.

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
soak = "500ms"

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
            .args(["plan", "--board", "mine.toml", "--root"])
            .arg(root("rk3588"))
            .args(["--engine", "std", "--ip", "v4"]),
    );
    assert_snapshot!("plan-own-profile", output);
}

#[test]
fn an_unknown_key_is_refused() {
    assert_snapshot!("refused-unknown-key", refusal(&broken("soak =", "soack =")));
}

#[test]
fn a_missing_field_is_refused() {
    let text = broken("verified_on = [\"my desk, 2026-01-01\"]\n", "");
    assert_snapshot!("refused-missing-field", refusal(&text));
}

#[test]
fn a_missing_field_in_a_table_is_refused() {
    let text = broken("soak = \"500ms\"\n", "");
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
        (
            "\"aarch64-unknown-linux-gnu\"",
            "\"aarch64-unknown-linux-gnueabihf\"",
        ),
        (
            "\"aarch64-unknown-linux-gnu\"",
            "\"armv7-unknown-linux-gnu\"",
        ),
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
fn a_name_that_no_profile_has_is_refused_with_those_that_there_are() {
    let directory = TempDir::new().expect("can be made");
    assert_snapshot!("refused-unknown-name", refusal_of(&directory, "nope"));
}

// The profiles of this build.

#[test]
fn every_file_in_boards_is_in_the_build_under_its_own_name() {
    let profiles = profiles();
    for (file, board) in &profiles {
        assert_eq!(&board.name, file);
        assert_eq!(board::source(file), Some(text_of(file).as_str()));
    }
    let names: BTreeSet<String> = profiles.into_iter().map(|(file, _)| file).collect();
    let built: Vec<String> = all().into_iter().map(|board| board.name).collect();
    assert_eq!(built.first().map(String::as_str), Some("generic"));
    assert_eq!(built.len(), names.len(), "each name once: {built:?}");
    assert_eq!(built.into_iter().collect::<BTreeSet<_>>(), names);
}

#[test]
fn every_profile_says_what_it_is_and_where_its_facts_are_from() {
    for (file, board) in profiles() {
        let text = text_of(&file);
        assert!(text.starts_with("# "), "{file} begins with what it is");
        let has_sources = text.lines().any(|line| line.starts_with("# Sources: "));
        let is_detected = !(board.detect.compatible.is_empty() && board.detect.model.is_empty());
        assert!(has_sources || !is_detected, "{file} names its sources");
    }
}

#[test]
fn every_profile_is_detected_from_its_own_compatible_and_its_own_model() {
    for board in all() {
        for entry in &board.detect.compatible {
            let host = Host {
                compatible: vec![entry.clone()],
                ..host("x86-vm")
            };
            assert_eq!(board_of(&host), board.name, "from {entry}");
        }
        for model in &board.detect.model {
            let host = Host {
                model: Some(format!("{model} Rev 9.9")),
                ..host("x86-vm")
            };
            assert_eq!(board_of(&host), board.name, "from {model}");
        }
    }
}

#[test]
fn the_list_of_profiles_says_which_are_verified() {
    assert_snapshot!("boards", stdout(udpbench().arg("boards")));
}

#[test]
fn a_profile_is_shown_as_it_was_written() {
    for (file, _) in profiles() {
        assert_eq!(stdout(udpbench().args(["boards", &file])), text_of(&file));
    }
}

#[test]
fn a_profile_that_does_not_exist_cannot_be_shown() {
    let output = udpbench().args(["boards", "nope"]).assert().code(2);
    let message = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert!(message.contains("nope"), "{message}");
    for board in all() {
        assert!(message.contains(&board.name), "{message}");
    }
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

// No text makes the parser panic.

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused_with_a_line_that_exists(text in any::<String>()) {
        parse_or_explain(&text)?;
    }

    #[test]
    fn any_mutilated_profile_is_parsed_or_refused_with_a_line_that_exists(
        file in proptest::sample::select(profiles()),
        edits in proptest::collection::vec(edit(), 1..6),
    ) {
        let mut text = text_of(&file.0);
        for edit in &edits {
            edit.apply(&mut text);
        }
        parse_or_explain(&text)?;
    }

    #[test]
    fn any_profile_places_any_number_of_threads_or_says_why_not(
        file in proptest::sample::select(profiles()),
        count in 1..=Threads::MAX,
        name in proptest::sample::select(HOSTS),
    ) {
        places_or_explains(&file.1, threads(count), &host(name))?;
    }
}

fn parse_or_explain(text: &str) -> Result<(), TestCaseError> {
    match Board::parse(text, "any.toml") {
        Ok(board) => places_or_explains(&board, threads(3), &host("rpi-4b")),
        Err(error) => {
            let message = error.to_string();
            let line = message
                .strip_prefix("any.toml, line ")
                .and_then(|rest| rest.split_once(": "))
                .and_then(|(line, _)| line.parse().ok());
            let lines = 1..=text.matches('\n').count() + 1;
            prop_assert!(line.is_some_and(|line| lines.contains(&line)), "{message}");
            Ok(())
        }
    }
}

fn places_or_explains(board: &Board, threads: Threads, host: &Host) -> Result<(), TestCaseError> {
    match board.placement(threads, host) {
        Ok(placed) => {
            prop_assert_eq!(placed.placement.cpus().count(), threads.count());
            for cpu in placed.placement.cpus() {
                prop_assert!(cpu.is_some_and(|cpu| host.has_cpu(cpu)), "{cpu:?}");
            }
        }
        Err(reason) => prop_assert!(reason.contains("at most"), "{reason}"),
    }
    Ok(())
}

/// Some characters of a text give way to others.
#[derive(Clone, Debug)]
struct Edit {
    at: proptest::sample::Index,
    removed: usize,
    inserted: String,
}

impl Edit {
    fn apply(&self, text: &mut String) {
        let mut borders: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        borders.push(text.len());
        let first = self.at.index(borders.len());
        let last = borders.len().min(first + self.removed + 1) - 1;
        text.replace_range(borders[first]..borders[last], &self.inserted);
    }
}

fn edit() -> impl Strategy<Value = Edit> {
    // Parted by spaces: what means something in TOML, in a profile, or to nobody.
    const PIECES: &str = "\n \r\n \" \"\"\" ' [ ] [[ ]] { } = . # , \\u -1 0 99999999999999999999 1e999 nan \
        true ä \u{feff} \0 🐈 \nthreads=3\n \nsenders=[]\n \n[[loopback]]\n \n[detect]\n \nname.first=1\n";
    let piece =
        proptest::sample::select(PIECES.split(' ').collect::<Vec<_>>()).prop_map(str::to_owned);
    let inserted = prop_oneof![3 => piece, 1 => "\\PC{0,6}"];
    let parts = (any::<proptest::sample::Index>(), 0..30_usize, inserted);
    parts.prop_map(|(at, removed, inserted)| Edit {
        at,
        removed,
        inserted,
    })
}

// The fixtures themselves.

#[test]
fn every_fixture_is_used() {
    let entries = fs::read_dir(root("")).expect("is there");
    let names = entries.map(|entry| entry.expect("is readable").file_name());
    let names: BTreeSet<String> = names.filter_map(|name| name.into_string().ok()).collect();
    assert_eq!(names, HOSTS.iter().map(|&name| name.to_owned()).collect());
}

#[test]
fn device_tree_strings_end_in_nul_and_all_other_files_in_a_newline() {
    for name in HOSTS {
        for file in files_below(&root(name)) {
            let bytes = fs::read(&file).expect("is readable");
            let is_device_tree = file.to_string_lossy().contains("device-tree");
            let end = if is_device_tree { b'\0' } else { b'\n' };
            assert_eq!(bytes.last(), Some(&end), "{}", file.display());
            assert_eq!(bytes.contains(&b'\0'), is_device_tree, "{}", file.display());
            assert!(!bytes.contains(&b'\r'), "{}", file.display());
            assert!(
                !(is_device_tree && bytes.contains(&b'\n')),
                "{}",
                file.display()
            );
        }
    }
}

// What the tests are made of.

fn udpbench() -> Command {
    assert_cmd::cargo::cargo_bin_cmd!("udpbench")
}

/// What a command that succeeds without complaint prints.
fn stdout(command: &mut Command) -> String {
    let assert = command.assert().success().stderr("");
    String::from_utf8(assert.get_output().stdout.clone()).expect("is text")
}

fn root(name: &str) -> PathBuf {
    let root = package().join("tests/fixtures/hosts").join(name);
    // A missing tree would pass for a machine that shows nothing.
    assert!(root.is_dir(), "{}", root.display());
    root
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn host(name: &str) -> Host {
    Host::read(&Root::new(root(name)))
}

fn board_of(host: &Host) -> String {
    board::detect(host).expect("valid profiles").board.name
}

fn detect(name: &str) -> String {
    stdout(
        udpbench()
            .args(["boards", "--detect", "--root"])
            .arg(root(name)),
    )
}

fn plan(name: &str, threads: &str) -> String {
    stdout(&mut plan_command(name, threads))
}

fn plan_command(name: &str, threads: &str) -> Command {
    let mut command = udpbench();
    command.arg("plan").arg("--root").arg(root(name));
    command.args(["--threads", threads, "--payload", "300", "--engine", "std"]);
    command.args(["--connection", "connected", "--ip", "v4"]);
    command
}

fn threads(count: u16) -> Threads {
    count.try_into().expect("in range")
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

/// What is said about a profile that cannot be used: always the file and the line.
fn refusal(profile: &str) -> String {
    let message = refusal_of(&with_file("mine.toml", profile), "mine.toml");
    assert!(message.starts_with("error: mine.toml, line "), "{message}");
    message
}

/// What is said about `--board choice` in `directory`.
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

fn all() -> Vec<Board> {
    board::all().expect("valid profiles")
}

fn boards() -> PathBuf {
    package().join("boards")
}

fn text_of(file: &str) -> String {
    fs::read_to_string(boards().join(format!("{file}.toml"))).expect("is readable")
}

/// Every profile in `boards/`, by the name of its file.
fn profiles() -> Vec<(String, Board)> {
    let mut files = files_below(&boards());
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "toml")
    });
    files.sort();
    let profile = |file: &PathBuf| {
        let name = file.file_stem().expect("has a name").to_string_lossy();
        let board = Board::parse(&text_of(&name), &name).expect("is valid");
        (name.into_owned(), board)
    };
    files.iter().map(profile).collect()
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("is readable");
    let paths = entries.map(|entry| entry.expect("is readable").path());
    let files = paths.flat_map(|path| {
        if path.is_dir() {
            files_below(&path)
        } else {
            vec![path]
        }
    });
    files.collect()
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
