//! Searches on one host: resuming from a log, answers that follow from it, and refused input.

use std::fs;
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use udpbench::experiment::find::header::FindHeader;
use udpbench::host::facts::Host;
use udpbench::results::log::{Event, Log};
use udpbench::sys::files::Root;
use udpbench::term::fold::is_command;

use crate::common::{
    BusyProgram, Place, assert_code, json_rows, objects, stderr, stdout, wait_until, write_log,
};

/// Roughly, and soon.
const SHORT: &str = "--engine std --threads 2 --payload 300 --ip v4 --connection connected --board generic \
                     --trial 100ms --sum 300ms --width 20% --recheck 0s --warmup 5ms";

fn log(place: &Place, name: &str) -> Log<FindHeader> {
    let bytes = fs::read(place.path(name)).expect("the log");
    Log::parse(name, &bytes).expect("whole lines")
}

fn trials(log: &Log<FindHeader>) -> usize {
    let is_trial = |event: &&Event| matches!(event, Event::Window(_));
    log.lines.iter().filter(is_trial).count()
}

#[test]
fn busy_programs_are_named_before_the_first_window() {
    let _busy = BusyProgram::start();
    let output = Place::new().run(&format!("find lossless {SHORT} -o log.jsonl"));
    let said = stderr(&output);
    assert!(said.contains("warning: other programs use "), "{said}");
}

#[test]
fn a_rate_without_loss_is_found_between_bounds_and_a_log_that_is_complete_says_the_same() {
    let place = Place::new();
    let output = place.run(&format!(
        "find lossless {SHORT} -o log.jsonl -q --format json"
    ));
    assert_code(&output, 0);
    let text = stdout(&output);
    let [row] = &json_rows(&text)[..] else {
        panic!("{text}");
    };
    let pps = |name: &str| {
        row[name]
            .as_u64()
            .unwrap_or_else(|| panic!("{name}: {row}"))
    };
    assert!(pps("lossless_pps") < pps("too_much_pps"), "{row}");
    assert_eq!(row["is_finished"], true, "{row}");
    assert_ne!(row["limiting_place"], "", "{row}");
    let has_interval = row["lossless_pps_low"] != Value::Null;
    assert!(row["is_steady"] == true || !has_interval, "{row}");
    assert!(pps("lowest_lossy_pps") <= pps("too_much_pps"), "{row}");
    assert!(pps("highest_passing_pps") >= pps("lossless_pps"), "{row}");
    assert_eq!(pps("trials"), trials(&log(&place, "log.jsonl")) as u64);

    let before = fs::read(place.path("log.jsonl")).expect("the log");
    let again = place.run("resume log.jsonl -q --format json");
    assert_eq!(stdout(&again), text);
    let csv = stdout(&place.run("resume log.jsonl -q --format csv"));
    assert_eq!(csv.lines().count(), 2);
    assert!(csv.starts_with("case,goal_loss_pct,exceed_pct,lossless_pps,"));
    let table = stdout(&place.run("resume log.jsonl -q"));
    assert!(table.contains("limit"), "{table}");
    assert!(
        table
            .lines()
            .all(|line| is_command(line) || line.len() <= 100),
        "{table}"
    );
    // Any log is shown by the one command.
    assert_eq!(stdout(&place.run("summarize log.jsonl")), csv);
    assert_eq!(fs::read(place.path("log.jsonl")).expect("the log"), before);
}

#[test]
fn both_bounds_are_tried_again_after_a_pause() {
    let place = Place::new();
    let words = SHORT.replace("--recheck 0s", "--recheck 1s");
    let output = place.run(&format!("find lossless {words} -q -o log.jsonl"));
    assert_code(&output, 0);
    let log = log(&place, "log.jsonl");
    let opened = log.lines.iter().filter_map(|event| match event {
        Event::Window(window) => Some(window.sample.opened_unix_ms),
        _ => None,
    });
    let opened: Vec<u64> = opened.collect();
    assert!(opened.windows(2).any(|pair| pair[1] - pair[0] >= 1000));
}

