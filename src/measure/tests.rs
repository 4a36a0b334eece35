//! A run whose threads do not do what they should.

use std::net::Ipv4Addr;

use super::*;
use crate::data::Connection;
use crate::data::case::tests::case;
use crate::sys::files::Root;
use crate::workload::Program;

#[test]
fn a_thread_that_dies_ends_the_run_at_once() {
    const LONGER_THAN_ANY_TEST: Duration = Duration::from_secs(86_400);
    let case = Case {
        connection: Connection::Unconnected,
        ..case()
    };
    let engines = engines::of(&case).expect("std is in every build");
    let placement = Placement::unpinned(case.threads);
    let interrupt = Interrupt::never().expect("a pair of sockets");
    let Sockets { mut programs, taps } =
        sockets::build(&case, engines::reference(), None, &interrupt).expect("loopback works");
    let Program::Flood(outgoing) = &mut programs[0] else {
        panic!("senders come first");
    };
    // Nothing can be sent to port 0 (udp_sendmsg: EINVAL).
    outgoing.options.links[0].peer = Some((Ipv4Addr::LOCALHOST, 0).into());
    let mut threads =
        LaneThreads::assemble(&case, engines, programs, &placement).expect("threads start");
    let root = Root::default();
    let mut watch = Watch::start(&root);
    threads.open_start();
    let ended = pass(
        LONGER_THAN_ANY_TEST,
        &mut threads,
        &taps,
        &mut watch,
        &interrupt,
    );
    let Err(NoSample::Failed(error)) = ended else {
        panic!("it must be noticed: {ended:?}");
    };
    let error = format!("{error:#}");
    assert!(
        error.starts_with("the sender failed: Invalid argument"),
        "{error}"
    );
}
