//! Tests of `udpbench compare`, the whole program: exit codes, and invalid files.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use std::sync::LazyLock;

use crate::common::made_up::{MadeUp, measured_pps};
use crate::common::{Place, assert_code, stderr, stdout};
use udpbench::data::Case;

const SWEEP: &str = "--engine null,std,nix --ip v4 --board generic --pin none --heat 0s --warmup 1ms \
                     --duration 30ms --seed 7 --threads 2 --connection connected --rounds 6";

/// The log of a sweep, which is measured once for all tests.
static MEASURED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let place = Place::new();
    let output = place.run(&format!("{SWEEP} --payload 1,2,3,4,5 -o run.csv"));
    assert_code(&output, 0);
    fs::read(place.path("run.jsonl")).expect("a log")
});

/// Two logs of one sweep: `base.jsonl`, and `new.jsonl` in which the engine `null` has `factor` times the speed.
fn place_with(factor: f64) -> Place {
    place_with_noise(factor, 0.01)
}

/// The speed of the windows goes up and down by `noise`, as a fraction.
fn place_with_noise(factor: f64, noise: f64) -> Place {
    let place = Place::new();
    fs::write(place.path("base.jsonl"), &*MEASURED).expect("written");
    let pps = |case: &Case, round: u32, factor: f64| {
        let payload = case.payload.bytes();
        let letters = case.sender.to_string().len();
        // Every block agrees to a hair: what is judged here is the program, not the machine.
        let step = (7 * round as usize + 3 * payload + letters) % 11;
        let window = 1.0 + noise * (step as f64 / 5.0 - 1.0);
        1e7 * factor * window * (1.0 + 0.001 * payload as f64)
    };
    let base = MadeUp::from(&place.path("base.jsonl"));
    let new = MadeUp::from(&place.path("base.jsonl"));
    let base = base.with_speeds(|case, sample| pps(case, sample.round, 1.0));
    let new = new.with_speeds(|case, sample| {
        let is_changed = case.sender.to_string() == "null";
        pps(
            case,
            sample.round + 1,
            if is_changed { factor } else { 1.0 },
        )
    });
    base.write(&place.path("base.jsonl"));
    new.write(&place.path("new.jsonl"));
    place
}

fn code_of(place: &Place, arguments: &str) -> (Option<i32>, String, String) {
    let output = place.run(arguments);
    (output.status.code(), stdout(&output), stderr(&output))
}

#[test]
fn nothing_slower_is_0_and_something_slower_is_3() {
    for (factor, expected, word) in [(1.0, 0, "same"), (0.8, 3, "slower"), (1.25, 0, "faster")] {
        let place = place_with(factor);
        let (code, text, errors) = code_of(&place, "compare base.jsonl new.jsonl");
        assert_eq!(code, Some(expected), "{text}{errors}");
        assert!(text.contains(word), "{text}");
        assert!(!text.contains('\u{1b}'), "no colours in a pipe: {text}");
    }
}

/// A real change of 20 % is not seen in much noise, and is not denied either.
#[test]
fn a_change_that_cannot_be_told_is_4_unless_that_is_accepted() {
    // As on a machine with other work.
    let place = place_with_noise(0.8, 0.9);
    let (code, text, _) = code_of(&place, "compare base.jsonl new.jsonl");
    assert_eq!(code, Some(4), "{text}");
    assert!(
        text.starts_with("Inconclusive: new.jsonl against base.jsonl"),
        "{text}"
    );
    assert!(text.contains("Would "), "{text}");
    let (code, _, _) = code_of(&place, "compare base.jsonl new.jsonl --accept inconclusive");
    assert_eq!(code, Some(0));
}

/// Two runs of one block, `before` and `after`, as on a machine without other programs.
fn before_and_after() -> Place {
    let place = Place::new();
    for name in ["before", "after"] {
        assert_code(&place.run(&format!("{SWEEP} --payload 2 -o {name}.csv")), 0);
        let log = place.path(&format!("{name}.jsonl"));
        let undisturbed = MadeUp::from(&log).with_speeds(|_, sample| measured_pps(sample));
        undisturbed.write(&log);
    }
    place
}

