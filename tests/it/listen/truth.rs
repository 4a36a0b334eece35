//! What a sender did is what `listen` reports: sizes, gaps, bursts, numbers, drops.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{fs, thread};

use nix::sys::signal::Signal;
use serde_json::Value;

use super::{Listener, count, free};
use crate::common::lab::{End, Lab};
use crate::common::{program, wait_until};

/// Shortest silence, and the pause of the sender.
const SILENCE: Duration = Duration::from_millis(30);
const PAUSE: Duration = Duration::from_millis(60);

/// Numbers and sizes of a burst.
type Burst = Vec<(u32, usize)>;

/// Four bursts of which everything is known.
fn bursts() -> [Burst; 4] {
    // The numbers begin again at 0 after the twentieth.
    let first = u32::MAX - 19;
    let number = |n: u32| first.wrapping_add(n);
    let all = |from: u32, to: u32, size| (from..to).map(move |n| (number(n), size));
    let skips = all(40, 50, 100).chain(all(53, 63, 100));
    let twice = [(number(61), 100), (number(62), 100)];
    let late = [64, 63, 66, 65].map(|n| (number(n), 554));
    [
        all(0, 40, 1200).collect(),
        skips.chain(twice).collect(),
        late.to_vec(),
        (1_000_000_000..1_000_000_020).map(|n| (n, 554)).collect(),
    ]
}

fn now_ns() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("after 1970");
    u64::try_from(since.as_nanos()).expect("before 2554")
}

/// Sends the bursts, and returns the time before and after each call.
fn send(bursts: &[Burst], sender: &UdpSocket, to: SocketAddr) -> Vec<Vec<(u64, u64)>> {
    let one = |&(number, size): &(u32, usize)| {
        let mut payload = vec![0; size];
        payload[2..6].copy_from_slice(&number.to_be_bytes());
        let before = now_ns();
        sender.send_to(&payload, to).expect("there is room");
        (before, now_ns())
    };
    let burst = |burst: &Burst| {
        thread::sleep(PAUSE);
        burst.iter().map(one).collect()
    };
    bursts.iter().map(burst).collect()
}

/// Checks a summary against what was sent.
fn check(summary: &Value, times: &[Vec<(u64, u64)>]) {
    assert_eq!(count(summary, "/datagrams"), 86);
    assert_eq!(count(summary, "/bytes"), 40 * 1200 + 22 * 100 + 24 * 554);
    let sizes = serde_json::json!([
        {"bytes": 1200, "datagrams": 40},
        {"bytes": 554, "datagrams": 24},
        {"bytes": 100, "datagrams": 22},
    ]);
    assert_eq!(summary["sizes"]["each"], sizes);
    let counts = serde_json::json!({
        "received": 84, "missing": 3, "places": 1, "late": 2, "duplicates": 2, "restarts": 1, "strays": 0,
        "following": 81,
    });
    assert_eq!(summary["sequence"]["sources"][0]["counts"], counts);
    assert_eq!(count(summary, "/sequence/sources/0/lost_before_socket"), 3);
    assert_eq!(count(summary, "/drops/socket"), 0);
    assert_eq!(summary["sources"].as_array().map(Vec::len), Some(1));
    check_silences(&summary["silences"], times);
}

