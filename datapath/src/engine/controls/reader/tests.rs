//! Tests of the comparison, with messages as the kernel writes them.

use std::net::{Ipv4Addr, Ipv6Addr, UdpSocket};

use super::*;
use crate::engine::controls::ECT_0;
use crate::sys::control_messages;

/// Returns a reader at a socket of loopback, which expects ECT(0).
fn reader(kinds: Cmsg) -> ControlReader {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback is up");
    ControlReader::open(&socket, Controls::new(kinds, kinds, 0)).expect("Linux has all kinds")
}

/// Returns the messages of a datagram to 127.0.0.1 with these ECN bits, which arrives now.
fn messages(ecn: u8) -> Vec<u8> {
    let mut messages = Vec::new();
    let ns = clock::realtime_ns();
    let (seconds, ns) = (ns / 1_000_000_000, ns % 1_000_000_000);
    let stamp = [seconds.to_ne_bytes(), ns.to_ne_bytes()].concat();
    control_messages::push(&mut messages, libc::SOL_SOCKET, 35, &stamp);
    let mut destination = [0; 12];
    destination[8..].copy_from_slice(&Ipv4Addr::LOCALHOST.octets());
    let (level, kind) = (libc::IPPROTO_IP, libc::IP_PKTINFO);
    control_messages::push(&mut messages, level, kind, &destination);
    control_messages::push(&mut messages, level, libc::IP_TOS, &[ecn]);
    messages
}

/// Returns what the verdict is after these messages.
fn verdict(kinds: Cmsg, flags: c_int, messages: &[u8]) -> String {
    let mut reader = reader(kinds);
    reader.read(flags, messages);
    let verdict = reader.verdict();
    verdict.map_or_else(|error| error.to_string(), |()| "right".to_owned())
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no sockets")]
fn a_message_that_is_wrong_missing_or_cut_off_is_told() {
    let all = messages(ECT_0);
    assert_eq!(verdict(Cmsg::ALL, 0, &all), "right");
    let wrong = verdict(Cmsg::ALL, 0, &messages(0b01));
    let told = "of 1 receives were wrong, the first one: Arrived { destination: Some(127.0.0.1), traffic_class: Some(1), ";
    assert!(wrong.contains(told), "{wrong}");
    let expected =
        "instead of the destination Some(127.0.0.1), the ECN bits Some(2) and an arrival now";
    assert!(wrong.ends_with(expected), "{wrong}");
    let unasked = verdict(Cmsg::PKTINFO, 0, &messages(0b01));
    assert_eq!(unasked, "right", "nobody asked for it");
    let cut = verdict(Cmsg::ALL, libc::MSG_CTRUNC, &all);
    assert!(cut.contains("cut off (MSG_CTRUNC)"), "{cut}");
    let missing = verdict(Cmsg::ALL, 0, &all[..all.len() - size_of::<usize>()]);
    assert!(missing.contains("traffic_class: None"), "{missing}");
    let none = verdict(Cmsg::TIMESTAMP, 0, &[]);
    assert!(none.contains("at_ns: None"), "{none}");
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no sockets")]
fn another_destination_and_an_arrival_long_ago_are_wrong() {
    let right = Arrived {
        destination: Some(Ipv4Addr::LOCALHOST.into()),
        traffic_class: Some(ECT_0),
        at_ns: Some(clock::realtime_ns()),
    };
    let elsewhere = Arrived {
        destination: Some(Ipv6Addr::LOCALHOST.into()),
        ..right
    };
    let long_ago = Arrived {
        at_ns: Some(7),
        ..right
    };
    for (arrived, expected) in [
        (elsewhere, "destination: Some(::1)"),
        (long_ago, "at_ns: Some(7)"),
    ] {
        let mut reader = reader(Cmsg::ALL);
        reader.compare(&right);
        assert!(reader.verdict().is_ok());
        reader.compare(&arrived);
        let error = reader.verdict().expect_err("it is wrong").to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn ecn_keeps_the_dscp_and_arrives_as_it_was_sent() {
    let both = Controls::new(Cmsg::ECN, Cmsg::ECN, 0b1011_1001);
    assert_eq!(both.sent_class(), Some(0b1011_1010));
    assert_eq!(both.arriving_ecn, Some(ECT_0));
    let receiver_only = Controls::new(Cmsg::ECN, Cmsg::NONE, 0b1011_1001);
    assert_eq!(receiver_only.arriving_ecn, Some(0b01));
    let none = Controls::new(Cmsg::PKTINFO, Cmsg::PKTINFO, 0);
    assert_eq!((none.sent_class(), none.arriving_ecn), (None, Some(0)));
}
