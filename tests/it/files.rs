//! Tests of `udpbench files`, which tells scripts the files that a command line would write.

use std::fs;

use crate::common::{Place, stderr, stdout};
use serde_json::{Value, json};

/// The line for these words, after checking that nothing was written.
fn answer(words: &str) -> Value {
    let place = Place::new();
    let output = place.run(&format!("files -- {words}"));
    assert!(output.status.success(), "{words}: {}", stderr(&output));
    assert_eq!(place.files(), Vec::<String>::new(), "{words}");
    serde_json::from_str(&stdout(&output)).expect("one line of JSON")
}

fn files(words: &str) -> Value {
    let mut answer = answer(words);
    let object = answer.as_object_mut().expect("an object");
    object.remove("expected_s");
    object.remove("longest_s");
    answer
}

#[test]
fn it_reads_the_words_as_the_sweep_would() {
    let sweep = |output: Value, samples: Value| json!({"sweep": true, "output": output, "samples": samples, "resume": null});
    for words in ["", "run", "--threads 1"] {
        assert_eq!(files(words), sweep(Value::Null, Value::Null), "{words}");
    }
    for words in [
        "-o a.csv",
        "-qo a.csv",
        "-qoa.csv",
        "--output=a.csv",
        "run -o a.csv",
        "--quick -o=a.csv",
    ] {
        assert_eq!(files(words), sweep(json!("a.csv"), Value::Null), "{words}");
    }
    assert_eq!(
        files("--samples b.jsonl -o -"),
        sweep(json!("-"), json!("b.jsonl"))
    );
    assert_eq!(
        files("--format jsonl --samples b.jsonl"),
        sweep(json!("-"), json!("b.jsonl"))
    );
    assert_eq!(files("--format json"), sweep(json!("-"), Value::Null));
    // The value of an option that looks like another one.
    assert_eq!(
        files("--samples=-oa.csv"),
        sweep(Value::Null, json!("-oa.csv"))
    );
}

#[test]
fn a_sweep_that_goes_on_with_another_says_with_which() {
    assert_eq!(
        answer("resume nope.jsonl"),
        json!({"sweep": true, "output": null, "samples": null, "resume": "nope.jsonl", "expected_s": null, "longest_s": null})
    );
}

#[test]
fn it_expects_what_the_plan_does() {
    let words = "--full --engine null --no-reference --ip v4 --threads 2 --payload 1 --heat 0s --warmup 0s \
                 --board generic";
    let expected =
        |duration: &str| answer(&format!("{words} --duration {duration}"))["expected_s"].as_u64();
    assert!(expected("100s") >= Some(200), "{:?}", expected("100s"));
    assert!(expected("5ms --rounds 5") < Some(10));
}

#[test]
fn the_longest_time_has_the_cool_downs_and_all_of_max_time() {
    // Two blocks, one for each payload; the profile's cool-downs take 180 s at most.
    let words =
        "--engine null --no-reference --ip v4 --threads 2 --payload 1,2 --connection connected";
    let beyond_expected = |more: &str| {
        let answer = answer(&format!("{words} {more}"));
        let seconds = |key: &str| answer[key].as_u64().expect("seconds");
        seconds("longest_s") - seconds("expected_s")
    };
    assert_eq!(beyond_expected("--board generic"), 0);
    assert_eq!(beyond_expected("--board rpi-3b-plus"), 2 * 180);
    assert_eq!(beyond_expected("--board rpi-3b-plus --quick"), 0);
    assert_eq!(beyond_expected("--board generic --until 1%"), 600);
    assert_eq!(
        beyond_expected("--board rpi-3b-plus --until 1% --max-time 2h"),
        2 * 180 + 7200
    );
}

