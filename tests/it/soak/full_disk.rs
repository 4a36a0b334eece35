//! A soak whose log is on a disk that fills up.

use std::fs;
use std::process::{Command, Output};

use crate::common::{Place, assert_code, path_with_program, program, stderr, stdout, words};
use crate::soak::log;

/// Runs a soak whose disk fills up once the log has begun. `then` are commands that follow a second later. `None`, with
/// the reason: this machine cannot have such a disk.
fn soak(place: &Place, then: &str) -> Option<Output> {
    // A tmpfs counts pages: the long name fills the first one with the header, so that nothing more fits.
    let script = format!(
        "mkdir disk && mount -t tmpfs -o size=16k tmpfs disk || exit 77
         cd disk; name=$(printf './%.0s' $(seq 1750))soak.jsonl
         $0 soak --for 6s --rate 500 -o $name & soak=$!
         while ! [ -s soak.jsonl ]; do sleep 0.1; done
         cat /dev/zero >fill 2>/dev/null; echo it is full
         while far=$(cat /proc/$soak/task/*/children) && [ -z \"$far\" ]; do sleep 0.1; done
         sleep 1; for far in $far; do kill -STOP $far; sleep 1.2; kill -CONT $far; done
         sleep 2; {then}; wait $soak; code=$?; cp soak.jsonl ..; exit $code"
    );
    let mut unshare = Command::new("unshare");
    unshare
        // If the soak ends early, a loop of the script has no end.
        .args(["--map-root-user", "--mount", "timeout", "240"])
        .args(["sh", "-c", &script])
        .arg(program().get_program())
        .env("PATH", path_with_program())
        .current_dir(place.path("."));
    let output = unshare.output().expect("unshare starts");
    let said = stderr(&output);
    if output.status.code() == Some(77) || said.starts_with("unshare:") {
        eprintln!("SKIPPED: {said}");
        return None;
    }
    Some(output)
}

#[test]
fn a_full_disk_does_not_end_a_soak_and_its_log_is_whole_once_there_is_room() {
    let place = Place::new();
    let Some(output) = soak(&place, "rm fill") else {
        return;
    };
    assert_code(&output, 0);
    let said = stderr(&output);
    assert!(said.contains("No space left on device"), "{said}");
    assert!(
        said.contains("is written again; nothing of it is missing"),
        "{said}"
    );
    let log = log(&place.path("soak.jsonl"));
    // A busy machine adds other events.
    assert!(
        log.events()
            .any(|event| event.longest_silence_ns > 1_000_000_000)
    );
    let shown = words(&stdout(&output));
    assert!(shown.contains(&words(&log.summary().text(80))), "{shown}");
}

#[test]
fn a_soak_without_a_log_shows_its_events_and_summary_and_fails() {
    let place = Place::new();
    let Some(output) = soak(&place, ":") else {
        return;
    };
    assert_code(&output, 1);
    let shown = stdout(&output);
    let (events, summary) = shown.split_once("\nsoak ").expect("a summary");
    assert!(events.contains("  silence "), "{shown}");
    assert!(
        summary.contains("silence of 1 s to 10 s") && !summary.contains("not to its end"),
        "{shown}"
    );
    let said = stderr(&output);
    assert!(
        said.contains(" lines: No space left on device") && said.contains("df -h"),
        "{said}"
    );
    let log = fs::read_to_string(place.path("soak.jsonl")).expect("text");
    // A short line may have found room.
    assert!(!log.contains("\"event\"") && log.ends_with('\n'), "{log}");
}