#[test]
fn a_search_that_is_interrupted_or_killed_goes_on_where_it_was() {
    for (signal, code) in [(Signal::SIGINT, Some(130)), (Signal::SIGKILL, None)] {
        let place = Place::new();
        let mut command = place.udpbench(&format!("find lossless {SHORT} -o log.jsonl"));
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("it starts");
        let lines =
            || fs::read_to_string(place.path("log.jsonl")).map_or(0, |text| text.lines().count());
        wait_until("the third trial", || lines() > 3);
        let pid = Pid::from_raw(child.id().try_into().expect("a pid"));
        kill(pid, signal).expect("it is there");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), code);
        let how = "udpbench resume log.jsonl";
        assert_eq!(stderr(&output).contains(how), code.is_some());
        // The first and only step.
        let table = stdout(&output);
        assert_eq!(table.contains("\nquality   poor"), code.is_some());
        assert!(!table.contains("\nnext "), "{table}");
        assert!(!table.contains("udpbench find"), "{table}");
        let cut = trials(&log(&place, "log.jsonl"));

        let output = place.run("resume log.jsonl --format json");
        assert_code(&output, 0);
        let row = &json_rows(&stdout(&output))[0];
        assert_eq!(row["is_finished"], true, "{row}");
        let whole = log(&place, "log.jsonl");
        assert!(trials(&whole) > cut);
        let resumed = |event: &Event| matches!(event, Event::Resumed { .. });
        assert_eq!(whole.lines.iter().filter(|event| resumed(event)).count(), 1);
    }
}

#[test]
fn a_case_that_has_no_more_time_says_its_bounds_so_far_and_how_to_go_on() {
    let place = Place::new();
    let words = SHORT.replace("--sum 300ms", "--sum 60s");
    let output = place.run(&format!(
        "find lossless {words} --max-case-time 1s -o log.jsonl --format json"
    ));
    assert_code(&output, 4);
    let row = &json_rows(&stdout(&output))[0];
    assert_eq!(row["is_finished"], false, "{row}");
    let errors = stderr(&output);
    assert!(errors.contains("the time limit is over"), "{errors}");
    assert!(errors.contains("resume log.jsonl"), "{errors}");
}

#[test]
fn a_case_that_cannot_be_is_no_answer_and_says_why() {
    let place = Place::new();
    // One thread cannot sleep until it is to send, and receive.
    let words = SHORT.replace("--threads 2", "--threads 1,2");
    let output = place.run(&format!(
        "find lossless {words} -q -o log.jsonl --format json"
    ));
    let answers = json_rows(&stdout(&output));
    let [refused, found] = &answers[..] else {
        panic!("{answers:?}");
    };
    let reason = refused["reason"].as_str().expect("text");
    assert!(reason.contains("use --threads 2"), "{refused}");
    assert_eq!(refused["lossless_pps"], Value::Null, "{refused}");
    assert_ne!(found["lossless_pps"], Value::Null, "{found}");
}

#[test]
fn what_makes_no_sense_is_refused_with_the_fix_and_leaves_nothing() {
    let place = Place::new();
    for (words, said) in [
        ("--rate 20k", "a search has rates of its own"),
        ("--workload bidir", "use flood or rr"),
        ("--trial 5ms", "--trial 5ms: use 10ms or more"),
        ("--trial 2s --sum 1s", "--sum 1s: use 2s or more"),
        ("--goal 100%", "is not below 100%"),
        ("--exceed 0%", "--exceed"),
        ("--width 1", "--width"),
        ("--recheck 30", "write 30ms or 30s"),
        ("--max-case-time soon", "--max-case-time"),
        ("--engine sdt", "sdt"),
        ("--threads 0", "--threads"),
        ("--payload 65508", "65508"),
        ("--output no/such/log.jsonl", "no/such/log.jsonl"),
    ] {
        let output = place.run(&format!("find lossless {words}"));
        let errors = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words}: {errors}");
        assert!(errors.contains(said), "{words}: {errors}");
    }
    assert_eq!(place.files(), Vec::<String>::new());
}

