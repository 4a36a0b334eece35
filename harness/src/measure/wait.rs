//! The script's waits: while the threads run, and until the queues are empty.

use std::time::{Duration, Instant};

use anyhow::anyhow;

use super::site::Sites;
use super::{GLANCE, NoSample, sample};
use crate::data::{Case, Counts};
use crate::engines::Entry;
use crate::sys::interrupt::Interrupt;

/// How often sensors and drops are looked at.
pub(super) const LOOK: Duration = Duration::from_secs(1);
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

/// Lets time pass while the lanes run. If it is for long, looks at the sensors meanwhile, since the firmware
/// forgets within 2 s that it throttled, and at the drops, since the kernel counts them with 32 bits. Windows
/// of ordinary length are left alone, but for threads that would wait for a lost datagram.
pub(super) fn pass(
    duration: Duration,
    case: &Case,
    sites: &mut Sites,
    interrupt: &Interrupt,
) -> Result<(), NoSample> {
    let stalled = stalled(case);
    let now = Instant::now();
    let (end, mut look_at) = (now + duration, now + LOOK);
    let most = stalled.unwrap_or(LOOK);
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if interrupt.sleep_unless(left.min(most), &sites.ended())? {
            sites.each(|site| site.look())?;
            return Err(anyhow!("a site ended too early").into());
        }
        if left <= most {
            return Ok(());
        }
        if stalled.is_some() {
            sites.each(|site| site.wake_stalled())?;
        }
        let now = Instant::now();
        if now >= look_at {
            look_at = now + LOOK;
            sites.each(|site| site.look())?;
        }
    }
}

/// After how long threads are woken that may wait for a lost datagram, if any may.
pub(super) fn stalled(case: &Case) -> Option<Duration> {
    match () {
        () if case.asks() => Some(OVERDUE),
        () if case.threads.is_alone() => Some(STALLED),
        () => None,
    }
}

/// Waits until the receivers, in their own loops, have taken what the senders left in the queues.
///
/// A path may repeat datagrams, and strangers may send some: what came too often stands for nothing that has not come. So
/// across a path the end is when nothing moves, whatever the sums are.
///
/// Where the kernel counts drops by the piece, how many are in flight is not known once there are drops.
/// There the queues themselves are looked at, and those of the CPUs before them, as datagrams may wait there
/// for ksoftirqd.
pub(super) fn drain(
    case: &Case,
    receiver: &Entry,
    sites: &mut Sites,
    interrupt: &Interrupt,
) -> Result<(), NoSample> {
    let is_across = case.direction.is_some();
    // A stream repeats nothing.
    let may_repeat = is_across && case.transport.is_none();
    let mut last = sample::sum(sites.each(|site| site.counts())?);
    let begun = Instant::now();
    let mut moved_at = begun;
    let may_come = || may_repeat && begun.elapsed() < MOST_OF_SURPLUS;
    while last.in_flight() > 0 || may_come() || (case.asks() && is_owed(last, sites)?) {
        interrupt.sleep(GLANCE)?;
        let now = sample::sum(sites.each(|site| site.counts())?);
        let by_pieces = receiver.about.joins && now.dropped_socket > 0;
        let quiet = match () {
            () if is_across => QUIET_ON_A_PATH,
            () if by_pieces => QUIET_WHEN_EMPTY,
            () => QUIET,
        };
        if now != last {
            (last, moved_at) = (now, Instant::now());
        } else if moved_at.elapsed() > quiet {
            let idle = sites.each(|site| site.idle())?;
            let are_empty =
                (is_across || by_pieces) && idle.iter().all(|site| site.are_queues_empty);
            let had_their_chance = idle.iter().all(|site| site.had_their_chance);
            if are_empty || (had_their_chance && moved_at.elapsed() > QUIET) {
                break;
            }
        }
    }
    Ok(())
}

/// Whether a server has still to answer, or something has moved since the counts were `last`: a request that a server
/// holds is not in flight.
fn is_owed(last: Counts, sites: &mut Sites) -> anyhow::Result<bool> {
    let idle = sites.each(|site| site.idle())?;
    let now = sample::sum(sites.each(|site| site.counts())?);
    Ok(now != last || idle.iter().any(|site| site.owes_answers))
}
