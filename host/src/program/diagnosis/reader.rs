//! Reasons why the thread that reads left a buffer full.

use std::collections::BTreeSet;

use super::BUSY;
use crate::check::{Values, why_and_fix};
use crate::program::interval::NEARLY_FULL;
use crate::program::{Interval, ThreadTimes};

/// Share of the time from which on waiting for a CPU is worth a finding.
const WAITS: f64 = 0.1;

/// More and less than a datagram of a frame takes in a buffer, in bytes.
const BYTES_PER_DATAGRAM: (u64, u64) = (8192, 512);

/// Returns why a buffer was full in `dropping`, by the busiest of the threads that may read, and the fix.
pub(super) fn why_full(
    busiest: &ThreadTimes,
    seen: &Interval,
    dropping: &Interval,
    name: &str,
    larger: &Values,
) -> (String, String) {
    let other = other_reader(busiest, dropping);
    let percent = |ns: u64| format!("{:.0} %", 100.0 * dropping.share(ns));
    let seconds = dropping.length.as_secs_f64().max(1e-9);
    let per_second = |count: u64| format!("{:.0}", count as f64 / seconds);
    let values: &Values = &[
        ("name", &name),
        ("thread", &busiest.name),
        ("pid", &busiest.pid),
        ("ran", &percent(busiest.ran_ns)),
        ("waited", &percent(busiest.waited_ns)),
        ("left", &ended(dropping)),
        ("other", &other.map_or("", |it| &it.name)),
        ("other_ran", &percent(other.map_or(0, |it| it.ran_ns))),
        ("read", &per_second(dropping.read)),
        ("came", &per_second(dropping.read + dropping.socket_drops)),
    ];
    let trouble = trouble(busiest, other, seen, dropping);
    why_and_fix(trouble, &[values, larger].concat())
}

/// Returns the name of the trouble that left a buffer full.
fn trouble(
    busiest: &ThreadTimes,
    other: Option<&ThreadTimes>,
    seen: &Interval,
    dropping: &Interval,
) -> &'static str {
    let runs = |it: &&ThreadTimes| seen.threads.get(&it.id).map_or(it.runs, |all| all.runs);
    let none_ran = dropping.judged().iter().all(|it| runs(it) == 0);
    let [ran, waited] = [busiest.ran_ns, busiest.waited_ns].map(|ns| dropping.share(ns));
    match takes(busiest, dropping).filter(|_| ran < BUSY) {
        _ if none_ran => "reader-idle",
        _ if seen.read == 0 => "reader-elsewhere",
        _ if ran + waited >= BUSY && other.is_some() => "reader-one-of-two",
        Some(Takes::Few) => "reader-sleeps",
        Some(Takes::Unknown) => "reader-may-sleep",
        None if ran >= BUSY => "reader-busy",
        None if waited >= WAITS && is_too_slow(busiest, dropping) => "reader-busy",
        None if waited >= WAITS => "reader-waits",
        None => "reader-late",
    }
}

/// Returns which processes had the sockets before, for a sentence.
fn ended(dropping: &Interval) -> String {
    let threads = dropping.threads.values();
    let ended: BTreeSet<&str> = threads
        .filter(|it| !dropping.holders.is_empty() && !dropping.holders.contains(&it.pid))
        .map(|it| &*it.process)
        .collect();
    if ended.is_empty() {
        return String::new();
    }
    let ended = ended.into_iter().collect::<Vec<_>>().join(", ");
    format!("; {ended}, which had the socket as well, has ended or closed it")
}

/// Returns whether a thread that waited for a CPU would take fewer datagrams than came, had it run all the time.
fn is_too_slow(thread: &ThreadTimes, dropping: &Interval) -> bool {
    let ran = dropping.share(thread.ran_ns);
    let came = dropping.read + dropping.socket_drops;
    // A share of less tells too little.
    ran >= 0.1 && dropping.read as f64 / ran < came as f64
}

/// Returns a thread that sleeps and may be the one that reads, not the busiest one.
fn other_reader<'a>(busiest: &ThreadTimes, dropping: &'a Interval) -> Option<&'a ThreadTimes> {
    let sleeps = |it: &&ThreadTimes| dropping.share(it.ran_ns + it.waited_ns) < 0.5;
    let judged = dropping.judged().into_iter();
    let others = judged.filter(|it| it.id != busiest.id && dropping.may_have_read(it));
    // One that sleeps takes what the buffer holds, at most, before the next time.
    let most = dropping.buffer_bytes().map_or(u64::MAX, u64::from) / BYTES_PER_DATAGRAM.1;
    let others = others.filter(|it| it.runs.saturating_mul(most) >= dropping.read);
    others.filter(sleeps).max_by_key(|it| it.runs)
}

/// Part of a queue, full most of the time, that a thread takes between two sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    /// Fewer datagrams at a time than the buffer holds: it leaves the rest there.
    Few,
    /// Few or all that there are: cannot be told.
    Unknown,
}

/// Returns whether a thread sleeps between reads, and a larger buffer may cure nothing.
pub(super) fn sleeps(thread: &ThreadTimes, dropping: &Interval) -> bool {
    takes(thread, dropping).is_some()
}

/// Returns how a thread reads that sleeps although its queue is full most of the time. `None`: it does not sleep, the
/// queue is not, or it takes all that is there.
fn takes(thread: &ThreadTimes, dropping: &Interval) -> Option<Takes> {
    /// Looks that tell something.
    const LOOKS: f64 = 10.0;
    /// Share of the buffer that is still taken after a read which took all, at most.
    const EMPTIED: f64 = 0.2;
    let (ran, waited) = (
        dropping.share(thread.ran_ns),
        dropping.share(thread.waited_ns),
    );
    let socket = dropping.dropper()?;
    let is_mostly_full = 2 * socket.full_looks > socket.looks;
    let sleeps = 1.0 - ran - waited >= waited.max(1.0 - BUSY);
    if !sleeps || !is_mostly_full || thread.runs == 0 {
        return None;
    }
    let buffer = u64::from(socket.buffer_bytes?);
    let each = dropping.read / thread.runs;
    if each <= (buffer / BYTES_PER_DATAGRAM.0).max(1) {
        return Some(Takes::Few);
    }
    if each > buffer / BYTES_PER_DATAGRAM.1 {
        // Other programs read as well.
        return Some(Takes::Unknown);
    }
    // A buffer that is emptied and fills again at a steady rate is not nearly full for this share of the time: filling
    // it takes as long as what was read takes to come.
    let came = dropping.read + dropping.socket_drops;
    let share = NEARLY_FULL * dropping.read as f64 / came.max(1) as f64;
    let expected = share * socket.looks as f64;
    let found = (socket.looks - socket.full_looks) as f64;
    let least = f64::from(socket.least_queued_bytes) / buffer as f64;
    if expected >= LOOKS && 2.0 * found < expected || found >= LOOKS && least > EMPTIED {
        return Some(Takes::Few);
    }
    (found < LOOKS).then_some(Takes::Unknown)
}
