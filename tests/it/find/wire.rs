//! Searches with a known answer: on wires of a set capacity, with a limiting place that the test chooses.

use serde_json::Value;

use super::alone;
use crate::common::lab::{Builder, End, Lab};
use crate::common::{Place, json_rows, program, stderr, stdout};

/// Largest relative error of a search.
const WITHIN: f64 = 0.03;
/// Searches of which one must be right where other tests run beside it.
const TRIES: usize = 3;
/// Bytes of a datagram that carries 300, on veth: with the headers of UDP, IPv4 and Ethernet.
const FRAME_BYTES: f64 = 342.0;

/// A search for a rate between the ends of a lab: its only row. `None`: there is no lab to be had.
fn found(lab: Builder, words: &str) -> Option<Value> {
    Some(found_in(&lab.start()?, words))
}

fn found_in(lab: &Lab, words: &str) -> Value {
    let rows = search(lab, &format!("lossless --engine std --payload 300 {words}"));
    let [row] = &rows[..] else {
        panic!("{rows:?}");
    };
    row.clone()
}

/// The payloads at which something jumps.
fn jumps(lab: &Lab, words: &str) -> Vec<u64> {
    let rows = search(lab, &format!("cliff --engine std {words}"));
    let jumps = rows.iter().filter_map(|row| row["found_at"].as_u64());
    jumps.collect()
}

/// Runs a search from end to end. Each trial starts an agent, which ssh would take longer for than the trial lasts.
pub(super) fn search(lab: &Lab, words: &str) -> Vec<Value> {
    let place = Place::new();
    let udpbench = program();
    let program = udpbench.get_program().to_str().expect("UTF-8");
    let far = lab.far(program);
    let far = far.get_program().to_str().expect("UTF-8");
    let enter = place.script("enter", &format!("shift; exec {far} \"$@\""));
    let address = lab.ipv4(End::Far);
    let mut command = lab.near(program);
    command.args(["wire", "board", "--agent", program, "--rsh"]);
    command.arg(enter);
    let all = format!(
        "find {words} --address {address} --direction up --pin 0:1 -q -o log.jsonl --format json"
    );
    command.args(all.split_whitespace());
    let output = command.current_dir(place.path(".")).output();
    let output = output.expect("it can be started");
    assert!(output.status.success(), "{}", stderr(&output));
    let rows = json_rows(&stdout(&output));
    assert!(
        rows.iter().all(|row| row["is_finished"] == true),
        "{rows:?}"
    );
    rows
}

/// Datagrams that may come at once, as threads sleep too long: what is due in so many seconds. A trial of 500 ms bears
/// 0.8 % more than the rate where it is 4 ms.
fn burst(pps: f64, seconds: f64) -> f64 {
    (seconds * pps).max(5.0).round()
}

/// A token bucket of so many datagrams per second, or about as many: which exactly, and the cable. Its queue is 50 ms
/// long.
fn bucket(pps: f64, burst_s: f64) -> (f64, Builder) {
    let kbit = (pps * FRAME_BYTES * 8.0 / 1000.0).round();
    let truth = kbit * 1000.0 / 8.0 / FRAME_BYTES;
    let bytes = |datagrams: f64| (datagrams * FRAME_BYTES).round();
    let (burst, limit) = (bytes(burst(pps, burst_s)), bytes(0.05 * pps));
    let words = format!("{kbit}kbit burst {burst} limit {limit}");
    (truth, Lab::builder().tbf(End::Near, &words))
}

/// A wire that drops what is faster than that.
fn police(pps: f64, burst_s: f64) -> (f64, Builder) {
    let burst = burst(pps, burst_s);
    let rules = format!("count size 300-; a>b police {pps}/s burst {burst}");
    (pps, Lab::builder().test_wire(&rules))
}

/// Returns the relative error of a search.
fn off(truth: f64, row: &Value) -> f64 {
    row["lossless_pps"].as_f64().expect("a rate") / truth - 1.0
}

#[test]
fn what_a_token_bucket_bears_is_found_and_where_the_rest_dies() {
    // What its queue holds has not died yet.
    assert_found_roughly(bucket(2000.0, 0.02), &["qdisc", "queue on the way"]);
}

#[test]
fn what_a_wire_bears_is_found_and_where_the_rest_dies() {
    assert_found_roughly(police(2000.0, 0.02), &["path"]);
}

