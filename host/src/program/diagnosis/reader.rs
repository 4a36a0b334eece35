//! Reasons why the thread that reads left a buffer full.

use std::collections::BTreeSet;

use super::BUSY;
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
    larger: &str,
) -> (String, String) {
    if let Some(why) = nobody_reads(busiest, seen, dropping, name) {
        let fix = "let it read, or close the socket. A larger buffer only delays the drops\n\
                   who has it: sudo ss -lunp; what it does: sudo strace -fp ";
        return (why, format!("{fix}{}", busiest.pid));
    }
    let (ran, waited) = (
        dropping.share(busiest.ran_ns),
        dropping.share(busiest.waited_ns),
    );
    if ran + waited >= BUSY {
        if let Some(other) = other_reader(busiest, dropping) {
            return of_two(busiest, other, dropping);
        }
    }
    let is_busy = ran >= BUSY;
    if let Some(takes) = takes(busiest, dropping).filter(|_| !is_busy) {
        return of_sleeper(busiest, dropping, takes, larger);
    }
    if is_busy || waited >= WAITS && is_too_slow(busiest, dropping) {
        return of_busy(busiest, dropping, name);
    }
    let thread = &busiest.name;
    if waited >= WAITS {
        let why = format!(
            "its thread {thread} waited for a CPU {} of the time meanwhile: others ran there",
            percent(waited)
        );
        let fix = format!("which: top -H\na CPU of its own: taskset, chrt\n{larger}");
        return (why, fix);
    }
    let why = format!(
        "its thread {thread} was not busy ({} of a CPU): it did not read for a while, or datagrams came in bursts",
        percent(ran)
    );
    (why, larger.to_owned())
}

/// Returns how it is known that nobody reads. `None`: somebody may.
fn nobody_reads(
    busiest: &ThreadTimes,
    seen: &Interval,
    dropping: &Interval,
    name: &str,
) -> Option<String> {
    let runs = |it: &&ThreadTimes| seen.threads.get(&it.id).map_or(it.runs, |all| all.runs);
    let none_ran = dropping.judged().iter().all(|it| runs(it) == 0);
    if !none_ran && seen.read > 0 {
        return None;
    }
    let ended: BTreeSet<&str> = dropping
        .threads
        .values()
        .filter(|it| !dropping.holders.is_empty() && !dropping.holders.contains(&it.pid))
        .map(|it| &*it.process)
        .collect();
    let ended = ended.into_iter().collect::<Vec<_>>().join(", ");
    let left = match ended.len() {
        0 => String::new(),
        _ => format!("; {ended}, which had the socket as well, has ended or closed it"),
    };
    Some(if none_ran {
        format!("nobody reads: no thread of {name} ran{left}")
    } else {
        let ran = percent(dropping.share(busiest.ran_ns));
        let thread = &busiest.name;
        format!(
            "nobody reads: no program here took a datagram (UdpInDatagrams). The thread {thread} of {name} used {ran} \
             of a CPU for something else{left}"
        )
    })
}

/// Returns whether a thread that waited for a CPU would take fewer datagrams than came, had it run all the time.
fn is_too_slow(thread: &ThreadTimes, dropping: &Interval) -> bool {
    let ran = dropping.share(thread.ran_ns);
    let came = dropping.read + dropping.socket_drops;
    // A share of less tells too little.
    ran >= 0.1 && dropping.read as f64 / ran < came as f64
}

/// Returns why a busy thread left the buffer full.
fn of_busy(busiest: &ThreadTimes, dropping: &Interval, name: &str) -> (String, String) {
    let (ran, waited) = (
        dropping.share(busiest.ran_ns),
        dropping.share(busiest.waited_ns),
    );
    let waited = match waited {
        WAITS.. => format!(
            ", and waited {} for one, which is not enough",
            percent(waited)
        ),
        _ => String::new(),
    };
    let why = format!(
        "{name} takes datagrams more slowly than they come: its thread {} used {} of a CPU meanwhile{waited}. A larger \
         buffer only delays the drops",
        busiest.name,
        percent(ran)
    );
    let fix = "let it take several datagrams per call (recvmmsg, UDP_GRO), or use more threads (SO_REUSEPORT)\n\
               which call is how fast here: udpbench --engine std,mmsg,gso-gro";
    (why, fix.to_owned())
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

/// Returns what follows if the busiest thread or another one may be the one that reads.
fn of_two(busiest: &ThreadTimes, other: &ThreadTimes, dropping: &Interval) -> (String, String) {
    let (ran, waited) = (
        percent(dropping.share(busiest.ran_ns)),
        percent(dropping.share(busiest.waited_ns)),
    );
    let why = format!(
        "which thread reads cannot be told: {} used {ran} of a CPU meanwhile and waited {waited} for one, {} \
         used {} and slept. If the busy one reads, it takes datagrams more slowly than they come",
        busiest.name,
        other.name,
        percent(dropping.share(other.ran_ns))
    );
    let fix = format!(
        "which one reads: sudo strace -f -e trace=recvfrom,recvmsg,recvmmsg,read -p {}\n\
         let one that does nothing else read, several datagrams per call (recvmmsg)",
        busiest.pid
    );
    (why, fix)
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

/// Returns why a thread that sleeps between reads left the buffer full.
fn of_sleeper(
    thread: &ThreadTimes,
    dropping: &Interval,
    takes: Takes,
    larger: &str,
) -> (String, String) {
    let per_second = |count: u64| count as f64 / dropping.length.as_secs_f64().max(1e-9);
    let (read, came) = (dropping.read, dropping.read + dropping.socket_drops);
    let (name, busy) = (&thread.name, percent(dropping.share(thread.ran_ns)));
    let better = format!(
        "let a thread of its own read, several datagrams per call (recvmmsg)\nwhat it waits for: sudo strace -fp {}",
        thread.pid
    );
    if takes == Takes::Unknown {
        let why = format!(
            "its thread {name} (busy {busy} of the time) sleeps between reads. Whether it takes all that is there each \
             time cannot be told: if so, a larger buffer holds what comes meanwhile; if not, it only delays the drops"
        );
        return (
            why,
            format!("watch for longer, or both:\n{larger}\n{better}"),
        );
    }
    let why = format!(
        "it takes fewer datagrams than come (at most {:.0} of {:.0} per second), and sleeps meanwhile: its thread \
         {name} (busy {busy} of the time) waits for something else between two reads. A larger buffer only delays the \
         drops",
        per_second(read),
        per_second(came),
    );
    (why, better)
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}
