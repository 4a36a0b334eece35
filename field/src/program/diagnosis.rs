//! Reasons why a program's datagrams were dropped, from what was seen of it: a pure function.

use std::collections::BTreeSet;

use serde_json::json;

use super::interval::{Interval, NEARLY_FULL, ThreadTimes};
use super::losses::{self, Cause, lost};
use super::twins::twins;
use crate::host::check::{Finding, why_and_fix};
use crate::host::facts::RcvbufLimit;

/// Limits of this machine that a fix must respect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// `net.core.rmem_default`: the buffer of a socket whose program sets none, in bytes.
    pub rmem_default: Option<u32>,
    /// `net.core.rmem_max`: the largest `SO_RCVBUF` that a program may set.
    pub rmem_max: RcvbufLimit,
}

/// Why a link that was down matters.
const LINK: &str = "nothing came in on it meanwhile; a sender that did not stop then sent a burst";
/// Share of the time from which on a thread or a CPU counts as busy.
const BUSY: f64 = 0.9;
/// Share of the packets, and of the thread's time, from which on a CPU is theirs.
const MOSTLY: f64 = 0.8;

/// Returns what was found in all that was seen of a program. `dropping` is the part of it in which its sockets
/// dropped something.
pub fn findings(seen: &Interval, dropping: &Interval, name: &str, limits: Limits) -> Vec<Finding> {
    let mut growth = seen.lost.clone();
    let received = &seen.lost.received;
    let is_busy = |name: &str| received.get(name).is_some_and(|packets| *packets > 0);
    growth
        .links
        .retain(|name, _| name.split(' ').next().is_some_and(is_busy));
    let links = losses::links(&growth).into_iter();
    let links = links.map(|(what, next)| Finding::new(lost(what), (LINK.to_owned(), next)));
    let others = findings_with(seen, dropping, name, &larger(seen, limits));
    links.chain(others).collect()
}

/// Returns the findings of [`findings`], with another text about how the program gets a larger buffer.
pub fn findings_with(
    seen: &Interval,
    dropping: &Interval,
    name: &str,
    larger: &str,
) -> Vec<Finding> {
    let causes = losses::causes(seen, dropping);
    let of_sockets = causes.iter().map(|cause| {
        if cause.is_full() {
            // With other causes, the seconds of this one are not known.
            let is_only = causes.len() == 1;
            overflow((cause, is_only), seen, dropping, name, larger)
        } else {
            losses::cause_finding(cause, seen)
        }
    });
    let elsewhere = losses::elsewhere(seen, &causes);
    let elsewhere = elsewhere.iter().map(losses::loss_finding);
    let all = of_sockets
        .chain(twins(seen))
        .chain(shared_cpu(seen, dropping))
        .chain(elsewhere);
    all.collect()
}

/// Finds whether the program, its CPU or its buffer is why a buffer was full.
fn overflow(
    (cause, is_only): (&Cause, bool),
    seen: &Interval,
    dropping: &Interval,
    name: &str,
    larger: &str,
) -> Finding {
    let busiest = dropping.busiest();
    let other = busiest.filter(|thread| thread.process != name);
    let other = other.map(|thread| &*thread.process);
    let whose = other.map_or("its".to_owned(), |process| format!("{process}: its"));
    let size = seen
        .buffer_bytes()
        .map_or_else(String::new, |bytes| format!(" (SO_RCVBUF {} B)", bytes / 2));
    let (buffer, drops) = (format!("{whose} receive buffer{size}"), cause.datagrams());
    if cause.least == 0 && seen.full().is_none_or(|full| full < BUSY) {
        let what = lost(format!("{buffer} may have overflowed: {drops} dropped"));
        return Finding::new(what, why_and_fix("overflow-of-whom", &json!({})));
    }
    let [during, of] = [dropping, seen].map(|it| it.length.as_secs_f64());
    let when = is_only.then(|| format!(", in {during:.0} of {of:.0} s"));
    let when = when.unwrap_or_default();
    let words = match busiest {
        Some(busiest) => why_full(busiest, seen, dropping, other.unwrap_or(name), larger),
        None if seen.read == 0 => why_and_fix("overflow-unread", &json!({})),
        None => why_and_fix("overflow-of-unknown", &json!({"larger": larger})),
    };
    let what = lost(format!("{buffer} overflowed: {drops} dropped{when}"));
    Finding::new(what, words)
}

