//! Waits that a datagram or a signal ends, receivers that must not wait, and answers to requests.

use std::io::{self, ErrorKind};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::Point;
use super::bench::{self, BYTES, Bench, CheckResult, Opened, Stage, broken, words};
use super::ends::{Ends, Peer};
use super::exchange::{Recorded, SeenDatagrams};
use crate::engine::is_to_be_made_again;
use crate::engine::payload::NoCheck;
use crate::engine::prelude::*;
use crate::sys::clock::thread_is_asleep;
use crate::sys::wakeup;

/// Calls without a datagram after which a receiver surely does not wait.
const MANY_CALLS: u32 = 1000;
/// Time that a receiver gets to fall asleep, before a datagram is sent to it.
const LONGEST_BEFORE_SLEEP: Duration = Duration::from_secs(1);

/// Checks waits, and receivers that spin.
pub(super) fn waits<E: Engine>(bench: &mut Bench) {
    a_datagram_ends_a_wait::<E>(bench);
    a_signal_ends_a_wait::<E>(bench);
    if E::ABOUT.can_spin {
        returns_at_once::<E>(bench, true);
    }
    if E::ABOUT.always_spins {
        returns_at_once::<E>(bench, false);
    }
}

fn to_receive(endpoints: Vec<Endpoint>) -> IoOptions {
    bench::options(endpoints, Direction::Receives)
}

/// Notes that this thread now receives.
fn begins_to_wait(stage: &Stage) {
    let tid = nix::unistd::gettid().as_raw();
    stage.meter.tid.store(tid, Ordering::SeqCst);
}

/// Returns the ID of a thread that receives.
fn waiting_thread(stage: &Stage) -> Option<i32> {
    Some(stage.meter.tid.load(Ordering::SeqCst)).filter(|tid| *tid != 0)
}

/// Checks that a datagram ends the wait for it, though no signal comes, and that there is a wait.
fn a_datagram_ends_a_wait<E: Engine>(bench: &mut Bench) {
    let mut ends = Ends::unconnected(1);
    let peer = ends.peers.remove(0);
    let check = |stage: &Stage| {
        let mut opened = stage.open::<E>(to_receive(ends.endpoints))?;
        let call = "receive, which waited when a datagram arrived,";
        stage.begin(Point::Arrival, call);
        begins_to_wait(stage);
        while stage.moved(opened.receive(&mut NoCheck))?.is_none() {}
        if E::ABOUT.always_spins || stage.empty_calls.load(Ordering::SeqCst) <= MANY_CALLS {
            return Ok(());
        }
        let found = "receive does not wait for a datagram: wait unless IoOptions::spins is set, or set \
                     ABOUT.always_spins";
        broken(Point::Spin, found)
    };
    let begin = Instant::now();
    let mut is_sent = false;
    bench.check_steered("unconnected, waits for a datagram", check, |stage| {
        let Some(tid) = waiting_thread(stage) else {
            return;
        };
        let is_time = thread_is_asleep(tid) == Some(true)
            || stage.empty_calls.load(Ordering::SeqCst) > MANY_CALLS
            || begin.elapsed() > LONGEST_BEFORE_SLEEP;
        if is_time && !is_sent {
            peer.send(&[1; BYTES]);
            is_sent = true;
        }
    });
}

/// Checks that a wait ends when its thread is woken like the coordinating thread does it.
fn a_signal_ends_a_wait<E: Engine>(bench: &mut Bench) {
    let ends = Ends::unconnected(1);
    let check = |stage: &Stage| {
        let mut opened = stage.open::<E>(to_receive(ends.endpoints))?;
        stage.begin(
            Point::Interrupted,
            "receive, whose thread gets a signal each millisecond (does it repeat the call after EINTR? a future has to be \
             awaited through Waits::interruptible),",
        );
        begins_to_wait(stage);
        // Not only by `Interrupted`: a ring that was woken just after it was armed has made its call.
        let fix = "when a signal ended its wait: return the error of the kind Interrupted";
        moves_nothing(
            opened.receive(&mut NoCheck),
            is_to_be_made_again,
            Point::Interrupted,
            fix,
        )
    };
    bench.check_steered("unconnected, waits for a signal", check, |stage| {
        if let Some(tid) = waiting_thread(stage) {
            wakeup::interrupt(tid);
            stage.meter.wakeups.interrupt();
        }
    });
}