#[test]
fn a_log_that_is_full_or_contradicts_itself_is_said_to_be() {
    let place = Place::new();
    // No file may grow beyond so many blocks: what a full disk does, without one.
    let script = format!(
        "trap '' XFSZ; ulimit -f 64; exec $udpbench find lossless {SHORT} -q -o full.jsonl"
    );
    let output = place.shell(&script);
    let errors = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(
        errors.contains("full.jsonl") && errors.contains("resume with: "),
        "{errors}"
    );
    let cut = trials(&log(&place, "full.jsonl"));
    let output = place.run("resume full.jsonl -q");
    assert_code(&output, 0);
    assert!(trials(&log(&place, "full.jsonl")) > cut);

    let output = place.run(&format!("find lossless {SHORT} -q -o log.jsonl"));
    assert_code(&output, 0);
    let mut lines = objects(&place.path("log.jsonl"));
    // Between them, a trial may have been made again.
    let trials = (0..lines.len()).filter(|&n| lines[n].starts_with(r#"{"window":"#));
    let trials: Vec<usize> = trials.collect();
    lines.swap(trials[0], trials[1]);
    write_log(&place.path("swapped.jsonl"), &lines);
    let output = place.run("resume swapped.jsonl");
    assert_eq!(output.status.code(), Some(2));
    let errors = stderr(&output);
    assert!(
        errors.contains("swapped.jsonl") && errors.contains("was to be tried"),
        "{errors}"
    );
}

#[test]
fn a_jump_is_looked_for_between_two_payloads_and_the_log_says_the_same_again() {
    let place = Place::new();
    let words = "--engine std --threads 2 --ip v4 --connection connected --board generic --warmup 5ms --trial 20ms";
    let output = place.run(&format!(
        "find cliff {words} --payload 100,140 -q -o log.jsonl --format json"
    ));
    assert_code(&output, 0);
    let text = stdout(&output);
    let first = &json_rows(&text)[0];
    assert_eq!((&first["from"], &first["to"]), (&100.into(), &140.into()));
    assert_eq!(first["is_finished"], true, "{first}");
    assert!(
        first["case"]
            .as_str()
            .is_some_and(|case| case.ends_with("/rr")),
        "{first}"
    );
    let again = place.run("resume log.jsonl -q --format json");
    assert_eq!(stdout(&again), text);
    let csv = stdout(&place.run("resume log.jsonl -q --format csv"));
    assert!(csv.starts_with("case,parameter,from,to,"), "{csv}");
    let table = stdout(&place.run("resume log.jsonl -q"));
    assert!(table.contains("by payload: 100 "), "{table}");
    let least = first["detectable_pct"].as_f64();
    assert!(least.is_some_and(|pct| pct >= 10.0), "{first}");
    assert!(
        table
            .lines()
            .all(|line| is_command(line) || line.len() <= 100),
        "{table}"
    );

    for (words, said) in [
        ("cliff --payload 300", "a step is between two"),
        ("cliff --rate 20k", "a search has rates of its own"),
        ("cliff --threshold 0%", "--threshold"),
        ("cliff --trial 1us", "--trial"),
        ("cliff --workload bidir", "use flood or rr"),
    ] {
        let output = place.run(&format!("find {words}"));
        let errors = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words}: {errors}");
        assert!(errors.contains(said), "{words}: {errors}");
    }
}

#[test]
fn silences_are_gone_through_and_the_log_says_the_same_again() {
    let place = Place::new();
    let words = "--ip v4 --connection connected --board generic --warmup 5ms --trial 20ms --silence 1ms,5ms";
    let output = place.run(&format!("find idle {words} -q -o log.jsonl --format json"));
    assert_code(&output, 0);
    let text = stdout(&output);
    let first = &json_rows(&text)[0];
    assert_eq!(first["is_finished"], true, "{first}");
    assert_eq!(first["case"], "std:std/2t/64B/connected/v4/rr", "{first}");
    let least = first["detectable_pct"].as_f64();
    assert!(least.is_some_and(|pct| pct >= 100.0), "{first}");
    let again = place.run("resume log.jsonl -q --format json");
    assert_eq!(stdout(&again), text);
    let csv = stdout(&place.run("resume log.jsonl -q --format csv"));
    assert!(csv.starts_with("case,parameter,from,to,"), "{csv}");
    let table = stdout(&place.run("resume log.jsonl -q"));
    assert!(table.contains("by silence: 1ms "), "{table}");
    assert!(
        table
            .lines()
            .all(|line| is_command(line) || line.len() <= 100),
        "{table}"
    );

    for (words, said) in [
        ("--silence 1ms", "a step is between two"),
        ("--silence 1ms,20s", "use a time from 1us to 10s"),
        ("--think-time 1ms", "use --silence FROM,TO"),
        ("--rate 20k", "a search has rates of its own"),
        ("--trial 1us", "--trial"),
        ("--workload flood", "this search is of round trips"),
    ] {
        let output = place.run(&format!("find idle {words}"));
        let errors = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words}: {errors}");
        assert!(errors.contains(said), "{words}: {errors}");
    }
}

