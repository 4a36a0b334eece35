//! Runs one case for one window and returns its raw sample.
//!
//! The order of events is the heart of the method; `docs/METHODOLOGY.md` says why it is so.

mod bind;
mod flows;
mod snapshot;
mod sockets;
mod taps;
mod threads;
mod workers;

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::anyhow;

use self::snapshot::Snapshot;
use self::sockets::Sockets;
use self::taps::Taps;
use self::threads::{Lane, LaneThreads};
use crate::data::{Books, Case, Counts, Group, Sample};
use crate::engine::verify::SequenceTracker;
use crate::engines::{self, Entry};
use crate::plan::Settings;
use crate::platform::placement::Placement;
use crate::sys::interrupt::{Interrupt, Interrupted};
use crate::sys::kernel::{self, Discards};
use crate::sys::sensors::Watch;

/// Why there is no sample.
#[derive(Debug)]
pub enum NoSample {
    /// The program was asked to end.
    Interrupted,
    /// The case could not be run, or broke.
    Failed(anyhow::Error),
}

impl From<Interrupted> for NoSample {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

impl From<anyhow::Error> for NoSample {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

/// Queues that have not moved for so long, with no sender left and receivers that had their chance, will
/// not move any more.
const QUIET: Duration = Duration::from_millis(500);
/// The same where nothing is left in any queue, neither of a socket nor of a CPU: only a queueing discipline, or a
/// CPU that is held up in the middle of a softirq, has a datagram then.
const QUIET_WHEN_EMPTY: Duration = Duration::from_millis(50);
/// A lane that sends and receives in turn, and in which nothing moved for so long, waits for a lost datagram.
const STALLED: Duration = Duration::from_millis(50);
/// How often the coordinator looks while it waits for lanes to drain or to stop.
const GLANCE: Duration = Duration::from_micros(100);

/// How long datagrams are verified: enough for every buffer of a batch and every turn of a ring.
const VERIFYING: Duration = Duration::from_millis(20);
/// The same where nothing came in less.
const VERIFYING_LONGEST: Duration = Duration::from_millis(64 * 20);

/// Runs `case` once: sockets, threads, start, warm-up, window, drain, closed books.
///
/// # Errors
/// [`NoSample::Interrupted`] as soon as `interrupt` says so, else what could not be built or broke.
pub fn window(
    case: &Case,
    placement: &Placement,
    settings: &Settings,
    interrupt: &Interrupt,
) -> Result<Sample, NoSample> {
    run(case, placement, settings, None, interrupt)
}

/// Runs `case` once for a short while with datagrams that can be told apart: see [`Sample::verified`].
///
/// # Errors
/// As for [`window`].
pub fn verify(
    case: &Case,
    placement: &Placement,
    settings: &Settings,
    interrupt: &Interrupt,
) -> Result<Sample, NoSample> {
    let mut settings = Settings {
        warmup: Duration::ZERO,
        window: VERIFYING,
        ..settings.clone()
    };
    loop {
        let tracker = Arc::new(SequenceTracker::new(case.payload.bytes()));
        let sample = run(case, placement, &settings, Some(&tracker), interrupt)?;
        let is_empty = sample.verified.is_some_and(|found| found.packets == 0);
        if !is_empty || settings.window >= VERIFYING_LONGEST {
            return Ok(sample);
        }
        // On a busy machine, a thread may have had no turn.
        settings.window *= 4;
    }
}

fn run(
    case: &Case,
    placement: &Placement,
    settings: &Settings,
    tracker: Option<&Arc<SequenceTracker>>,
    interrupt: &Interrupt,
) -> Result<Sample, NoSample> {
    let (sender, receiver) = engines::of(case).map_err(anyhow::Error::msg)?;
    interrupt.sleep(Duration::ZERO)?;
    let mut watch = Watch::start(&settings.root);
    let discards_before = Discards::read();
    let built = sockets::build(case, receiver, tracker, interrupt);
    // What was called off is no failure of the case.
    interrupt.sleep(Duration::ZERO)?;
    let Sockets { programs, taps } = built?;
    let mut threads = LaneThreads::assemble(case, (sender, receiver), programs, placement)?;
    #[cfg(feature = "calibration")]
    threads.delay_senders(settings.delay.map_or(0, |delay| delay.of(case.sender)));

    threads.open_start();
    pass(settings.warmup, &mut threads, &taps, &mut watch, interrupt)?;
    let opened_at = SystemTime::now();
    let opening = Snapshot::opening(&threads, &taps, &discards_before)?;
    pass(settings.window, &mut threads, &taps, &mut watch, interrupt)?;
    let closing = Snapshot::closing(&threads, &taps, &opening)?;
    watch.look_at_clocks(placement.cpus().flatten());

    threads.stop_sending();
    drain(receiver, &threads, &taps, interrupt)?;
    threads.finish()?;
    watch.look();
    let unread = taps.take_unread();
    // What a send was refused was never sent, but the kernel counts it (OutDiscards).
    let discarded = |snapshot: &Snapshot| {
        snapshot
            .discards_since(&discards_before)
            .saturating_sub(snapshot.failed_sends)
    };
    let sent_in_pieces = sender.about.group == Group::Offload;
    Ok(Sample {
        case: case.key(),
        round: 0,
        position: 0,
        opened_unix_ms: unix_ms(opened_at),
        window_ns: u64::try_from((closing.at - opening.at).as_nanos()).unwrap_or(u64::MAX),
        lanes: opening.until(&closing, &threads),
        other_cpu_ns: opening.other_cpu_ns(&closing, &threads),
        books: Books {
            at_opening: opening.counts,
            at_closing: closing.counts,
            at_end: counts(&threads, &taps)?,
            unread,
            // Without offload there are no pieces: loopback itself has no GRO.
            dropped_in_pieces: receiver.about.joins && sent_in_pieces,
            discarded_in_pieces: sent_in_pieces,
            kernel_discards_at_opening: discarded(&opening),
            kernel_discards_at_closing: discarded(&closing),
            kernel_discards: Discards::read()
                .since(&discards_before)
                .saturating_sub(threads.failed_sends()),
        },
        rcvbuf_bytes: taps.rcvbuf_bytes,
        sndbuf_bytes: taps.sndbuf_bytes,
        climate: watch.climate(),
        verified: tracker.map(|tracker| tracker.verified()),
    })
}

/// Lets time pass while the lanes run. If it is for long, looks at the sensors meanwhile, since the firmware
/// forgets within 2 s that it throttled, and at the drops, since the kernel counts them with 32 bits. Windows
/// of ordinary length are left alone.
fn pass(
    duration: Duration,
    threads: &mut LaneThreads,
    taps: &Taps,
    watch: &mut Watch,
    interrupt: &Interrupt,
) -> Result<(), NoSample> {
    const LOOK: Duration = Duration::from_secs(1);
    let now = Instant::now();
    let (end, mut look_at) = (now + duration, now + LOOK);
    let mut totals = Vec::new();
    loop {
        let now = Instant::now();
        let left = end.saturating_duration_since(now);
        let most = if threads.may_stall() { STALLED } else { LOOK };
        if interrupt.sleep_unless(left.min(most), threads.ended.as_fd())? {
            threads.finish()?;
            return Err(anyhow!("a benchmark thread ended too early").into());
        }
        if left <= most {
            return Ok(());
        }
        totals = threads.wake_stalled(&totals);
        if now >= look_at {
            look_at = now + LOOK;
            watch.look();
            taps.drops()?;
        }
    }
}

/// Waits until the receivers, in their own loops, have taken what the senders left in the queues.
///
/// Where the kernel counts drops by the piece, how many are in flight is not known once there are drops. There
/// the queues themselves are looked at, and those of the CPUs before them, as datagrams may wait there for
/// ksoftirqd.
fn drain(
    receiver: &Entry,
    threads: &LaneThreads,
    taps: &Taps,
    interrupt: &Interrupt,
) -> Result<(), NoSample> {
    let are_empty = || taps.are_empty() && kernel::backlog_is_empty() == Some(true);
    let cpu_clocks = || threads.lanes.iter().map(Lane::cpu_ns).collect::<Vec<_>>();
    let mut last = counts(threads, taps)?;
    let (mut moved_at, mut cpu_then) = (Instant::now(), cpu_clocks());
    while last.in_flight() > 0 {
        interrupt.sleep(GLANCE)?;
        let now = counts(threads, taps)?;
        let by_pieces = receiver.about.joins && now.dropped_socket > 0;
        if now != last {
            (last, moved_at, cpu_then) = (now, Instant::now(), cpu_clocks());
        } else if by_pieces && moved_at.elapsed() > QUIET_WHEN_EMPTY && are_empty() {
            break;
        } else if moved_at.elapsed() > QUIET {
            let mut lanes = threads.lanes.iter().zip(&cpu_then);
            if lanes.all(|(lane, &cpu_ns)| lane.had_its_chance(cpu_ns)) {
                break;
            }
        }
    }
    Ok(())
}

fn counts(threads: &LaneThreads, taps: &Taps) -> anyhow::Result<Counts> {
    let meters = || threads.lanes.iter().map(|lane| &lane.meter);
    Ok(Counts {
        received: meters().map(|meter| meter.received.read().packets).sum(),
        dropped_socket: taps.drops()?,
        sent: meters().map(|meter| meter.sent.read().packets).sum(),
    })
}

fn unix_ms(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
