//! Waits that a datagram or a signal ends, and receivers that must not wait.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::bench::{self, BYTES, Bench, Outcome, words};
use super::ends::{Ends, Family};
use super::{Finding, Point};
use crate::engine::payload::NoCheck;
use crate::engine::{
    BatchCount, DatagramIo, Direction, Engine, IoOptions, Unconnected, Wakeups, is_to_be_made_again,
};
use crate::sys::clock::thread_is_asleep;
use crate::sys::wakeup;

/// Calls without a datagram after which a receiver surely does not wait.
const MANY_CALLS: u32 = 1000;
/// Time that a receiver gets to fall asleep, before a datagram is sent to it.
const LONGEST_BEFORE_SLEEP: Duration = Duration::from_secs(1);

/// Checks waits, and receivers that spin.
pub(super) fn check<E: Engine>(bench: &mut Bench<E>) {
    a_datagram_ends_a_wait(bench);
    a_signal_ends_a_wait(bench);
    if E::ABOUT.can_spin {
        returns_at_once(bench, true);
    }
    if E::ABOUT.always_spins {
        returns_at_once(bench, false);
    }
}

/// Report of the thread of a check to the one that steers it.
#[derive(Default)]
struct Progress {
    /// Thread id; 0 before it waits.
    tid: AtomicI32,
    /// Calls that returned without a datagram.
    empty_calls: AtomicU32,
    /// Wakers of its futures.
    wakeups: Arc<Wakeups>,
}

impl Progress {
    /// Notes that this thread now receives.
    fn begins(&self) {
        self.tid
            .store(nix::unistd::gettid().as_raw(), Ordering::SeqCst);
    }

    /// Returns the thread's id once it receives.
    fn tid(&self) -> Option<i32> {
        Some(self.tid.load(Ordering::SeqCst)).filter(|tid| *tid != 0)
    }
}

/// Checks that a datagram ends the wait for it, though no signal comes, and that there is a wait.
fn a_datagram_ends_a_wait<E: Engine>(bench: &mut Bench<E>) {
    let Some(mut ends) = Ends::new::<Unconnected>(Family::V4, 1) else {
        return;
    };
    let peer = ends.peers.remove(0);
    let progress = Arc::new(Progress::default());
    let check = {
        let progress = Arc::clone(&progress);
        move |stage: &bench::Stage| {
            let engine = bench::start_with::<E>(&progress.wakeups, &stage.meter)?;
            let options = bench::options(ends.endpoints, Direction::Receives);
            let mut io = bench::open::<E, Unconnected>(&engine, options)?;
            stage.begin(
                Point::Arrival,
                "receive, which waited when a datagram arrived,",
            );
            progress.begins();
            loop {
                let moved = engine.run(async { io.receive(&mut NoCheck).await });
                if is_datagram(moved)? {
                    return is_a_wait::<E>(&progress);
                }
                progress.empty_calls.fetch_add(1, Ordering::SeqCst);
                stage.still_has_time("nothing")?;
            }
        }
    };
    let begin = Instant::now();
    let mut is_sent = false;
    bench.check_steered("unconnected, waits for a datagram", check, |_, _| {
        let Some(tid) = progress.tid() else {
            return;
        };
        let is_time = thread_is_asleep(tid) == Some(true)
            || progress.empty_calls.load(Ordering::SeqCst) > MANY_CALLS
            || begin.elapsed() > LONGEST_BEFORE_SLEEP;
        if is_time && !is_sent {
            peer.send(&[1; BYTES]);
            is_sent = true;
        }
    });
}

/// Returns whether a call received the datagram. An empty call did not.
fn is_datagram(outcome: io::Result<BatchCount>) -> Result<bool, Finding> {
    match outcome {
        Ok(moved) => Ok(moved.packets > 0),
        Err(error) if is_to_be_made_again(&error) => Ok(false),
        Err(error) => {
            let found = format!("receive failed instead of waiting: {error}");
            Err(Finding::new(Point::Arrival, found))
        }
    }
}

/// Fails if the receiver returned again and again instead of waiting.
fn is_a_wait<E: Engine>(progress: &Progress) -> Outcome {
    let calls = progress.empty_calls.load(Ordering::SeqCst);
    if E::ABOUT.always_spins || calls <= MANY_CALLS {
        return Ok(());
    }
    Err(Finding::new(
        Point::Spin,
        "receive does not wait for a datagram: wait unless IoOptions::spins is set, or set ABOUT.always_spins",
    ))
}

/// Checks that a wait ends when its thread is woken like the coordinating thread does it.
fn a_signal_ends_a_wait<E: Engine>(bench: &mut Bench<E>) {
    let Some(ends) = Ends::new::<Unconnected>(Family::V4, 1) else {
        return;
    };
    let progress = Arc::new(Progress::default());
    let check = {
        let progress = Arc::clone(&progress);
        move |stage: &bench::Stage| {
            let engine = bench::start_with::<E>(&progress.wakeups, &stage.meter)?;
            let options = bench::options(ends.endpoints, Direction::Receives);
            let mut io = bench::open::<E, Unconnected>(&engine, options)?;
            stage.begin(
                Point::Interrupted,
                "receive, whose thread gets a signal each millisecond (does it repeat the call after EINTR? a future \
                 has to be awaited through Waits::interruptible),",
            );
            progress.begins();
            is_interruption(engine.run(async { io.receive(&mut NoCheck).await }))
        }
    };
    bench.check_steered("unconnected, waits for a signal", check, |_, _| {
        if let Some(tid) = progress.tid() {
            wakeup::interrupt(tid);
            progress.wakeups.interrupt();
        }
    });
}

/// Fails unless the call ended without a datagram. Not only by `Interrupted`: a ring that was woken just after it was
/// armed has made its call.
fn is_interruption(outcome: io::Result<BatchCount>) -> Outcome {
    match outcome {
        Ok(moved) if moved == BatchCount::default() => Ok(()),
        Ok(moved) => {
            let found = format!(
                "receive counted {}, though a signal ended its wait",
                words(moved)
            );
            Err(Finding::new(Point::Count, found))
        }
        Err(error) if is_to_be_made_again(&error) => Ok(()),
        Err(error) => {
            let found = format!(
                "receive failed with `{error}` when a signal ended its wait: return the error of the kind Interrupted"
            );
            Err(Finding::new(Point::Interrupted, found))
        }
    }
}

/// Checks that a receive from an empty socket returns at once, with nothing.
fn returns_at_once<E: Engine>(bench: &mut Bench<E>, spins: bool) {
    let Some(ends) = Ends::new::<Unconnected>(Family::V4, 1) else {
        return;
    };
    bench.check("unconnected, spins", move |stage| {
        let engine = bench::start::<E>()?;
        let options = IoOptions {
            spins,
            ..bench::options(ends.endpoints, Direction::Receives)
        };
        let mut io = bench::open::<E, Unconnected>(&engine, options)?;
        stage.begin(
            Point::Spin,
            "receive, which must not wait (IoOptions::spins, or ABOUT.always_spins),",
        );
        match engine.run(async { io.receive(&mut NoCheck).await }) {
            Ok(moved) if moved == BatchCount::default() => Ok(()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            Ok(moved) => Err(Finding::new(
                Point::Count,
                format!("receive counted {} from an empty socket", words(moved)),
            )),
            Err(error) => Err(Finding::new(
                Point::Spin,
                format!("receive failed with `{error}` at an empty socket: return WouldBlock or an empty batch"),
            )),
        }
    });
}
