//! What is waited for while the threads of this process run: the edges of the window, and queues that are empty.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::bail;

use super::GLANCE;
use super::running::{Running, Window};
use crate::data::{Case, Counts};
use crate::plan::Settings;

/// How often sensors and drops are looked at.
const LOOK: Duration = Duration::from_secs(1);
/// Queues that have not moved for so long, with no sender left and receivers that had their chance, will
/// not move any more.
const QUIET: Duration = Duration::from_millis(500);
/// The same where nothing is left in any queue, neither of a socket nor of a CPU: only a queueing discipline,
/// or a CPU that is held up in the middle of a softirq, has a datagram then.
const QUIET_WHEN_EMPTY: Duration = Duration::from_millis(50);
/// The same between two hosts, where what the path lost is in flight for all that is known: longer than the queues of
/// interfaces and switches hold what they have.
const QUIET_ON_A_PATH: Duration = Duration::from_millis(200);
/// For so long what comes across a path is waited for where nothing seems to be missing: strangers may never end.
const MOST_OF_SURPLUS: Duration = Duration::from_secs(2);
/// A thread that sends and receives in turn, and in which nothing moved for so long, waits for a lost datagram.
const STALLED: Duration = Duration::from_millis(50);
/// How often clients are to look for requests that are overdue. Each time may delay an answer.
const OVERDUE: Duration = Duration::from_millis(250);

/// Lets the threads go, and opens and closes the window.
///
/// # Errors
/// When a thread has ended, or something could not be read.
pub(super) fn window(settings: &Settings, running: &mut Running) -> anyhow::Result<Window> {
    running.threads.open_start();
    let started = Instant::now();
    let case = running.case;
    pass(
        settings.warmup.saturating_sub(started.elapsed()),
        &case,
        running,
    )?;
    let opening = running.open_window()?;
    pass(settings.window, &case, running)?;
    running.close_window(opening)
}

/// Lets time pass. If it is for long, looks at the sensors meanwhile, since the firmware forgets within 2 s that it
/// throttled, and at the drops, since the kernel counts them with 32 bits. Windows of ordinary length are left alone,
/// but for threads that would wait for a lost datagram.
///
/// # Errors
/// When a thread has ended.
pub(super) fn pass(duration: Duration, case: &Case, running: &mut Running) -> anyhow::Result<()> {
    let stalled = stalled(case);
    let now = Instant::now();
    let (end, mut look_at) = (now + duration, now + LOOK);
    let most = stalled.unwrap_or(LOOK);
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if running.threads.wait_for_an_end(left.min(most)) {
            running.look()?;
            bail!("a benchmark thread ended too early");
        }
        if left <= most {
            return Ok(());
        }
        if stalled.is_some() {
            running.threads.wake_stalled();
        }
        let now = Instant::now();
        if now >= look_at {
            look_at = now + LOOK;
            running.look()?;
        }
    }
}

/// After how long threads are woken that may wait for a lost datagram, if any may.
fn stalled(case: &Case) -> Option<Duration> {
    match () {
        () if case.asks() => Some(OVERDUE),
        () if case.threads.is_alone() => Some(STALLED),
        () => None,
    }
}

/// Waits until the receivers here, in their own loops, have taken what the senders left in the queues. `expected`: how many
/// datagrams the other host has sent here; `None`: all of the trial is on this one.
///
/// A path may repeat datagrams, and strangers may send some: what came too often stands for nothing that has not come. So
/// across a path the end is when nothing moves, whatever the sums are.
///
/// Where the kernel counts drops by the piece, how many are in flight is not known once there are drops.
/// There the queues themselves are looked at, and those of the CPUs before them, as datagrams may wait there
/// for ksoftirqd.
///
/// # Errors
/// When the kernel does not say what sockets dropped.
pub(super) fn drain(
    case: &Case,
    joins: bool,
    expected: Option<u64>,
    running: &mut Running,
) -> anyhow::Result<()> {
    let is_missing = |now: Counts| match expected {
        None => now.in_flight() > 0,
        Some(packets) => packets > now.received + now.dropped_socket,
    };
    let mut last = running.counts()?;
    let begun = Instant::now();
    let mut moved_at = begun;
    let may_come = || expected.is_some() && begun.elapsed() < MOST_OF_SURPLUS;
    while is_missing(last) || may_come() || (case.asks() && is_owed(last, running)?) {
        thread::sleep(GLANCE);
        let now = running.counts()?;
        let by_pieces = joins && now.dropped_socket > 0;
        let quiet = match () {
            () if expected.is_some() => QUIET_ON_A_PATH,
            () if by_pieces => QUIET_WHEN_EMPTY,
            () => QUIET,
        };
        if now != last {
            (last, moved_at) = (now, Instant::now());
        } else if moved_at.elapsed() > quiet {
            let are_empty = (expected.is_some() || by_pieces) && running.are_queues_empty();
            let is_long = moved_at.elapsed() > QUIET;
            if are_empty || (is_long && running.had_their_chance()) {
                break;
            }
        }
    }
    Ok(())
}

/// Whether a server has still to answer, or something has moved since the counts were `last`: a request that a server
/// holds is not in flight.
fn is_owed(last: Counts, running: &mut Running) -> anyhow::Result<bool> {
    let owes = running.owes_answers();
    Ok(owes || running.counts()? != last)
}