/// Checks the silences. Each arrival lies between the times before and after its sending, so that gaps are known within
/// limits. A busy machine may add silences of its own to a burst: then the limits allow both.
fn check_silences(silences: &Value, times: &[Vec<(u64, u64)>]) {
    let all: Vec<(u64, u64)> = times.concat();
    let threshold = u64::try_from(SILENCE.as_nanos()).expect("small");
    let gaps = all.windows(2).map(|two| {
        let [(before, after), (next_before, next_after)] = [two[0], two[1]];
        (next_before - after, next_after - before)
    });
    let sure = gaps
        .clone()
        .filter(|(least, _)| *least >= threshold)
        .count();
    let possible = gaps.filter(|(_, most)| *most >= threshold).count();
    assert!(sure >= times.len() - 1);
    let found = usize::try_from(count(silences, "/count")).expect("few");
    assert!(
        (sure..=possible).contains(&found),
        "{sure} to {possible}: {silences:#}"
    );
    let longest = silences["longest"].as_array().expect("a list");
    let began: Vec<u64> = longest
        .iter()
        .map(|gap| {
            let at = gap["began_at"].as_str().expect("a time");
            let at = humantime::parse_rfc3339(at).expect("a time");
            let since = at.duration_since(UNIX_EPOCH).expect("after 1970");
            u64::try_from(since.as_nanos()).expect("before 2554")
        })
        .collect();
    for burst in &times[..times.len() - 1] {
        // The moment is cut to milliseconds.
        let (before, after) = burst.last().expect("not empty");
        let limits = before - 1_000_000..=*after;
        assert!(
            began.iter().any(|it| limits.contains(it)),
            "{limits:?}: {began:?}"
        );
    }
    if found == times.len() - 1 {
        let bursts = serde_json::json!({
            "count": 4, "fewest_datagrams": 4, "most_datagrams": 40, "most_bytes": 48_000,
        });
        assert_eq!(silences["bursts"], bursts);
    }
}

const OPTIONS: &str = "--sequence 2:4 --gap 30ms --format json";

#[test]
fn everything_that_a_sender_did_is_reported() {
    for loopback in ["127.0.0.1:0", "[::1]:0"] {
        let Ok(sender) = UdpSocket::bind(loopback) else {
            eprintln!("SKIPPED: no {loopback}");
            continue;
        };
        let address = free(loopback);
        let listener = Listener::start(&format!("{address} {OPTIONS}"));
        let times = send(&bursts(), &sender, address);
        check(&listener.summary(), &times);
    }
}

#[test]
fn everything_that_a_sender_did_is_reported_over_a_cable() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let address = SocketAddr::from((lab.ipv4(End::Near), 7502));
    let sender = lab.socket(End::Far, lab.ipv4(End::Far));
    let program = program();
    let program = program.get_program().to_string_lossy();
    let listener = Listener::of(lab.near(&program), &format!("7502 {OPTIONS}"));
    let times = send(&bursts(), &sender, address);
    let summary = listener.summary();
    check(&summary, &times);
    let source = summary["sources"][0]["address"]
        .as_str()
        .expect("an address");
    assert!(source.contains(&lab.ipv4(End::Far).to_string()), "{source}");
}

/// Returns the bytes in the queue of a socket and its drops, by the kernel's own table.
fn queue_and_drops(port: u16) -> (u64, u64) {
    let tables = ["udp", "udp6"].map(|name| fs::read_to_string(format!("/proc/self/net/{name}")));
    let tables = tables.map(Result::unwrap_or_default).concat();
    let port = format!(":{port:04X}");
    let mut lines = tables
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    let line = lines.find(|line| line.get(1).is_some_and(|local| local.ends_with(&port)));
    let line = line.expect("the socket is open");
    let (_, queued) = line[4].split_once(':').expect("two numbers");
    let queued = u64::from_str_radix(queued, 16).expect("a number");
    (queued, line[12].parse().expect("a number"))
}

/// Sends 200 datagrams of these lengths to a listener that is stopped, and one more when it has read them. Returns its
/// summary, and the drops that the kernel counted.
fn overflow(rcvbuf: u64, bytes: impl Fn(u16) -> usize) -> (Value, u64) {
    let address = free("127.0.0.1:0");
    let sender = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
    let options = format!("{address} --sequence 0:2:le --format json --rcvbuf {rcvbuf}");
    let listener = Listener::start(&options);
    let send = |n: u16| {
        let mut payload = vec![0; bytes(n)];
        payload[..2].copy_from_slice(&n.to_le_bytes());
        sender
            .send_to(&payload, address)
            .expect("loopback takes it");
    };
    listener.signal(Signal::SIGSTOP);
    let is_stopped = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", listener.child.id()));
        stat.is_ok_and(|stat| stat.contains(") T "))
    };
    wait_until("the stop", is_stopped);
    (0..200).for_each(send);
    let (_, dropped) = queue_and_drops(address.port());
    listener.signal(Signal::SIGCONT);
    wait_until("the reading", || queue_and_drops(address.port()).0 == 0);
    send(200);
    (listener.summary(), dropped)
}