/// README's and the help's `--threads 4 --payload 1460`: one block.
#[test]
fn two_runs_with_one_payload_are_unclear_and_the_printed_commands_measure_again() {
    let place = before_and_after();
    let (code, text, errors) = code_of(&place, "compare before.csv after.csv");
    assert_eq!(code, Some(4), "{text}{errors}");
    assert!(
        text.contains("unclear: one block, and one sweep on a side"),
        "{text}"
    );
    let commands = text.lines().filter_map(|line| line.split_once("udpbench "));
    let commands: Vec<&str> = commands.map(|(_, command)| command).collect();
    let [measure, compare] = commands[..] else {
        panic!("two commands: {text}");
    };
    assert!(measure.ends_with(" --output after.again.csv"), "{text}");
    assert_eq!(compare, "compare before.csv -- after.csv after.again.csv");
    let output = place.shell(&format!("$udpbench {measure}"));
    assert_code(&output, 0);
    let (code, text, errors) = code_of(&place, compare);
    assert!([Some(0), Some(3), Some(4)].contains(&code), "{errors}");
    let is_disturbed = text.contains("lost CPU time to other programs");
    assert!(text.contains("null") || is_disturbed, "{text}");
}

#[test]
fn runs_with_other_buffers_are_refused_with_the_two_cases_and_what_compares_settings() {
    let place = Place::new();
    for (name, bytes) in [("before", 65_536), ("after", 131_072)] {
        let run = format!("{SWEEP} --payload 2 --rcvbuf {bytes} -o {name}.csv");
        assert_code(&place.run(&run), 0);
    }
    let (code, _, errors) = code_of(&place, "compare before.csv after.csv");
    assert_eq!(code, Some(2), "{errors}");
    for said in [
        "/rcvbuf65536",
        "/rcvbuf131072",
        "udpbench ab measures two settings",
    ] {
        assert!(errors.contains(said), "{said}: {errors}");
    }
}

