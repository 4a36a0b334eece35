//! A run whose threads do not do what they should, and what two hosts say to each other.

use std::net::Ipv4Addr;

use super::message::{self, Answer};
use super::site::{Flow, Part};
use super::*;
use crate::data::{Connection, Counts};
use crate::row::tests::case;
use crate::sys::files::Root;

#[test]
fn a_thread_that_dies_ends_the_run_at_once() {
    const LONGER_THAN_ANY_TEST: Duration = Duration::from_secs(86_400);
    let case = Case {
        connection: Connection::Unconnected,
        ..case()
    };
    let (root, interrupt) = (Root::default(), Interrupt::never());
    let interrupt = interrupt.expect("a pair of sockets");
    let mut local = Local::new(&root);
    let mut sites = Sites::One(&mut local);
    let site = sites.senders();
    let brief = SiteBrief::of(case, Part::Both);
    site.open(&brief).expect("std is in every build");
    let receivers = site.bind().expect("loopback works");
    let flow = Flow {
        source: site.aim(receivers[0]).expect("loopback works"),
        // Nothing can be sent to port 0 (udp_sendmsg: EINVAL).
        peer: (Ipv4Addr::LOCALHOST, 0).into(),
        receiver: 0,
    };
    site.assemble(&[flow]).expect("threads start");
    site.start().expect("they are there");
    let ended = pass(LONGER_THAN_ANY_TEST, &case, &mut sites, &interrupt);
    let Err(NoSample::Failed(error)) = ended else {
        panic!("it must be noticed: {ended:?}");
    };
    let error = format!("{error:#}");
    assert!(
        error.starts_with("the sender failed: Invalid argument"),
        "{error}"
    );
}

/// One may have 32 bits and the other 64: the bytes hang on neither.
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
