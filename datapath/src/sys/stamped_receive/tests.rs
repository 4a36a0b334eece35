use std::ffi::c_int;

use nix::sys::socket::sockopt::RcvBuf;

use super::*;
use crate::sys::{clock, control_messages, interface_addresses};

fn pair(address: &str) -> Option<(UdpSocket, UdpSocket)> {
    let receiver = UdpSocket::bind(address).ok()?;
    ask_for_stamps(&receiver, receiver.local_addr().ok()?.ip());
    let sender = UdpSocket::bind(address).ok()?;
    sender.connect(receiver.local_addr().ok()?).ok()?;
    Some((receiver, sender))
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no sockets")]
fn each_datagram_has_its_source_its_length_and_its_arrival() {
    // Without IPv6 there is one pair.
    for (receiver, sender) in ["127.0.0.1:0", "[::1]:0"].into_iter().filter_map(pair) {
        let mut batch = StampedBatch::new(4, 3);
        let nothing = batch.receive(&receiver).expect_err("nothing was sent");
        assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
        let before = clock::realtime_ns();
        for payload in [&b"ab"[..], b"abcdefg", b""] {
            sender.send(payload).expect("loopback takes it");
        }
        assert_eq!(batch.receive(&receiver).ok(), Some(3));
        let after = clock::realtime_ns();
        let expected: [(u32, &[u8]); 3] = [(2, b"ab"), (7, b"abc"), (0, b"")];
        for (n, (bytes, payload)) in expected.into_iter().enumerate() {
            let datagram = batch.datagram(n);
            assert_eq!((datagram.bytes, datagram.payload), (bytes, payload));
            assert_eq!(datagram.source, sender.local_addr().ok());
            assert_eq!(datagram.dropped_before, None);
            assert_eq!(
                interface_addresses::name_of(datagram.interface).as_deref(),
                Some("lo")
            );
            let arrived = datagram.arrived_ns.expect("Linux stamps");
            assert!((before..=after).contains(&arrived));
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no sockets")]
fn a_datagram_tells_the_drops_before_it() {
    let (receiver, sender) = pair("127.0.0.1:0").expect("loopback is up");
    setsockopt(&receiver, RcvBuf, &4096).expect("a small buffer is always granted");
    for _ in 0..100 {
        sender.send(&[0; 500]).expect("loopback takes it");
    }
    let mut batch = StampedBatch::new(100, 1);
    let held = batch.receive(&receiver).expect("some are there");
    assert!(held < 100, "{held}");
    sender.send(&[0; 500]).expect("loopback takes it");
    assert_eq!(batch.receive(&receiver).ok(), Some(1));
    let dropped = batch.datagram(0).dropped_before;
    assert_eq!(dropped.map(|it| it as usize), Some(100 - held));
}

/// Reads the arrival and the drops of control messages.
fn read_control(control: &[u8]) -> (Option<u64>, Option<u32>) {
    let mut stamped = Stamped {
        source: None,
        interface: 0,
        bytes: 0,
        payload: &[],
        arrived_ns: None,
        dropped_before: None,
    };
    stamped.read_control(control);
    (stamped.arrived_ns, stamped.dropped_before)
}

#[test]
fn control_messages_that_are_cut_off_or_of_others_are_passed_over() {
    assert_eq!(read_control(&[]), (None, None));
    assert_eq!(read_control(&[1; 40]), (None, None));
    let message = |level: c_int, kind: c_int, contents: &[u8]| {
        let mut bytes = Vec::new();
        control_messages::push(&mut bytes, level, kind, contents);
        bytes
    };
    let time = [3_i64.to_ne_bytes(), 7_i64.to_ne_bytes()].concat();
    let all = [
        message(libc::SOL_UDP, 35, &time),
        message(libc::SOL_SOCKET, libc::SO_RXQ_OVFL, &5_u32.to_ne_bytes()),
        message(libc::SOL_SOCKET, 64, &time),
    ]
    .concat();
    assert_eq!(read_control(&all), (Some(3_000_000_007), Some(5)));
    let short = [3_i32.to_ne_bytes(), 9_i32.to_ne_bytes()].concat();
    let old = message(libc::SOL_SOCKET, 35, &short);
    assert_eq!(read_control(&old), (Some(3_000_000_009), None));
    assert_eq!(read_control(&old[..old.len() - 8]), (None, None));
}
