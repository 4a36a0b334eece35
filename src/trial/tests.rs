//! Tests of a run with a failing thread, and of messages between hosts.

mod seeds;

use std::net::Ipv4Addr;
use std::time::Duration;

use super::end::local::LocalTrials;
use super::end::wait::window;
use super::messages::message::{self, Answer};
use super::messages::spec::{EndRole, Flow, TrialSpec};
use crate::data::{Case, Connection, Counts};
use crate::host::placement::Placement;
use crate::plan::Settings;
use crate::results::row::tests::case;
use crate::sys::files::Root;

#[test]
fn a_thread_that_dies_ends_the_run_at_once() {
    const LONGER_THAN_ANY_TEST: Duration = Duration::from_secs(86_400);
    let case = Case {
        connection: Connection::Unconnected,
        ..case()
    };
    let settings = Settings {
        window: LONGER_THAN_ANY_TEST,
        ..Settings::default()
    };
    let spec = TrialSpec::new(&case, &Placement::unpinned(case.threads), &settings);
    let mut trials = LocalTrials::new(&Root::default(), None);
    let opened = trials.open(&spec, EndRole::Both);
    let mut opened = opened.expect("std is in every build");
    let receivers = opened.sockets.bind().expect("loopback works");
    let flow = Flow {
        source: opened
            .sockets
            .open_sender(receivers[0])
            .expect("loopback works"),
        // Nothing can be sent to port 0 (udp_sendmsg: EINVAL).
        peer: (Ipv4Addr::LOCALHOST, 0).into(),
        receiver: 0,
    };
    let mut running = opened.assemble(&[flow]).expect("threads start");
    let ended = window(&settings, &mut running).map(drop);
    let error = format!("{:#}", ended.expect_err("it must be noticed"));
    assert!(
        error.starts_with("the sender failed: Invalid argument"),
        "{error}"
    );
}

/// Checks that a message has the same bytes on a host of 32 bits and on one of 64 bits.
#[test]
fn counts_beyond_32_bits_are_the_same_bytes_on_every_host() {
    let counts = Counts {
        sent: u64::MAX,
        refused: 7,
        received: u64::from(u32::MAX) + 1,
        dropped_socket: 1 << 53,
    };
    let mut pipe = Vec::new();
    message::write(&mut pipe, &Answer::Done(counts)).expect("into memory");
    let body = r#"{"done":{"sent":18446744073709551615,"refused":7,"received":4294967296,"dropped_socket":9007199254740992}}"#;
    assert_eq!(pipe, [b"\0\0\0\x6a", body.as_bytes()].concat());
    let answer = message::read::<Answer<Counts>>(&mut &pipe[..]).expect("a frame");
    let Some(Answer::Done(read)) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!(read, counts);
}