/// Beside other tests, threads are held up, and more trials than half may lose something: how near it comes on a quiet
/// machine is tested below. A search that is wrong is wrong each time; one that was held up is not.
fn assert_found_roughly((truth, lab): (f64, Builder), places: &[&str]) {
    let Some(lab) = lab.start() else {
        return;
    };
    let words = "--trial 200ms --sum 1s --width 4% --exceed 80% --recheck 0s";
    let tried = (0..TRIES).map(|_| found_in(&lab, words));
    let is_right = |row: &Value| {
        let place = row["limiting_place"].as_str().expect("text");
        places.contains(&place) && (-0.5..0.2).contains(&off(truth, row))
    };
    let mut wrong = Vec::new();
    for row in tried {
        if is_right(&row) {
            return;
        }
        wrong.push(row);
    }
    panic!("{truth}: {wrong:?}");
}

#[test]
fn the_byte_from_which_on_requests_are_delayed_is_found() {
    let lab = Lab::builder().test_wire("count size 16-; a>b delay size 124- by 2ms");
    let Some(lab) = lab.start() else {
        return;
    };
    // Beside other tests, threads are held up: a search then finds nothing. It is wrong if it finds something else.
    let mut tried = (0..TRIES).map(|_| jumps(&lab, "--payload 100,150"));
    let found = tried.find(|found| !found.is_empty());
    assert_eq!(found.unwrap_or_default(), [124]);
}

/// The silences from which on something is different: (before, at), in nanoseconds.
fn steps(lab: &Lab, words: &str) -> Vec<(u64, u64)> {
    let rows = search(
        lab,
        &format!("idle --engine std --ip v4 --connection connected {words}"),
    );
    let step = |row: &Value| Some((row["found_low"].as_u64()?, row["found_high"].as_u64()?));
    rows.iter().filter_map(step).collect()
}

#[test]
fn the_silence_after_which_a_wire_drops_the_first_datagram_is_found() {
    let lab = Lab::builder().test_wire("count size 64; a>b drop silence 30ms");
    let Some(lab) = lab.start() else {
        return;
    };
    // Beside other tests, a thread may be held up for longer than that, too.
    let tried = (0..TRIES).map(|_| steps(&lab, "--silence 5ms,50ms --threshold 100%"));
    let mut wrong = Vec::new();
    for steps in tried {
        if steps.contains(&(20_000_000, 50_000_000)) {
            return;
        }
        wrong.push(steps);
    }
    panic!("{wrong:?}");
}

/// On a quiet machine: `cargo test --release --test find -- --ignored --nocapture of_silences`.
#[test]
#[ignore = "takes half an hour, and a machine where nothing else runs"]
fn of_silences_19_of_20_are_found_and_none_on_a_plain_wire_in_39_of_40() {
    const MS: u64 = 1_000_000;
    let _alone = alone();
    let mut found = 0;
    // As a request is delayed whose answer is late, silences from somewhat less than that on are, too.
    for (ms, range, effect) in [
        (1, "100us,10ms", "delay silence 1ms by 300us"),
        (20, "2ms,100ms", "delay silence 20ms by 2ms"),
        (200, "20ms,500ms", "delay silence 200ms by 2ms"),
        (1, "100us,10ms", "drop silence 1ms"),
        (20, "2ms,100ms", "drop silence 20ms"),
        (200, "20ms,500ms", "drop silence 200ms"),
    ] {
        for _ in 0..4 {
            let lab = Lab::builder().test_wire(&format!("count size 64; a>b {effect}"));
            let Some(lab) = lab.start() else {
                return;
            };
            let steps = steps(&lab, &format!("--silence {range}"));
            // Up to one step of the grid beside it.
            let is_near = |(before, at): (u64, u64)| before <= ms * MS && ms * MS <= 2 * at;
            let is_found = matches!(steps[..], [step] if is_near(step));
            println!("{effect}: {steps:?}, found: {is_found}");
            found += u32::from(is_found);
        }
    }
    println!("found: {found} of 24");
    let mut none = 0;
    for _ in 0..40 {
        let Some(lab) = Lab::builder().test_wire("count size 64").start() else {
            return;
        };
        let steps = steps(&lab, "--silence 10us,200ms");
        println!("plain: {steps:?}");
        none += u32::from(steps.is_empty());
    }
    println!("plain: none in {none} of 40");
    assert!(
        found >= 23 && none >= 39,
        "{found} of 24, and none in {none} of 40"
    );
}