/// Returns how the program gets a larger buffer.
fn larger(seen: &Interval, limits: Limits) -> String {
    /// Buffer that a fix recommends, in bytes, as many programs for cameras and lidars do.
    const ENOUGH: u32 = 4 << 20;
    let Some(buffer) = seen.buffer_bytes() else {
        return "let it set a larger SO_RCVBUF".to_owned();
    };
    let wanted = ENOUGH.max(buffer.saturating_mul(2));
    let is_default = limits.rmem_default == Some(buffer);
    let restart = is_default.then(|| {
        format!(
            ", the default: or start it again after sudo sysctl -w net.core.rmem_default={} (twice that, as SO_RCVBUF is \
             doubled)",
            2 * wanted
        )
    });
    let most = limits.rmem_max.most.filter(|&most| most < wanted.into());
    let allow = most.map(|most| {
        let command = limits.rmem_max.command(wanted.into());
        format!("\nrmem_max grants {most} B at most: {command}")
    });
    let also: String = restart.into_iter().chain(allow).collect();
    format!(
        "let it set SO_RCVBUF to {wanted} (now {}){also}",
        buffer / 2
    )
}

/// Share of the time from which on waiting for a CPU is worth a finding.
const WAITS: f64 = 0.1;

/// More and less than a datagram of a frame takes in a buffer, in bytes.
const BYTES_PER_DATAGRAM: (u64, u64) = (8192, 512);

/// Returns why a buffer was full in `dropping`, by the busiest of the threads that may read, and the fix.
fn why_full(
    busiest: &ThreadTimes,
    seen: &Interval,
    dropping: &Interval,
    name: &str,
    larger: &str,
) -> (String, String) {
    let other = other_reader(busiest, dropping);
    let percent = |ns: u64| format!("{:.0} %", 100.0 * dropping.share(ns));
    let seconds = dropping.length.as_secs_f64().max(1e-9);
    let per_second = |count: u64| format!("{:.0}", count as f64 / seconds);
    let values = json!({
        "name": name,
        "thread": busiest.name,
        "pid": busiest.pid,
        "ran": percent(busiest.ran_ns),
        "waited": percent(busiest.waited_ns),
        "left": ended(dropping),
        "other": other.map(|it| &it.name),
        "other_ran": percent(other.map_or(0, |it| it.ran_ns)),
        "read": per_second(dropping.read),
        "came": per_second(dropping.read + dropping.socket_drops),
        "larger": larger,
    });
    why_and_fix(trouble(busiest, other, seen, dropping), &values)
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
    let socket = dropping.sockets.values().max_by_key(|it| it.drops)?;
    let is_mostly_full = 2 * socket.full_looks > socket.looks;
    let sleeps = 1.0 - ran - waited >= waited.max(1.0 - BUSY);
    if !sleeps || !is_mostly_full || thread.runs == 0 {
        return None;
    }
    let buffer = u64::from(socket.state.buffer_bytes?);
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

/// Finds a thread that shares its CPU with the kernel's receiving of packets.
fn shared_cpu(seen: &Interval, dropping: &Interval) -> Option<Finding> {
    /// Packets per second from which on receiving them takes a noticeable part of a CPU.
    const MANY: f64 = 5000.0;
    let (cpu, packets) = seen.softirq_cpu()?;
    let busiest = seen.busiest().filter(|it| seen.may_have_read(it))?;
    let slept = 1.0 - seen.share(busiest.ran_ns + busiest.waited_ns);
    let dropper = dropping.busiest();
    if slept > 0.5 || dropper.is_some_and(|it| takes(it, dropping).is_some()) {
        return None;
    }
    let (own, share) = busiest.main_cpu()?;
    let rate = seen.packets_of_cpu[&cpu] as f64 / seen.length.as_secs_f64();
    let is_shared = cpu == own && packets >= MOSTLY && share >= MOSTLY && rate >= MANY;
    let values = json!({
        "name": busiest.process,
        "cpu": cpu,
        "share": format!("{:.0}", 100.0 * share),
        "packets": format!("{:.0}", 100.0 * packets),
    });
    let several = seen.packets_of_cpu.len() > 1;
    (is_shared && several).then(|| Finding::noted("shared-cpu", &values))
}

#[cfg(test)]
mod tests;
