//! Sources whose numbers are a series, and others whose losses cannot be known.

use std::net::{SocketAddr, UdpSocket};
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::{Listener, free};
use crate::common::{Place, program, stdout, words};

/// Starts to listen to numbers of 4 bytes, with room for all of them.
fn listen(options: &str) -> (Listener, SocketAddr) {
    let address = free("127.0.0.1:0");
    let options = format!("{address} --sequence 0:4 --rcvbuf 200000 {options}");
    (Listener::start(&options), address)
}

/// Sends numbers to an address, from a socket of its own.
fn send(numbers: impl IntoIterator<Item = u32>, to: SocketAddr) -> String {
    let sender = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
    for number in numbers {
        let sent = sender.send_to(&number.to_be_bytes(), to);
        sent.expect("loopback takes it");
    }
    sender.local_addr().expect("bound").to_string()
}

fn of<'a>(summary: &'a Value, source: &str) -> &'a Value {
    let mut sources = summary["sequence"]["sources"]
        .as_array()
        .expect("a list")
        .iter();
    sources
        .find(|it| it["source"] == source)
        .expect("it sent something")
}

#[test]
fn each_source_is_judged_by_itself() {
    let (listener, address) = listen("--format json");
    let lidar = send((0..100).filter(|n| *n != 40), address);
    // The packet numbers of a camera begin again in each frame.
    let packets =
        (0..5).flat_map(|frame| (0..20).filter(move |n| frame != 2 || !(8..12).contains(n)));
    let camera = send(packets, address);
    let steps = send((0..50).map(|n| n * 16), address);
    let other = send([0x5254_5053, 77, 0xdead_beef, 1 << 19], address);
    let summary = listener.summary();
    let counts = |source: &str| of(&summary, source)["counts"].clone();
    assert_eq!(
        (&counts(&lidar)["missing"], &counts(&lidar)["received"]),
        (&1.into(), &99.into())
    );
    assert_eq!(
        (&counts(&camera)["missing"], &counts(&camera)["places"]),
        (&4.into(), &1.into())
    );
    assert_eq!(
        (&counts(&camera)["restarts"], &counts(&camera)["duplicates"]),
        (&4.into(), &0.into())
    );
    for (source, doubt) in [
        (steps, "the numbers go in steps of 16"),
        (other, "the numbers do not follow each other"),
    ] {
        assert_eq!(of(&summary, &source)["doubt"], doubt);
        assert_eq!(counts(&source), Value::Null);
    }
}

#[test]
fn the_summary_names_each_source_and_what_cannot_be_known() {
    let (listener, address) = listen("");
    let lidar = send((0..100).filter(|n| *n != 40), address);
    let constant = send([7; 20], address);
    let (text, errors, code) = listener.end();
    assert_eq!(code, Some(0), "{errors}");
    for line in [
        &format!("{lidar}:\n          1 of 100 numbers missing, in 1 place; 0 late, 0 twice\n"),
        "          0 of the missing were dropped at the socket, 1 were lost before it\n",
        &format!("{constant}:\n          losses cannot be known: the number is always the same\n"),
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
}

#[test]
fn more_sources_than_are_followed_are_said() {
    let (listener, address) = listen("");
    // All are open at once, so that each has a port of its own.
    let bind = |_| UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
    for sender in (0..70).map(bind).collect::<Vec<_>>() {
        sender.send_to(&[0; 4], address).expect("loopback takes it");
    }
    let (text, ..) = listener.end();
    let line = "losses of 6 datagrams of other sources cannot be known: there are too many";
    assert!(text.contains(line), "{text}");
    assert!(text.contains(" 64+ "), "{text}");
}

#[test]
fn a_full_disk_costs_no_summary() {
    let place = Place::new();
    let path = place.path("in.jsonl");
    let mut limited = Command::new("sh");
    // As a full disk: writing beyond some kilobytes fails.
    limited.args(["-c", "trap '' XFSZ; ulimit -f 4; exec \"$0\" \"$@\""]);
    limited.arg(program().get_program());
    let address = free("127.0.0.1:0");
    let options = format!("{address} --window 10ms --count 20 -o {}", path.display());
    let listener = Listener::of(limited, &options);
    send([1, 2, 3], address);
    let (text, errors, code) = listener.wait();
    assert_eq!(code, Some(1), "{errors}");
    assert!(text.contains("3 datagrams in "), "{text}");
    assert!(
        errors.contains("its earlier lines are complete"),
        "{errors}"
    );
    let text = stdout(&place.run("summarize in.jsonl"));
    assert!(text.contains("the log ends before its end"), "{text}");
}

/// Sends numbers of 4 bytes, each after a pause.
fn send_slowly(
    numbers: impl IntoIterator<Item = u32>,
    pause_ms: u64,
    sender: &UdpSocket,
    to: SocketAddr,
) {
    for number in numbers {
        thread::sleep(Duration::from_millis(pause_ms));
        let sent = sender.send_to(&number.to_be_bytes(), to);
        sent.expect("loopback takes it");
    }
}

#[test]
fn a_counter_that_jumps_loses_nothing_and_a_source_that_falls_silent_is_named() {
    let place = Place::new();
    let path = place.path("in.jsonl");
    let (listener, address) = listen(&format!("--gap 900ms -o {}", path.display()));
    let bind = || UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
    let (lidar, camera) = (bind(), bind());
    let numbers = (0..60).filter(|n| *n != 20).chain(360..400);
    send_slowly(numbers, 3, &lidar, address);
    // The camera begins again.
    send_slowly((0..30).chain(0..30), 25, &camera, address);
    let (text, errors, code) = listener.end();
    assert_eq!(code, Some(0), "{errors}");
    let lidar = lidar.local_addr().expect("bound");
    let again = stdout(&place.run("summarize in.jsonl"));
    for text in [text, again] {
        let text = words(&text);
        let (_, numbers) = text.split_once(&format!("{lidar}: ")).expect("its numbers");
        assert!(
            numbers.starts_with("1 of 100 numbers missing, in 1 place;"),
            "{text}"
        );
        assert!(
            numbers.contains("the numbers jumped over 300 in "),
            "{text}"
        );
        assert!(
            numbers.contains("its counter began again, or losses there cannot be known"),
            "{text}"
        );
        assert!(
            numbers.contains("the numbers began again in 1 place, at "),
            "{text}"
        );
        assert!(text.contains(" before it: "), "{text}");
        let silent = format!("silent {lidar} since ");
        assert!(
            text.contains(&silent) && text.contains(" s before the end"),
            "{text}"
        );
    }
}
