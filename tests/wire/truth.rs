//! Checks of the test wire: it does exactly what its rules say, as the sockets at both ends see it, and reports it.

use std::fs;
use std::io::ErrorKind;
use std::iter;
use std::net::{IpAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::wait_until;
use crate::lab::{End, Lab};

/// A sender at the near end and a receiver at the far one.
struct Flow {
    lab: Lab,
    near: UdpSocket,
    far: UdpSocket,
    sent: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ip {
    V4,
    V6,
}

impl Flow {
    fn over(rules: &str, ip: Ip) -> Option<Self> {
        let lab = Lab::builder().test_wire(rules).start()?;
        let address = |end| match ip {
            Ip::V4 => Some(lab.ipv4(end)),
            Ip::V6 => lab.ipv6(end),
        };
        let Some(addresses) = address(End::Near).zip(address(End::Far)) else {
            eprintln!("SKIPPED: this kernel has no IPv6");
            return None;
        };
        let_them_meet(&lab, addresses.1);
        let near = lab.socket(End::Near, addresses.0);
        let far = lab.socket(End::Far, addresses.1);
        near.connect(far.local_addr().expect("bound"))
            .expect("a route");
        far.set_nonblocking(true).expect("it can be");
        Some(Self {
            lab,
            near,
            far,
            sent: 0,
        })
    }

    /// Sends so many of this size, each with its number in its first byte, from 1.
    fn send(&mut self, count: u8, payload_bytes: usize) {
        for number in 1..=count {
            let mut payload = vec![0; payload_bytes];
            payload[0] = number;
            self.near.send(&payload).expect("sent");
            self.sent += 1;
        }
    }

    /// Waits until the wire has seen all, and holds `held` of them. What it did from near to far.
    fn settled(&self, held: u64) -> Value {
        wait_until("the wire has all", || {
            let way = self.lab.report()["a>b"].clone();
            let all = count(&way["datagrams"], "seen") + count(&way, "uncounted");
            assert!(all <= self.sent, "{way}");
            all == self.sent && count(&way["datagrams"], "held") == held
        });
        let way = self.lab.report()["a>b"].clone();
        accounting_closes(&way["datagrams"]);
        accounting_closes(&way["frames"]);
        way
    }

    /// The numbers that have arrived, in their order.
    fn received(&self) -> Vec<u8> {
        let mut payload = [0; 10_000];
        iter::from_fn(|| self.far.recv(&mut payload).ok().map(|_| payload[0])).collect()
    }

    /// A counter of UDP at the far end: `/proc/net/snmp`, or `snmp6`.
    fn counter(&self, ip: Ip, name: &str) -> u64 {
        let file = match ip {
            Ip::V4 => "/proc/thread-self/net/snmp",
            Ip::V6 => "/proc/thread-self/net/snmp6",
        };
        let table = self.lab.within(End::Far, || fs::read_to_string(file));
        let table = table.expect("it is there");
        let value = if ip == Ip::V4 {
            let mut rows = table.lines().filter_map(|line| line.strip_prefix("Udp: "));
            let (names, values) = (rows.next().expect("names"), rows.next().expect("values"));
            let place = names.split(' ').position(|found| found == name);
            values.split(' ').nth(place.expect("it is counted"))
        } else {
            let prefix = format!("Udp6{name}");
            let mut rows = table.lines().map(|line| line.split_whitespace());
            rows.find_map(|mut row| (row.next() == Some(&prefix)).then(|| row.next()))
                .flatten()
        };
        value.expect("it is counted").parse().expect("a count")
    }
}

/// Datagrams that wait for the neighbour's link-layer address can be overtaken by the first that need not.
fn let_them_meet(lab: &Lab, far: IpAddr) {
    let closed_port = (far, 9);
    let answer = lab.within(End::Near, || TcpStream::connect(closed_port));
    let refused = answer.expect_err("nothing listens there").kind();
    assert_eq!(refused, ErrorKind::ConnectionRefused);
}

fn count(of: &Value, name: &str) -> u64 {
    of[name].as_u64().expect("a count")
}

fn accounting_closes(accounting: &Value) {
    let ends = ["passed", "dropped", "refused", "too_many_held", "held"];
    let ended: u64 = ends.iter().map(|end| count(accounting, end)).sum();
    assert_eq!(
        count(accounting, "seen") + count(accounting, "copied"),
        ended,
        "{accounting}"
    );
}

#[test]
fn exactly_the_told_datagrams_are_dropped_and_only_those_that_count() {
    for ip in [Ip::V4, Ip::V6] {
        let Some(mut flow) = Flow::over("count size 300-; a>b drop 3,5-7; a>b drop every 10", ip)
        else {
            return;
        };
        flow.send(4, 64);
        flow.send(20, 300);
        let way = flow.settled(0);
        let dropped = [3, 5, 6, 7, 10, 20];
        let passed = (1..=20).filter(|number| !dropped.contains(number));
        assert_eq!(flow.received(), (1..=4).chain(passed).collect::<Vec<u8>>());
        assert_eq!(
            (
                count(&way, "uncounted"),
                count(&way["datagrams"], "dropped")
            ),
            (4, 6)
        );
        let numbers = [0, 1].map(|rule| way["rules"][rule]["numbers"].clone());
        assert_eq!(numbers, ["3,5-7", "10,20"]);
    }
}

#[test]
fn datagrams_are_repeated_and_reordered_as_told() {
    let Some(mut flow) = Flow::over(
        "a>b duplicate 2; a>b reorder 4 by 3; a>b reorder 9 by 5",
        Ip::V4,
    ) else {
        return;
    };
    flow.send(10, 300);
    let way = flow.settled(1);
    assert_eq!(flow.received(), [1, 2, 2, 3, 5, 6, 7, 4, 8, 10]);
    assert_eq!(
        (count(&way, "reordered"), count(&way["datagrams"], "copied")),
        (2, 1)
    );
    // What waits for others waits.
    flow.send(4, 300);
    flow.settled(0);
    assert_eq!(flow.received(), [1, 2, 3, 4, 9]);
}

#[test]
fn datagrams_are_delayed_by_size_and_after_silence() {
    let rules = "a>b delay size 1400- by 200ms; a>b drop silence 1h";
    let Some(mut flow) = Flow::over(rules, Ip::V4) else {
        return;
    };
    let start = Instant::now();
    flow.send(2, 300);
    flow.send(1, 1400);
    flow.send(3, 1399);
    let way = flow.settled(0);
    assert!(start.elapsed() >= Duration::from_millis(200));
    // The first one came after silence; the large one last.
    assert_eq!(flow.received(), [2, 1, 2, 3, 1]);
    assert_eq!(
        (count(&way, "delayed"), count(&way["datagrams"], "dropped")),
        (1, 1)
    );
}

#[test]
fn a_misdirected_datagram_finds_a_closed_port_and_its_checksum_is_right() {
    for ip in [Ip::V4, Ip::V6] {
        let Some(mut flow) = Flow::over("a>b misdirect 2,4", ip) else {
            return;
        };
        let before = flow.counter(ip, "NoPorts");
        flow.send(5, 301);
        let way = flow.settled(0);
        assert_eq!(flow.received(), [1, 3, 5]);
        assert_eq!(count(&way, "misdirected"), 2);
        assert_eq!(flow.counter(ip, "NoPorts") - before, 2);
        assert_eq!(flow.counter(ip, "InCsumErrors"), 0);
    }
}

#[test]
fn what_is_above_a_rate_is_dropped_and_counted() {
    for rules in ["a>b limit 10/s queue 5", "a>b police 10/s burst 6"] {
        let Some(mut flow) = Flow::over(rules, Ip::V4) else {
            return;
        };
        let start = Instant::now();
        flow.send(100, 300);
        let way = flow.settled(0);
        let passed = flow.received().len() as u64;
        let dropped = count(&way["datagrams"], "dropped");
        assert_eq!(
            (passed + dropped, count(&way["rules"][0], "dropped")),
            (100, dropped)
        );
        // The wire may have read them later than they were sent, but not later than now.
        let more = start.elapsed().as_secs() * 10 + 11;
        assert!((6..=6 + more).contains(&passed), "{passed}");
    }
}

#[test]
fn the_fragments_of_a_datagram_go_the_way_of_the_first() {
    for ip in [Ip::V4, Ip::V6] {
        let Some(mut flow) = Flow::over("a>b drop 2; a>b misdirect 4; a>b duplicate 5", ip) else {
            return;
        };
        flow.send(5, 4000);
        let way = flow.settled(0);
        // Each fragment came twice: reassembly makes one datagram of them (RFC 791, section 3.2).
        assert_eq!(flow.received(), [1, 3, 5]);
        assert_eq!(count(&way["frames"], "copied"), 3);
        assert_eq!(count(&way["datagrams"], "seen"), 5);
        assert_eq!(count(&way["frames"], "dropped"), 3);
        assert_eq!(count(&way, "stray_fragments"), 0);
    }
}

#[test]
fn the_way_back_has_numbers_of_its_own() {
    let Some(mut flow) = Flow::over("b>a drop 1; drop 3", Ip::V4) else {
        return;
    };
    flow.send(3, 300);
    flow.settled(0);
    flow.near.set_nonblocking(true).expect("it can be");
    let peer = flow.near.local_addr().expect("bound");
    for number in 1..=4 {
        flow.far.send_to(&[number; 300], peer).expect("sent");
    }
    let lab = std::cell::RefCell::new(&mut flow.lab);
    wait_until("all came", || {
        lab.borrow_mut().report()["b>a"]["datagrams"]["seen"] == 4
    });
    let mut payload = [0; 1000];
    let came = iter::from_fn(|| flow.near.recv(&mut payload).ok().map(|_| payload[0]));
    assert_eq!(came.collect::<Vec<u8>>(), [2, 4]);
    assert_eq!(flow.received(), [1, 2]);
}
