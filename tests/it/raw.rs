//! Tests of the raw samples: all reported results follow from them, and a sweep is resumed from them.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use crate::cells::column;
use crate::common::{
    Place, assert_code, header, kills, lines, rows, samples, stderr, stdout, wait_until, windows,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use udpbench::results::files::Results;
use udpbench::results::row::{Row, Status};

/// 16 cases of 5 windows each in 8 blocks.
const SWEEP: &str = "--full --engine null --no-reference --ip v4 --soak 0s --warmup 0s --rounds 5 --duration 5ms \
                     --threads 2 -o out.csv --payload 1,2,3,4,5,6,7,8";
const CASES: usize = 16;
const ROUNDS: usize = 5;

fn start(command: &mut Command) -> Child {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.spawn().expect("the program starts")
}

/// Starts it and ends it as soon as the raw file has so many windows.
fn end_early(place: &Place, arguments: &str, enough: usize, signal: Signal) {
    let mut child = start(&mut place.udpbench(arguments));
    let raw = place.path("out.jsonl");
    while windows(&raw) < enough && child.try_wait().is_ok_and(|status| status.is_none()) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let pid = Pid::from_raw(child.id().try_into().expect("a pid"));
    // It may have ended in the meantime.
    let _ = kill(pid, signal);
    child.wait().expect("it is reaped");
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("it is there")
}

#[track_caller]
/// The CSV is what `summarize` makes of the raw samples, to the last byte.
fn assert_summarized(place: &Place) {
    let summary = place.run("summarize out.jsonl");
    assert_code(&summary, 0);
    assert_eq!(stdout(&summary), read(&place.path("out.csv")));
}

fn assert_whole(place: &Place) {
    let samples = samples(&place.path("out.jsonl"));
    let distinct: HashSet<_> = samples
        .iter()
        .map(|sample| (&sample.case, sample.round))
        .collect();
    assert_eq!(
        samples.len(),
        CASES * ROUNDS,
        "a window is missing, or there twice"
    );
    assert_eq!(distinct.len(), CASES * ROUNDS);
    let rows = rows(&place.path("out.csv"));
    let cases: HashSet<&String> = rows.iter().map(|row| &row.case).collect();
    assert_eq!((rows.len(), cases.len()), (CASES, CASES));
    for row in &rows {
        assert_eq!((row.status, row.rounds), (Status::Ok, 5), "{row:?}");
    }
    assert_summarized(place);
}

#[test]
fn killed_sweeps_go_on_and_end_whole() {
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..kills(8) {
        let place = Place::new();
        end_early(&place, SWEEP, random.usize(0..75), Signal::SIGKILL);
        if !place.path("out.jsonl").exists() || header(&place.path("out.jsonl")).is_none() {
            // Killed before there was anything to go on with.
            continue;
        }
        // And perhaps once more.
        if random.bool() {
            let have = windows(&place.path("out.jsonl"));
            end_early(
                &place,
                "--resume out.jsonl",
                have + random.usize(0..10),
                Signal::SIGKILL,
            );
        }
        assert_code(&place.run("--resume out.jsonl"), 0);
        assert_whole(&place);
    }
}

#[test]
fn a_sweep_goes_on_in_the_order_in_which_it_would_have_gone_on() {
    let order = |interrupted: bool| -> Vec<(String, u32, u32)> {
        let place = Place::new();
        let sweep = format!("{SWEEP} --seed 7");
        if interrupted {
            end_early(&place, &sweep, 23, Signal::SIGINT);
            assert_code(&place.run("--resume out.jsonl --quiet"), 0);
        } else {
            assert_code(&place.run(&sweep), 0);
        }
        let samples = samples(&place.path("out.jsonl")).into_iter();
        samples
            .map(|sample| (sample.case, sample.round, sample.position))
            .collect()
    };
    assert_eq!(order(true), order(false));
}

#[test]
fn the_rows_are_computed_again_to_the_last_byte() {
    for arguments in [
        SWEEP,
        "--engine all --threads 1,2 --payload 300 --ip v4 --connection connected --duration 6ms --soak 0s \
         --verify -o out.csv",
        // Nothing of it can run.
        "--engine mio-exhaustive --threads 1 --no-reference -o out.csv",
        // One that fails.
        "--engine mio-once,null --threads 2 --payload 26 --rcvbuf 4096 --duration 100ms --soak 0s -o out.csv",
    ] {
        let place = Place::new();
        place.run(arguments);
        assert_summarized(&place);
    }
    let place = Place::new();
    end_early(&place, SWEEP, 17, Signal::SIGINT);
    let interrupted = |row: &Row| row.status == Status::Interrupted;
    assert!(rows(&place.path("out.csv")).iter().any(interrupted));
    assert_summarized(&place);
}

#[test]
fn a_line_that_was_cut_off_is_no_line() {
    let place = Place::new();
    assert_code(&place.run(SWEEP), 0);
    let raw = place.path("out.jsonl");
    let whole = read(&raw);
    for cut in [1, 100, 700] {
        fs::write(&raw, &whole[..whole.len() - cut]).expect("written");
        assert_code(&place.run("--resume out.jsonl"), 0);
        assert_whole(&place);
    }
}

#[test]
fn a_sweep_that_is_done_is_left_as_it_is() {
    let place = Place::new();
    assert_code(&place.run(SWEEP), 0);
    let before = read(&place.path("out.csv"));
    assert_code(&place.run("--resume out.jsonl"), 0);
    assert_eq!(read(&place.path("out.csv")), before);
    assert_whole(&place);
}

/// Replaces a text in the raw file.
fn edit(place: &Place, old: &str, new: &str) {
    let raw = place.path("out.jsonl");
    let text = read(&raw);
    assert!(text.contains(old), "{old}");
    fs::write(raw, text.replace(old, new)).expect("written");
}

#[test]
fn another_host_is_refused_unless_somebody_insists_and_then_the_rows_say_so() {
    let place = Place::new();
    end_early(&place, SWEEP, 17, Signal::SIGKILL);
    edit(&place, r#","machine":""#, r#","machine":"not "#);
    let refused = place.run("--resume out.jsonl");
    assert_code(&refused, 2);
    let message = stderr(&refused);
    assert!(message.contains("the machine was not "), "{message}");
    assert!(message.contains("--accept-changes"), "{message}");

    assert_code(&place.run("--resume out.jsonl --accept-changes"), 0);
    assert_whole(&place);
    let warned = |row: &&Row| {
        row.warnings.iter().any(|it| {
            it.to_string()
                .contains("with a difference: the machine was")
        })
    };
    let rows = rows(&place.path("out.csv"));
    let warned = rows.iter().filter(warned).count();
    assert_eq!(warned, CASES, "each has windows of either machine");
}

/// The fix for a small limit is printed; who applies it in the midst of a sweep has other buffers from then on.
#[test]
fn other_buffers_than_were_granted_are_another_host() {
    let place = Place::new();
    end_early(&place, SWEEP, 17, Signal::SIGKILL);
    let text = read(&place.path("out.jsonl"));
    let (header, rest) = text.split_once('\n').expect("a header");
    let mut header: serde_json::Value = serde_json::from_str(header).expect("JSON");
    let host = &mut header["header"]["host"];
    host["rmem_max"] = 4096.into();
    host["exceeds_rmem_max"] = false.into();
    fs::write(place.path("out.jsonl"), format!("{header}\n{rest}")).expect("there is space");
    let message = stderr(&refused(&place, "--resume out.jsonl"));
    assert!(
        message.contains("SO_RCVBUF was granted up to 4096 B"),
        "{message}"
    );
}

#[test]
fn a_disk_that_is_full_at_the_start_leaves_no_empty_files() {
    let place = Place::new();
    let output = place.shell(&format!(
        "trap '' XFSZ; ulimit -f 0; exec $udpbench {SWEEP}"
    ));
    assert_code(&output, 1);
    assert_eq!(place.files(), Vec::<String>::new());
}

#[test]
fn a_case_that_cannot_run_any_more_fails_and_the_others_go_on() {
    let place = Place::new();
    let sweep = "--engine null,std --no-reference --connection connected --ip v4 --threads 2 --payload 9 \
                 --duration 5h --rounds 5 --warmup 0s --soak 0s -o out.csv";
    let mut child = start(&mut place.udpbench(sweep));
    wait_until("the block", || !lines(&place.path("out.jsonl")).is_empty());
    let pid = Pid::from_raw(child.id().try_into().expect("a pid"));
    kill(pid, Signal::SIGKILL).expect("it runs");
    child.wait().expect("it is reaped");
    // As if there were no IPv6 here any more: a pair that makes no sense stands for it.
    edit(
        &place,
        r#""sender":"std","receiver":"std""#,
        r#""sender":"std","receiver":"null""#,
    );
    edit(
        &place,
        r#""window_ns":3600000000000"#,
        r#""window_ns":1000000"#,
    );
    assert_code(&place.run("--resume out.jsonl"), 2);
    assert_code(&place.run("--resume out.jsonl --accept-changes"), 1);
    let rows = rows(&place.path("out.csv"));
    let status: Vec<Status> = rows.iter().map(|row| row.status).collect();
    assert_eq!(status, [Status::Ok, Status::Failed]);
    assert!(
        rows[1]
            .reason
            .to_string()
            .starts_with("cannot run any more"),
        "{}",
        rows[1].reason
    );
    assert_summarized(&place);
}

fn refused(place: &Place, arguments: &str) -> Output {
    let output = place.run(arguments);
    assert_code(&output, 2);
    output
}

#[test]
fn results_of_another_sweep_are_not_replaced() {
    let place = Place::new();
    assert_code(&place.run(&SWEEP.replace("out.csv", "other.csv")), 0);
    end_early(&place, SWEEP, 17, Signal::SIGKILL);
    let own = read(&place.path("out.csv"));
    let others = read(&place.path("other.csv"));
    for foreign in [others.as_str(), "precious", "a,b\n1,2\n"] {
        fs::write(place.path("out.csv"), foreign).expect("there is space");
        let refused = stderr(&refused(&place, "--resume out.jsonl"));
        assert!(refused.contains("other contents"), "{refused}");
        assert_eq!(read(&place.path("out.csv")), foreign);
    }
    fs::write(place.path("out.csv"), own).expect("there is space");
    fs::write(place.path("out.csv.part"), "").expect("there is space");
    let refused = stderr(&refused(&place, "--resume out.jsonl"));
    assert!(
        refused.contains("out.csv.part") && refused.contains("remove it"),
        "{refused}"
    );
    assert_code(&place.run("--resume out.jsonl -o new.csv"), 0);
    let new = read(&place.path("new.csv"));
    assert_eq!(column(&new, "case").len(), CASES);
}

#[test]
fn two_programs_do_not_go_on_with_one_sweep() {
    let place = Place::new();
    let endless = SWEEP.replace("--duration 5ms", "--duration 5h");
    let mut child = start(&mut place.udpbench(&endless));
    wait_until("the start", || header(&place.path("out.jsonl")).is_some());
    let refused = place.run("--resume out.jsonl");
    assert_code(&refused, 2);
    assert!(
        stderr(&refused).contains("another udpbench is writing to it"),
        "{}",
        stderr(&refused)
    );
    child.kill().expect("it runs");
    child.wait().expect("it is reaped");
}

#[test]
fn what_cannot_have_happened_is_refused_with_its_line() {
    let place = Place::new();
    assert_code(&place.run(SWEEP), 0);
    let raw = place.path("out.jsonl");
    let whole = read(&raw);
    let lines: Vec<&str> = whole.lines().collect();
    let begun = lines[1];
    let block: serde_json::Value = serde_json::from_str(begun).expect("JSON");
    let block = &block["block_begun"]["block"];
    let ended = format!(r#"{{"block_ended":{{"block":{block},"by":"rounds"}}}}"#);
    let window = lines[2];
    assert!(window.starts_with(r#"{"window""#));
    let with = |number: usize, line: &str| {
        let mut lines = lines.clone();
        lines[number - 1] = line;
        lines.join("\n") + "\n"
    };
    for (text, number, problem) in [
        (with(4, window), 4, "twice"),
        (
            with(3, &window.replace("null:null", "null:nil")),
            3,
            "is not one of the plan",
        ),
        (
            with(3, &window.replace(r#""window_ns":"#, r#""window_ns":-"#)),
            3,
            "invalid",
        ),
        (with(2, window), 2, "is not being measured"),
        (with(3, &ended), 3, "0 to 0 windows"),
        (
            with(2, r#"{"block_ended":{"block":99,"by":"rounds"}}"#),
            2,
            "no block 99",
        ),
        (with(2, lines[0]), 2, "a second header"),
        (with(1, window), 1, "no header"),
        (
            with(1, &lines[0].replace(r#""format":1"#, r#""format":2"#)),
            1,
            "raw samples of udpbench, format 2, but udpbench",
        ),
        (
            with(
                1,
                &lines[0].replace(r#""sender":"null""#, r#""sender":"nil""#),
            ),
            1,
            "the engine nil",
        ),
    ] {
        fs::write(&raw, text).expect("written");
        for command in ["summarize out.jsonl", "--resume out.jsonl"] {
            let output = place.run(command);
            let message = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{problem}: {message}");
            assert!(message.contains(problem), "{problem}: {message}");
            assert!(
                message.contains(&format!("out.jsonl, line {number}:")),
                "{problem}: {message}"
            );
        }
    }
}

/// Every number of a real file, ten times as large, one less, negated, and huge: it is refused with a line, or the
/// file still says what it said, or it is a number that nothing else in the file says anything about.
#[test]
fn a_damaged_number_is_refused_or_stands_alone() {
    let place = Place::new();
    let sweep = "--engine std,mmsg,null --threads 1,2 --payload 26 --ip v4 --connection connected --verify \
                 --soak 0s --warmup 0s --rounds 5 --duration 25ms -o out.csv";
    assert_code(&place.run(sweep), 0);
    let whole = read(&place.path("out.jsonl"));
    let lines: Vec<&str> = whole.lines().collect();
    let of = |text: &str| -> Result<String, String> {
        let log = udpbench::results::log::Log::parse("out.jsonl", text.as_bytes());
        let results = log.and_then(|log| Results::from_log(&log));
        let rows = results.map_err(|error| error.to_string())?.rows;
        Ok(format!("{rows:?}"))
    };
    let rows = of(&whole).expect("as it was written");
    let (mut refused, mut alike, mut alone) = (0, 0, BTreeSet::new());
    // The header, what was verified, and windows: the others are like them.
    for (number, line) in lines.iter().enumerate().take(8) {
        let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
        for pointer in numbers_of(&value) {
            for damage in [times_ten, one_less, negated, huge] {
                let mut damaged = value.clone();
                let place = damaged.pointer_mut(&pointer).expect("it is there");
                *place = damage(place);
                let mut lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
                lines[number] = damaged.to_string();
                match of(&(lines.join("\n") + "\n")) {
                    Err(error) => {
                        refused += 1;
                        assert!(error.starts_with("out.jsonl, line "), "{error}");
                    }
                    Ok(same) if same == rows => alike += 1,
                    Ok(_) => {
                        let last = pointer.rsplit('/').find(|key| key.parse::<u32>().is_err());
                        alone.insert(last.unwrap_or_default().to_owned());
                    }
                }
            }
        }
    }
    assert!(refused > alike / 4 && refused > 100, "{refused}, {alike}");
    let expected: BTreeSet<String> = STAND_ALONE.iter().map(ToString::to_string).collect();
    let others: Vec<&String> = alone.difference(&expected).collect();
    assert!(others.is_empty(), "believed: {others:?}");
}

/// Numbers that are in a row and that nothing else in the file says anything about; the bytes are those of `null`,
/// which are read while they race on.
const STAND_ALONE: [&str; 43] = [
    "jitter_ns",
    "window_ns",
    "opened_unix_ms",
    "sent",
    "refused",
    "received",
    "dropped_socket",
    "unread",
    "kernel_discards",
    "kernel_discards_at_opening",
    "kernel_discards_at_closing",
    "other_cpu_ns",
    "cpus",
    "ns",
    "errors",
    "cpu_ns",
    "coordinator_cpu_ns",
    "waited_ns",
    "steal_ns",
    "irq_ns",
    "softirq_ns",
    "voluntary_switches",
    "involuntary_switches",
    "chain_ns",
    "cpu",
    "rcvbuf_bytes",
    "sndbuf_bytes",
    "rcvbuf",
    "first_millic",
    "last_millic",
    "hottest_millic",
    "throttle_bits",
    "lowest_khz",
    "duplicated",
    "reordered",
    "truncated",
    "corrupted",
    "load_1min",
    "conntrack_entries",
    "page_bytes",
    "freq_min_mhz",
    "freq_max_mhz",
    "received_bytes",
];

fn numbers_of(value: &serde_json::Value) -> Vec<String> {
    let below = |key: &str, value: &serde_json::Value| -> Vec<String> {
        let found = numbers_of(value).into_iter();
        found.map(|rest| format!("/{key}{rest}")).collect()
    };
    match value {
        serde_json::Value::Number(_) => vec![String::new()],
        serde_json::Value::Array(values) => {
            let values = values.iter().enumerate();
            values
                .flat_map(|(n, value)| below(&n.to_string(), value))
                .collect()
        }
        serde_json::Value::Object(values) => {
            let values = values.iter();
            values.flat_map(|(key, value)| below(key, value)).collect()
        }
        _ => Vec::new(),
    }
}

fn times_ten(value: &serde_json::Value) -> serde_json::Value {
    match value.as_u64() {
        Some(number) => number.saturating_mul(10).into(),
        None => (10.0 * value.as_f64().unwrap_or_default()).into(),
    }
}

fn one_less(value: &serde_json::Value) -> serde_json::Value {
    match value.as_u64() {
        Some(number) => number.saturating_sub(1).into(),
        None => (value.as_f64().unwrap_or_default() - 1.0).into(),
    }
}

fn negated(value: &serde_json::Value) -> serde_json::Value {
    (-1.0 - value.as_f64().unwrap_or_default()).into()
}

fn huge(_value: &serde_json::Value) -> serde_json::Value {
    u64::MAX.into()
}

#[test]
fn settings_come_from_the_file_and_not_from_the_command_line() {
    let place = Place::new();
    let refused = place.run("--resume out.jsonl --threads 2");
    assert_code(&refused, 2);
    assert!(
        stderr(&refused).contains("--threads"),
        "{}",
        stderr(&refused)
    );
    assert_code(&place.run("--resume none.jsonl"), 2);
    assert_code(&place.run("--accept-changes"), 2);
}

#[test]
fn more_rounds_are_measured_until_intervals_are_narrow_or_the_time_is_over() {
    let one = "--engine null --no-reference --connection connected --ip v4 --threads 2 --payload 1 --soak 0s \
               --warmup 0s --duration 6ms -o out.csv";
    let row = |more: &str| {
        let place = Place::new();
        assert_code(&place.run(&format!("{one} {more}")), 0);
        assert_summarized(&place);
        rows(&place.path("out.csv")).remove(0)
    };
    let plain = row("");
    assert_eq!(
        (plain.ended_by.as_str(), plain.until_pct, plain.rounds),
        ("rounds", None, 6)
    );
    let wide = row("--until 100% --max-time 1m");
    assert_eq!(
        (wide.ended_by.as_str(), wide.until_pct),
        ("until", Some(100.0))
    );
    // On a busy machine, a short time is over before there is another round.
    let goes_on = |max_time: &&str| {
        let over = row(&format!("--until 0.0001% --max-time {max_time}"));
        assert_eq!(over.ended_by, "max-time");
        over.rounds > 6
    };
    let times = ["300ms", "3s", "30s", "3m"];
    assert!(times.iter().any(goes_on));
}

#[test]
fn raw_samples_go_where_they_are_told_to() {
    let place = Place::new();
    let sweep = SWEEP.replace("-o out.csv", "-o - --samples here.jsonl");
    let output = place.run(&sweep);
    assert_code(&output, 0);
    assert_eq!(place.files(), ["here.jsonl"]);
    assert_eq!(stdout(&place.run("summarize here.jsonl")), stdout(&output));
    assert!(header(&place.path("here.jsonl")).is_some());
    // Not over anything.
    assert_code(&place.run(&sweep), 2);
}

#[test]
fn a_quiet_sweep_says_what_spoils_it_and_what_its_files_are() {
    let place = Place::new();
    let output = place.run(&format!("{SWEEP} --quiet"));
    assert_code(&output, 0);
    assert_eq!(stdout(&output), "");
    let message = stderr(&output);
    let is_spoiling = |line: &&str| line.starts_with("warning: ") || line.starts_with("   fix: ");
    let others: Vec<&str> = message.lines().filter(|line| !is_spoiling(line)).collect();
    assert_eq!(others, ["out.csv, raw samples in out.jsonl"]);
    assert_whole(&place);
}
