//! Control messages: what a call sends with a datagram, and that a receiver tells wrong ones.

use std::io::IoSliceMut;
use std::net::IpAddr;
use std::os::fd::AsRawFd;

use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg};
use socket2::SockRef;

use crate::data::{Cmsg, Connection};
use crate::engine::Controls;
use crate::engine::prelude::*;
use crate::sys::control_messages;
use crate::testing::bench::{self, BYTES, Bench, CheckResult, Stage, broken};
use crate::testing::ends::{Ends, Peer, SILENCE, V4, V6};
use crate::testing::exchange::{Recorded, SeenDatagrams};
use crate::testing::{LIMIT, Point, assert_none, receives, sends};

/// ECN bits that a call sets: ECT(0).
const ECT_0: u8 = 0b10;

/// Tests that the calls of an engine carry control messages and tell wrong ones.
///
/// # Panics
/// Panics with the list of findings, if there is any.
pub(crate) fn check_controls<E: Engine>() {
    assert_none::<E>(|| {
        let mut bench = Bench::new(LIMIT);
        check::<E>(&mut bench);
        bench.findings
    });
}

/// Checks each kind alone and all that the engine knows.
fn check<E: Engine>(bench: &mut Bench) {
    let known = E::ABOUT.control_messages;
    for kinds in [known, Cmsg::PKTINFO, Cmsg::ECN, Cmsg::TIMESTAMP] {
        let kinds = kinds.common(known);
        if kinds == Cmsg::NONE {
            continue;
        }
        for ip in [V4, V6] {
            exchange::<E>(bench, (Connection::Connected, ip), kinds);
            exchange::<E>(bench, (Connection::Unconnected, ip), kinds);
        }
    }
}

fn exchange<E: Engine>(bench: &mut Bench, (connection, ip): (Connection, IpAddr), kinds: Cmsg) {
    let mut check = |direction, check: fn(&Ends, IoOptions, &Stage) -> CheckResult| {
        if let Some(mut ends) = Ends::new(connection, ip, 1) {
            let options = IoOptions {
                connection,
                controls: Controls::new(kinds, kinds, 0),
                ..bench::options(std::mem::take(&mut ends.endpoints), direction)
            };
            let when = format!("{}, --cmsg {kinds}", ends.when(direction));
            bench.check(when, move |stage| check(&ends, options, stage));
        }
    };
    if sends::<E>() {
        check(Direction::Sends, sends_kinds::<E>);
    }
    if receives::<E>() {
        check(Direction::Receives, reads_kinds::<E>);
    }
}

/// Sends, and compares the traffic class and the source at the peer.
fn sends_kinds<E: Engine>(ends: &Ends, options: IoOptions, stage: &Stage) -> CheckResult {
    let (kinds, peer) = (options.controls.kinds, &ends.peers[0]);
    let mut opened = stage.open::<E>(options)?;
    let requested = control_messages::request_traffic_classes(&peer.socket, peer.ours.ip());
    requested.expect("Linux tells traffic classes");
    let moved = opened.send(0, &Recorded::to(None))?;
    let expected = if kinds.has(Cmsg::ECN) { ECT_0 } else { 0 };
    for _ in 0..moved.packets {
        let (class, source) = taken(peer);
        if class != Some(expected) {
            let found = format!("a datagram has the traffic class {class:?} instead of {expected}");
            return broken(Point::Controls, found);
        }
        if source != Some(SockaddrStorage::from(peer.ours)) {
            let found = format!("a datagram is from {source:?} instead of {}", peer.ours);
            return broken(Point::Controls, found);
        }
    }
    Ok(())
}

/// Receives a datagram at the peer. Returns its traffic class and its source.
fn taken(peer: &Peer) -> (Option<u8>, Option<SockaddrStorage>) {
    let (mut room, mut memory) = ([0; 2 * BYTES], [0; 256]);
    let mut buffers = [IoSliceMut::new(&mut room)];
    let (socket, flags) = (peer.socket.as_raw_fd(), MsgFlags::empty());
    // A busy kernel hands over what was sent later than the call.
    let _ = peer.socket.set_read_timeout(Some(SILENCE));
    let Ok(message) =
        recvmsg::<SockaddrStorage>(socket, &mut buffers, Some(&mut memory[..]), flags)
    else {
        return (None, None);
    };
    let class = message.cmsgs().ok().and_then(|mut messages| {
        messages.find_map(|it| match it {
            ControlMessageOwned::Ipv4Tos(class) => Some(class),
            ControlMessageOwned::Ipv6TClass(class) => u8::try_from(class).ok(),
            _ => None,
        })
    });
    (class, message.address)
}

/// Receives datagrams with ECT(0), which is right, and then one without, which is not.
fn reads_kinds<E: Engine>(ends: &Ends, options: IoOptions, stage: &Stage) -> CheckResult {
    let (kinds, connection, peer) = (options.controls.kinds, options.connection, &ends.peers[0]);
    let mut opened = stage.open::<E>(options)?;
    mark(peer, if kinds.has(Cmsg::ECN) { ECT_0 } else { 0 });
    opened.check_receiving(peer, connection)?;
    if let Err(error) = opened.io.check_controls() {
        let found = format!("control messages were right, and check_controls says: {error}");
        return broken(Point::Controls, found);
    }
    mark(peer, 0b01);
    peer.send(&[1; BYTES]);
    let mut seen = SeenDatagrams::default();
    while seen.0.is_empty() {
        opened.take(&mut seen)?;
    }
    if kinds.has(Cmsg::ECN) == opened.io.check_controls().is_err() {
        Ok(())
    } else {
        let found = "check_controls did not tell that ECN was wrong, if and only if it is read";
        broken(Point::Controls, found)
    }
}

/// Sets the traffic class of the peer's datagrams.
fn mark(peer: &Peer, class: u8) {
    let socket = SockRef::from(&peer.socket);
    let marked = if peer.ours.is_ipv4() {
        socket.set_tos_v4(class.into())
    } else {
        socket.set_tclass_v6(class.into())
    };
    marked.expect("Linux sets traffic classes");
}