#[test]
fn drops_are_those_of_the_kernel_and_the_buffer_that_is_named_holds_the_burst() {
    let (summary, dropped) = overflow(8192, |_| 300);
    assert!(dropped > 0, "the buffer is small");
    assert_eq!(count(&summary, "/drops/socket"), dropped);
    assert_eq!(count(&summary, "/datagrams"), 201 - dropped);
    assert_eq!(
        count(&summary, "/sequence/sources/0/counts/missing"),
        dropped
    );
    assert_eq!(
        count(&summary, "/sequence/sources/0/dropped_at_socket"),
        dropped
    );
    assert_eq!(count(&summary, "/sequence/sources/0/lost_before_socket"), 0);
    let needed = count(&summary, "/buffer/needed_rcvbuf");
    let (summary, dropped) = overflow(needed, |_| 300);
    assert_eq!(
        (count(&summary, "/drops/socket"), dropped),
        (0, 0),
        "{needed} B"
    );
    assert_eq!(summary["buffer"]["needed_rcvbuf"], Value::Null);
    // It is not far too large either.
    let (_, dropped) = overflow(needed / 2, |_| 300);
    assert!(dropped > 0, "{needed} B");
}

#[test]
fn the_buffer_that_is_named_holds_longer_datagrams_than_those_that_filled_it() {
    let bytes = |n: u16| if n < 120 { 100 } else { 9000 };
    let (summary, dropped) = overflow(20_000, bytes);
    assert!(dropped > 80, "the long ones came to a full buffer");
    assert_eq!(count(&summary, "/buffer/needed_if_none_longer_than"), 9000);
    let needed = count(&summary, "/buffer/needed_rcvbuf");
    assert_eq!(overflow(needed, bytes).1, 0, "{needed} B");
    // If no long one comes, the estimate says that it is for short ones.
    let (summary, _) = overflow(20_000, |n| if n < 200 { bytes(n) } else { 100 });
    assert_eq!(count(&summary, "/buffer/needed_if_none_longer_than"), 100);
}

#[test]
fn each_rtp_stream_has_its_own_numbers() {
    let address = free("127.0.0.1:0");
    let sender = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
    let listener = Listener::start(&format!("{address} --rtp --format json"));
    let rtp = |stream: u32, number: u16, kind: u8| {
        let mut packet = vec![0x80, kind];
        packet.extend(number.to_be_bytes());
        packet.extend([0; 4]);
        packet.extend(stream.to_be_bytes());
        sender.send_to(&packet, address).expect("loopback takes it");
    };
    for n in 0..100 {
        rtp(7, 65_500_u16.wrapping_add(n), 96);
        if n % 10 != 5 {
            rtp(0xdead_beef, n, 97);
        }
    }
    // A sender report of RTCP.
    rtp(7, 6, 200);
    let summary = listener.summary();
    assert_eq!(count(&summary, "/datagrams"), 191);
    assert_eq!(count(&summary, "/sequence/unnumbered"), 1);
    let sources = summary["sequence"]["sources"].as_array().expect("a list");
    let of = |stream: u32| {
        let name = format!("stream {stream:08x}");
        let is_it = |it: &&Value| it["source"].as_str().is_some_and(|it| it.ends_with(&name));
        &sources.iter().find(is_it).expect("it sent something")["counts"]
    };
    assert_eq!(
        (&of(7)["received"], &of(7)["missing"]),
        (&100.into(), &0.into())
    );
    // From 0 to 99, of which 90 came.
    let other = of(0xdead_beef);
    assert_eq!(
        (&other["received"], &other["missing"]),
        (&90.into(), &10.into())
    );
}