/// Checks that a receive from an empty socket returns at once, with nothing.
fn returns_at_once<E: Engine>(bench: &mut Bench, spins: bool) {
    let ends = Ends::unconnected(1);
    bench.check("unconnected, spins", move |stage| {
        let options = IoOptions {
            spins,
            ..to_receive(ends.endpoints)
        };
        let mut opened = stage.open::<E>(options)?;
        let call = "receive, which must not wait (IoOptions::spins, or ABOUT.always_spins),";
        stage.begin(Point::Spin, call);
        let is_right = |error: &io::Error| error.kind() == ErrorKind::WouldBlock;
        let fix = "at an empty socket: return WouldBlock or an empty batch";
        moves_nothing(opened.receive(&mut NoCheck), is_right, Point::Spin, fix)
    });
}

/// Fails unless a call has moved nothing, or has failed as it should. `fix`: when, and what it should return.
fn moves_nothing(
    outcome: io::Result<BatchCount>,
    is_right: impl Fn(&io::Error) -> bool,
    point: Point,
    fix: &str,
) -> CheckResult {
    match outcome {
        Ok(moved) if moved == BatchCount::default() => Ok(()),
        Ok(moved) => {
            let found = format!("receive counted {}, and there was nothing", words(moved));
            broken(Point::Count, found)
        }
        Err(error) if is_right(&error) => Ok(()),
        Err(error) => broken(point, format!("receive failed with `{error}` {fix}")),
    }
}

/// Checks that responses of an endpoint without a peer go to the source of each request, one datagram each.
pub(super) fn answers_requests<E: Engine>(bench: &mut Bench) {
    let mut ends = Ends::unconnected(2);
    let (first, second) = (ends.peers.remove(0), ends.peers.remove(0));
    let second = Peer {
        ours: first.ours,
        ..second
    };
    let socket = ends.endpoints.remove(0).socket;
    bench.check("unconnected, answers requests", move |stage| {
        let options = IoOptions {
            batch: 1,
            ..bench::options(vec![Endpoint::of(socket, None)], Direction::Both)
        };
        let mut opened = stage.open::<E>(options)?;
        for client in [&first, &second, &first] {
            answers(&mut opened, client)?;
        }
        Ok(())
    });
}

/// Receives a request of the client, and sends a response to its source.
fn answers<E: Engine>(opened: &mut Opened<E, impl DatagramIo>, client: &Peer) -> CheckResult {
    let call = "receive, with a request in the socket,";
    opened.stage.begin(Point::Arrival, call);
    client.send(&[1; BYTES]);
    let mut seen = SeenDatagrams::default();
    while seen.0.is_empty() && opened.take(&mut seen)?.packets == 0 {}
    let source = Some(client.address);
    if seen.0.is_empty() {
        let found = "receive counted a request that Check did not see";
        return broken(Point::Check, found);
    }
    if seen.0.iter().any(|(_, origin)| origin.source != source) {
        let found = "Check was told another source than the client's";
        return broken(Point::Source, found);
    }
    let moved = opened.send(0, &Recorded::to(source))?;
    let otherwise = "(an engine that cannot, says so by ABOUT.can_serve_requests)";
    match client.take(1).len() {
        0 => broken(
            Point::Destination,
            format!(
                "a response did not go to Fill::destination, which comes before Endpoint::peer on an unconnected socket \
                 {otherwise}"
            ),
        ),
        1 if moved == BatchCount::one(BYTES) => Ok(()),
        1 => {
            let told = words(moved);
            let found = format!("transmit counted {told}, and one of {BYTES} B arrived");
            broken(Point::Count, found)
        }
        many => broken(
            Point::Batch,
            format!("transmit sent {many} datagrams, though IoOptions::batch is 1 {otherwise}"),
        ),
    }
}