#[test]
fn a_threshold_above_the_change_makes_it_0() {
    let place = place_with(0.8);
    let (code, text, _) = code_of(&place, "compare base.jsonl new.jsonl --threshold 30%");
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn each_side_may_have_several_runs() {
    let place = place_with(0.8);
    for (from, to) in [("base.jsonl", "base2.jsonl"), ("new.jsonl", "new2.jsonl")] {
        fs::copy(place.path(from), place.path(to)).expect("copied");
    }
    let (code, text, _) = code_of(
        &place,
        "compare base.jsonl base2.jsonl -- new.jsonl new2.jsonl",
    );
    assert_eq!(code, Some(3), "{text}");
    assert!(
        text.starts_with("new.jsonl, new2.jsonl against base.jsonl, base2.jsonl"),
        "{text}"
    );
    // By its name, by another one, and by that of the rows.
    fs::write(place.path("base.csv"), "").expect("written");
    for again in ["base.jsonl", "./base.jsonl", "base.csv"] {
        let (code, _, errors) = code_of(&place, &format!("compare base.jsonl {again}"));
        assert_eq!(code, Some(2));
        assert!(errors.contains("given twice"), "{errors}");
    }
    let (code, _, errors) = code_of(&place, "compare base.jsonl base2.jsonl new.jsonl");
    assert_eq!(code, Some(2));
    assert!(errors.contains("compare BEFORE... -- AFTER..."), "{errors}");
}

#[test]
fn a_closed_pipe_changes_no_verdict() {
    let place = place_with(0.8);
    let (reader, writer) = UnixStream::pair().expect("a pair of sockets");
    drop(reader);
    let mut command = place.udpbench("compare base.jsonl new.jsonl");
    let output = command
        .stdout(OwnedFd::from(writer))
        .output()
        .expect("it starts");
    assert_eq!(
        (output.status.code(), stderr(&output)),
        (Some(3), String::new())
    );
}

#[test]
fn colours_are_only_where_they_are_wanted() {
    let place = place_with(0.8);
    let text = |name: &str| {
        let mut command = place.udpbench("compare base.jsonl new.jsonl");
        let plain = command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        stdout(&plain.env(name, "1").output().expect("it starts"))
    };
    assert!(text("CLICOLOR_FORCE").contains("\u{1b}[31m"));
    assert!(!text("NO_COLOR").contains('\u{1b}'));
}

#[test]
fn rows_for_programs_say_the_same() {
    let place = place_with(0.8);
    let (code, text, _) = code_of(&place, "compare base.jsonl new.jsonl --format csv");
    assert_eq!(code, Some(3));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    let value = |row: &csv::StringRecord, name: &str| {
        let column = header
            .iter()
            .position(|found| found == name)
            .expect("a column");
        row[column].to_owned()
    };
    let engines: Vec<_> = rows
        .iter()
        .filter(|row| value(row, "kind") == "engine")
        .collect();
    let [_, engine, _] = engines[..] else {
        panic!("{text}")
    };
    assert_eq!(
        (value(engine, "label"), value(engine, "verdict")),
        ("null".into(), "slower".into())
    );
    let change: f64 = value(engine, "change_pct").parse().expect("a number");
    assert!((change + 20.0).abs() < 1.0, "{change}");
    assert_eq!(
        rows.iter()
            .filter(|row| value(row, "kind") == "case")
            .count(),
        15
    );

    let (code, text, _) = code_of(&place, "compare base.jsonl new.jsonl --format json");
    assert_eq!(code, Some(3));
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    // 3 engines, each with 5 payloads, and 15 cases.
    assert_eq!(json["verdict"], "worse");
    let json = &json["rows"];
    assert_eq!(json.as_array().map(Vec::len), Some(33));
    assert_eq!(json[6]["label"], "null");
    assert_eq!(json[6]["verdict"], "slower");

    let (code, text, _) = code_of(&place, "compare base.jsonl new.jsonl --format markdown");
    assert_eq!(code, Some(3));
    assert!(text.starts_with("**worse**\n\n```text\n"), "{text}");
    assert!(
        text.ends_with("\n```\n") && text.lines().count() < 40,
        "{text}"
    );
}

#[test]
fn what_is_no_result_is_2_and_said() {
    let place = place_with(1.0);
    fs::write(place.path("empty.jsonl"), "").expect("written");
    fs::write(place.path("rows.csv"), "case,status\n").expect("written");
    fs::write(place.path("text.jsonl"), "nothing\nof the kind\n").expect("written");
    fs::write(place.path("binary.jsonl"), [0, 159, 146, 150, 255, 10]).expect("written");
    fs::create_dir(place.path("directory")).expect("made");
    for name in [
        "empty.jsonl",
        "rows.csv",
        "text.jsonl",
        "binary.jsonl",
        "directory",
        "missing.jsonl",
    ] {
        for arguments in [
            format!("compare base.jsonl {name}"),
            format!("compare {name} base.jsonl"),
            format!("compare base.jsonl -- new.jsonl {name}"),
        ] {
            let (code, text, errors) = code_of(&place, &arguments);
            assert_eq!(
                (code, text.as_str()),
                (Some(2), ""),
                "{arguments}: {errors}"
            );
            assert!(
                errors.starts_with("error: ") && errors.contains(name),
                "{errors}"
            );
        }
    }
}

#[test]
fn nothing_to_compare_is_2_with_the_reason() {
    let place = place_with(1.0);
    let mut other = MadeUp::from(&place.path("base.jsonl"));
    other.header.environment.board = "rpi-4b".to_owned();
    other.write(&place.path("other.jsonl"));
    let (code, text, errors) = code_of(&place, "compare base.jsonl other.jsonl");
    assert_eq!((code, text.as_str()), (Some(2), ""));
    assert_eq!(
        errors,
        "error: compare other.jsonl: no case can be compared with base.jsonl: other board: \
         generic, now rpi-4b\n"
    );
    place.run(&format!("{SWEEP} --payload 6,7 -o strange.csv"));
    let (code, _, errors) = code_of(&place, "compare base.jsonl strange.csv");
    assert_eq!(code, Some(2));
    assert!(errors.contains("6 cases only AFTER"), "{errors}");
}

#[test]
fn a_threshold_without_its_sign_is_2_with_the_fix() {
    let (code, _, errors) = code_of(&Place::new(), "compare a.csv b.csv --threshold 2");
    assert_eq!(code, Some(2));
    assert!(errors.contains("write 2%"), "{errors}");
    for arguments in [
        "compare a.csv",
        "compare a.csv b.csv --threshold 51%",
        "compare a b --by x",
    ] {
        assert_eq!(code_of(&Place::new(), arguments).0, Some(2), "{arguments}");
    }
}
