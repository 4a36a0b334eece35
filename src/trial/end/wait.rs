//! Waits of the coordinator thread while the bench threads run: for the edges of the window, and for empty queues.

use std::thread;
use std::time::{Duration, Instant, SystemTime};

use anyhow::bail;

use crate::data::Counts;
use crate::plan::{QUIET_ON_A_PATH, Settings};
use crate::sys::kernel_drops;
use crate::trial::end::running_end::{RunningEnd, WindowReadings};
use crate::trial::threads::bench_thread::{BenchThread, POLL_INTERVAL};
use crate::workload::{PaceMeter, RoundTripMeter};

/// Poll interval for sensors and drops.
const SENSOR_INTERVAL: Duration = Duration::from_secs(1);
/// Poll interval for the power. A reading over I2C takes about a millisecond, mostly asleep.
const POWER_INTERVAL: Duration = Duration::from_millis(100);
/// Time after which queues that have not moved will not move any more, if no sender is left and the receivers had their
/// chance.
const QUIET: Duration = Duration::from_millis(500);
/// Time after which nothing will move any more if all queues of sockets and CPUs are empty. Only a queueing discipline,
/// or a CPU that is held up in the middle of a softirq, may then still have a datagram.
const QUIET_WHEN_EMPTY: Duration = Duration::from_millis(50);
/// Longest wait for datagrams across a path while none seems to be missing: strangers may never stop.
const LONGEST_SURPLUS_WAIT: Duration = Duration::from_secs(2);
/// Time without progress after which a thread that sends and receives in turn waits for a lost datagram.
const STALL_CHECK: Duration = Duration::from_millis(50);
/// Interval at which clients look for overdue requests. Each look may delay a response.
const OVERDUE_CHECK: Duration = Duration::from_millis(250);

/// Lets the threads start, and opens and closes the window.
///
/// # Errors
/// Fails if a thread has ended, or if something cannot be read.
pub(crate) fn window(
    settings: &Settings,
    running: &mut RunningEnd,
) -> anyhow::Result<WindowReadings> {
    running.threads.open_start();
    let started = Instant::now();
    pass(settings.warmup.saturating_sub(started.elapsed()), running)?;
    let opened_at = SystemTime::now();
    let idle_before = running.idle_times();
    // Reading a meter may take so long that it has to lie outside of the window. Its traffic is that of the warm-up.
    if let Some(power) = &mut running.start.power {
        power.restart();
    }
    let opening = running.reader().opening(&running.start.discards)?;
    let threads = &running.threads;
    threads.round_trips().for_each(RoundTripMeter::open_window);
    threads.pace_meters().for_each(PaceMeter::open_window);
    pass(settings.window, running)?;
    let closing = running.reader().closing(opening.discards_move)?;
    running.look_at_power();
    let threads = &running.threads;
    threads.round_trips().for_each(RoundTripMeter::close_window);
    threads.pace_meters().for_each(PaceMeter::close_window);
    Ok(WindowReadings {
        opened_at,
        opening,
        closing,
        idle_times: running.idle_times().since(&idle_before),
    })
}

/// Waits for `duration`.
///
/// A long wait also reads the sensors, since the firmware forgets within 2 s that it throttled, and the drops,
/// since the kernel counts them with 32 bits, and the power if there is a meter. Windows of ordinary length are not
/// disturbed, except to wake threads that would wait for a lost datagram.
///
/// # Errors
/// Fails if a thread has ended, or if something cannot be read.
pub(crate) fn pass(duration: Duration, running: &mut RunningEnd) -> anyhow::Result<()> {
    // The interval at which threads that may wait for a lost datagram are woken, if there may be any.
    let wake_interval = match () {
        () if running.case.is_rr() => Some(OVERDUE_CHECK),
        () if running.case.threads.is_alone() => Some(STALL_CHECK),
        () => None,
    };
    let now = Instant::now();
    let (end, mut look_at) = (now + duration, now + SENSOR_INTERVAL);
    let of_power = running.start.power.as_ref().map(|_| POWER_INTERVAL);
    let intervals = wake_interval.into_iter().chain(of_power);
    let most = intervals.min().unwrap_or(SENSOR_INTERVAL);
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if running.threads.wait_for_exit(left.min(most)) {
            running.look()?;
            bail!("a bench thread ended too early");
        }
        if left <= most {
            return Ok(());
        }
        if wake_interval.is_some() {
            running.threads.wake_stalled();
        }
        running.look_at_power();
        let now = Instant::now();
        if now >= look_at {
            look_at = now + SENSOR_INTERVAL;
            running.look()?;
        }
    }
}

/// Waits until the receivers here, in their own loops, have taken the datagrams that the senders left in the queues.
///
/// `expected` is the number of datagrams that the other host has sent here; `None`: all of the trial is on this host.
///
/// A path may repeat datagrams, and strangers may send some. A surplus therefore does not make up for a missing
/// datagram: across a path, the wait ends when nothing moves, or after 2 s if no datagram seems missing and no answer
/// is owed.
///
/// If the kernel counts a GRO aggregate of several datagrams as one drop, the number of datagrams in flight is unknown
/// once there are drops. The wait then checks the queues themselves: those of the sockets, and those of the CPUs before
/// them, where datagrams may wait for ksoftirqd.
///
/// # Errors
/// Fails if the kernel does not report the drops of a socket.
pub(crate) fn drain(expected: Option<u64>, running: &mut RunningEnd) -> anyhow::Result<()> {
    let is_missing = |now: Counts| match expected {
        None => now.in_flight() > 0,
        Some(packets) => packets > now.received + now.dropped_socket,
    };
    let mut last = running.counts()?;
    let begun = Instant::now();
    let mut moved_at = begun;
    let owes_answers =
        |running: &RunningEnd| running.threads.all.iter().any(BenchThread::owes_answers);
    let may_come = || expected.is_some() && begun.elapsed() < LONGEST_SURPLUS_WAIT;
    // A request that a server holds is not in flight.
    while is_missing(last)
        || may_come()
        || running.case.is_rr() && (owes_answers(running) || running.counts()? != last)
    {
        thread::sleep(POLL_INTERVAL);
        let now = running.counts()?;
        let in_aggregates = running.receives_aggregates && now.dropped_socket > 0;
        let quiet = match () {
            () if expected.is_some() => QUIET_ON_A_PATH,
            () if in_aggregates => QUIET_WHEN_EMPTY,
            () => QUIET,
        };
        if now != last {
            (last, moved_at) = (now, Instant::now());
        } else if moved_at.elapsed() > quiet {
            // Datagrams may also wait for ksoftirqd, in the queues of the CPUs.
            let are_empty = (expected.is_some() || in_aggregates)
                && running.probes.are_empty()
                && kernel_drops::backlog_is_empty() == Some(true);
            let is_long = moved_at.elapsed() > QUIET;
            if are_empty || (is_long && running.had_their_chance()) {
                break;
            }
        }
    }
    Ok(())
}