/// On a quiet machine: `cargo test --release --test find -- --ignored --nocapture of_buffers`.
#[test]
#[ignore = "takes two minutes, and a machine where nothing else runs"]
fn trains_are_as_long_as_the_sizes_of_buffers_say_within_5_percent() {
    let _alone = alone();
    let is_as_predicted = |row: &Value| {
        println!("{row}");
        let held = row["buffers_hold_packets"].as_f64().expect("known");
        let off = row["longest_train_packets"].as_f64().expect("a train") / held - 1.0;
        assert!(off.abs() <= 0.05, "{off}: {row}");
    };
    let place = Place::new();
    let words = "--engine std --threads 2 --payload 300 --ip v4 --connection connected --rcvbuf 32k,64k,128k,256k \
                 --workload rr --service 200us --pause 250ms --sum 2s";
    let output = place.run(&format!("find burst {words} -q -o log.jsonl --format json"));
    assert!(output.status.success(), "{}", stderr(&output));
    let rows = json_rows(&stdout(&output));
    assert_eq!(rows.len(), 4, "{rows:?}");
    rows.iter().for_each(is_as_predicted);
    // A send buffer that is smaller than the queue would hold the sender back.
    let words = "burst --engine std --payload 300 --ip v4 --connection connected --sndbuf 4M --pause 250ms --sum 2s";
    for bucket in [
        "10mbit burst 5000 limit 34200",
        "10mbit burst 10000 limit 136800",
    ] {
        let Some(lab) = Lab::builder().tbf(End::Near, bucket).start() else {
            return;
        };
        search(&lab, words).iter().for_each(is_as_predicted);
    }
}

/// On a quiet machine: `cargo test --release --test find -- --ignored --nocapture of_bytes`.
#[test]
#[ignore = "takes five minutes, and a machine where nothing else runs"]
fn of_bytes_that_cost_more_each_is_found() {
    let _alone = alone();
    let late = "count size 16-; a>b delay size 124- by 50us";
    for (lab, words, first) in [
        (Lab::builder(), "--workload flood --payload 1000,2000", 1473),
        (
            Lab::builder().mtu(1400),
            "--workload flood --payload 1000,2000",
            1373,
        ),
        (Lab::builder().test_wire(late), "--payload 16,1000", 124),
    ] {
        let Some(lab) = lab.start() else {
            return;
        };
        for _ in 0..3 {
            assert_eq!(jumps(&lab, words), [first], "{words}");
        }
    }
}

/// On a quiet machine: `cargo test --release --test find -- --ignored --nocapture of_known_rates`.
#[test]
#[ignore = "takes ten minutes, and a machine where nothing else runs"]
fn of_known_rates_19_of_20_are_found_within_3_percent() {
    let _alone = alone();
    let mut offs = Vec::new();
    for round in 0..2 {
        for pps in [1000.0, 2000.0, 5000.0, 10_000.0, 20_000.0] {
            for (truth, lab) in [bucket(pps, 0.004), police(pps, 0.004)] {
                let Some(row) = found(lab, "--sum 5s --recheck 0s") else {
                    return;
                };
                let off = off(truth, &row);
                println!("{round}: {truth:.0}: {:+.2} %: {row}", 100.0 * off);
                offs.push(off);
            }
        }
    }
    let within = offs.iter().filter(|off| off.abs() <= WITHIN).count();
    assert!(within >= 19, "{within} of {}: {offs:?}", offs.len());
}

/// On a quiet machine with two CPUs or more, as above.
#[test]
#[ignore = "takes five minutes, and a machine where nothing else runs"]
fn of_five_set_ups_the_place_that_gives_way_is_named() {
    let _alone = alone();
    let on_loopback = |words: &str| {
        let place = Place::new();
        let common = "--threads 2 --payload 300 --ip v4 --connection connected --pin 0:1 -q -o log.jsonl --format json";
        let output = place.run(&format!("find lossless {words} --recheck 0s {common}"));
        assert!(output.status.success(), "{}", stderr(&output));
        let rows = json_rows(&stdout(&output));
        rows[0].clone()
    };
    for (words, place) in [
        ("--sender std --receiver mmsg", "sender's CPU"),
        ("--sender gso --receiver std", "receiver's CPU"),
        (
            "--sender mmsg --batch 32 --receiver std --rcvbuf 8k",
            "receive buffer",
        ),
    ] {
        let row = on_loopback(words);
        println!("{words}: {row}");
        assert_eq!(row["limiting_place"], place, "{words}: {row}");
    }
    // A queue that is too short to grow: one of 1 ms.
    let kbit = 10_000.0 * FRAME_BYTES * 8.0 / 1000.0;
    let words = format!(
        "{kbit}kbit burst {} limit {}",
        40.0 * FRAME_BYTES,
        10.0 * FRAME_BYTES
    );
    let (_, wire) = police(10_000.0, 0.004);
    for (lab, place) in [
        (Lab::builder().tbf(End::Near, &words), "qdisc"),
        (wire, "path"),
    ] {
        let Some(row) = found(lab, "--recheck 0s") else {
            return;
        };
        println!("{row}");
        assert_eq!(row["limiting_place"], place, "{row}");
    }
}