#[test]
fn the_longest_train_is_as_long_as_the_receive_buffer_holds_where_the_server_is_slow() {
    let place = Place::new();
    let words = "--engine std --threads 2 --payload 300 --ip v4 --connection connected --board generic --rcvbuf 32k \
                 --workload rr --service 200us --pause 60ms --trial 120ms --sum 240ms --width 2%";
    let output = place.run(&format!("find burst {words} -q -o log.jsonl --format json"));
    assert_code(&output, 0);
    let text = stdout(&output);
    let row = &json_rows(&text)[0];
    assert_eq!(row["is_finished"], true, "{row}");
    // Before Linux 4.12 nobody says what a datagram takes up.
    if let Some(held) = row["buffers_hold_packets"].as_f64() {
        let longest = row["longest_train_packets"].as_f64().expect("a train");
        // Beside other tests a train may be held up, and the server takes some out meanwhile. Where other programs took
        // the CPU of the server, the search says that longer trains may pass.
        let is_disturbed = row["doubt"]
            .as_str()
            .is_some_and(|it| it.contains("other programs"));
        let least = if is_disturbed { 0.1 } else { 0.8 };
        assert!((least * held..2.0 * held).contains(&longest), "{row}");
    }
    let again = place.run("resume log.jsonl -q --format json");
    assert_eq!(stdout(&again), text);
    let csv = stdout(&place.run("resume log.jsonl -q --format csv"));
    assert!(
        csv.starts_with("case,pause_ms,longest_train_packets,"),
        "{csv}"
    );
    let table = stdout(&place.run("resume log.jsonl -q"));
    assert!(table.contains("longest train"), "{table}");
    assert!(
        table
            .lines()
            .all(|line| is_command(line) || line.len() <= 100),
        "{table}"
    );

    for (words, said) in [
        ("--pause 1us", "--pause"),
        ("--pause 1s", "--trial 500ms: use 1s or more"),
        ("--sum 100ms", "--sum 100ms: use 500ms or more"),
        ("--arrivals poisson", "the search has trains of its own"),
        ("--rate 20k", "a search has rates of its own"),
        ("--workload bidir", "use flood or rr"),
    ] {
        let output = place.run(&format!("find burst {words}"));
        let errors = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words}: {errors}");
        assert!(errors.contains(said), "{words}: {errors}");
    }
}