#[test]
fn a_sweep_between_two_hosts_takes_its_time_for_each_direction() {
    let words = "wire board --quick --board generic --engine std --address 192.0.2.7";
    assert_eq!(
        files(&format!("{words} -o a.csv")),
        json!({"sweep": true, "output": "a.csv", "samples": null, "resume": null})
    );
    let expected = |more: &str| {
        let answer = answer(&format!("{words} --duration 100s {more}"));
        answer["expected_s"].as_u64().expect("seconds")
    };
    let one = expected("--direction up");
    assert!(one >= 100, "{one}");
    assert!((2 * one..=2 * one + 1).contains(&expected("")));
    assert_eq!(answer("wire board latency")["sweep"], false);
}

#[test]
fn what_only_prints_is_no_sweep() {
    for words in [
        "check",
        "engines",
        "plan -o a.csv",
        "--help",
        "run -h",
        "-V",
        "manual pages",
        "files --",
    ] {
        assert_eq!(answer(words)["sweep"], false, "{words}");
    }
}

#[test]
fn what_the_sweep_would_refuse_is_refused_with_its_words() {
    let place = Place::new();
    for words in [
        "--threads 0",
        "-q check",
        "--board nope",
        "-o",
        "--rounds 1",
    ] {
        let (asked, swept) = (place.run(&format!("files -- {words}")), place.run(words));
        assert_eq!(asked.status.code(), Some(2), "{words}");
        assert_eq!(stderr(&asked), stderr(&swept), "{words}");
        assert_eq!(stdout(&asked), "", "{words}");
    }
}

/// Names that the next runs would take, each with something else in it.
const TAKE_NAMES: &str = r#"mkdir results; now=$(date +%s); i=0
while [ $i -lt 90 ]; do
    time=$(date -u -d @$((now + i)) +%Y-%m-%dT%H%M%SZ)
    for end in .jsonl -find.jsonl -board; do echo mine >"results/$time-generic$end"; done
    i=$((i + 1))
done"#;

#[test]
fn a_default_name_that_is_taken_gets_a_number() {
    let place = Place::new();
    assert!(place.shell(TAKE_NAMES).status.success());
    let short = "--board generic --engine null --threads 2 --connection connected";
    let sweep =
        format!("{short} --no-reference --payload 1 --ip v4 --rounds 5 --duration 5ms --heat 0s");
    for words in [&*sweep, &format!("find burst {short} --max-case-time 1ms")] {
        let output = place.run(words);
        // A search whose time is over has no answer.
        let is_over = matches!(output.status.code(), Some(0 | 4));
        assert!(is_over, "{words}: {}", stderr(&output));
    }
    let results = fs::read_dir(place.path("results")).expect("a directory");
    let mut new = Vec::new();
    for entry in results.flatten() {
        if fs::read(entry.path()).expect("a file") != b"mine\n" {
            let name = entry.file_name().into_string().expect("UTF-8");
            let (_, end) = name.split_once("Z-").expect("a time");
            new.push(end.to_owned());
        }
    }
    new.sort();
    assert_eq!(
        new,
        ["generic-2-find.jsonl", "generic-2.csv", "generic-2.jsonl"]
    );
}

#[test]
fn runs_that_begin_together_have_files_of_their_own() {
    let place = Place::new();
    let words = "--board generic --engine null --no-reference --threads 2 --connection connected --payload 1 --ip v4 \
                 --rounds 5 --duration 5ms --heat 0s -q";
    let together: Vec<_> = (0..4)
        .map(|_| place.udpbench(words).spawn().expect("it starts"))
        .collect();
    for mut child in together {
        assert!(child.wait().expect("it ends").success());
    }
    let results = fs::read_dir(place.path("results")).expect("a directory");
    let names: Vec<_> = results.flatten().map(|entry| entry.path()).collect();
    assert_eq!(names.len(), 8, "{names:?}");
    for csv in names
        .iter()
        .filter(|name| name.extension().is_some_and(|it| it == "csv"))
    {
        assert!(names.contains(&csv.with_extension("jsonl")), "{names:?}");
    }
}