#[test]
fn a_search_says_at_its_start_how_long_it_takes_and_names_engines_not_keys() {
    let place = Place::new();
    let plan = stdout(&place.run("plan find lossless --pin none --board generic --threads 2"));
    assert!(plan.starts_with("3 searches, from about 3m"), "{plan}");
    assert!(plan.contains(" to 5m (--max-case-time)"), "{plan}");
    assert!(plan.contains("\n  mmsg/32, 1460 B\n"), "{plan}");
    assert!(plan.contains("to search more: --engine all"), "{plan}");
    let more = stdout(&place.run("plan find lossless --engine std --payload 26,300"));
    assert!(more.starts_with("2 searches, "), "{more}");
    assert!(!more.contains("to search more"), "{more}");
    assert_eq!(place.files(), Vec::<String>::new());

    let words = SHORT.replace("--threads 2", "--threads 1,2");
    let output = place.run(&format!("find lossless {words} -o log.jsonl"));
    let (table, said) = (stdout(&output), stderr(&output));
    assert!(said.contains("1 search, from about "), "{said}");
    for text in [&table, &said] {
        assert!(!text.contains("std:std"), "{text}");
    }
    assert!(table.contains("std, 300 B, 1 thread: "), "{table}");
    for label in ["\nlossless  ", "\nquality   "] {
        assert!(table.contains(label), "{label}: {table}");
    }
    let page = place.run("report log.jsonl -o page.html");
    assert_code(&page, 0);
    let page = fs::read_to_string(place.path("page.html")).expect("the page");
    assert!(
        page.contains("std, 300 B, 2 threads"),
        "the name of the case"
    );
}

#[test]
fn a_search_without_a_rate_yet_says_so_and_how_to_go_on() {
    let place = Place::new();
    let words = SHORT.replace("--sum 300ms", "--sum 60s --goal 99%");
    let output = place.run(&format!(
        "find lossless {words} --max-case-time 1s -o log.jsonl"
    ));
    assert_code(&output, 4);
    let table = crate::common::words(&stdout(&output));
    assert!(table.contains("poor"), "{table}");
    assert!(!table.contains("bounds are those so far"), "{table}");
    // In the order in which they were typed, without the file that is there already.
    // Where other tests disturbed it, that comes first.
    let more = table.split("search again for longer: ").nth(1);
    let more = more.or_else(|| table.split("then search again: ").nth(1));
    let more = more.unwrap_or_else(|| panic!("{table}"));
    assert!(
        more.contains(&format!("find lossless {words} --max-case-time 10m")),
        "{table}"
    );
}

#[test]
fn ends_that_share_a_cpu_are_the_first_reason_and_the_next_command_gives_each_its_own() {
    let host = Host::read(&Root::default());
    let Some(cpu) = host.pinnable_cpus.last() else {
        return;
    };
    let lossless = SHORT.replace("--sum 300ms", "--sum 60s --max-case-time 1s");
    let idle = "--ip v4 --connection connected --board generic --warmup 5ms --trial 20ms --silence 1ms,5ms";
    for (search, grade) in [
        (format!("lossless {lossless}"), "poor: "),
        (format!("idle {idle}"), "fair: "),
    ] {
        let place = Place::new();
        let output = place.run(&format!("find {search} --pin {cpu}:{cpu} -o log.jsonl"));
        let table = stdout(&output);
        let reason = format!("\nquality   {grade}both ends share CPU {cpu}");
        assert!(table.contains(&reason), "{table}");
        let is_disturbed = crate::common::words(&table).contains("other programs disturbed it");
        assert_eq!(
            table.contains("stop what else runs, and"),
            is_disturbed,
            "{table}"
        );
        if host.cpus.len() == 1 {
            assert!(table.contains("this machine has only one CPU"), "{table}");
            continue;
        }
        let mut lines = table.lines().map(str::trim);
        lines.find(|line| line.ends_with("search again with a CPU for each end:"));
        let command = lines.next().unwrap_or_else(|| panic!("{table}"));
        let again = command.split("udpbench find ").nth(1);
        let again = again.unwrap_or_else(|| panic!("{table}"));
        assert!(!again.contains(&format!("{cpu}:{cpu}")), "{again}");
        // It runs as it stands, and no CPU is shared then.
        let plan = place.run(&format!("plan find {again}"));
        assert_code(&plan, 0);
        assert!(!stdout(&plan).contains("share"), "{}", stdout(&plan));
    }
}
