//! Reasons why a program's datagrams were dropped, from what was seen of it: a pure function.

mod reader;

use super::interval::Interval;
use super::losses::{self, Cause, lost};
use super::twins::twins;
use crate::check::{Finding, Values, why_and_fix};
use crate::facts::RcvbufLimit;

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
    let links = links.map(|(what, next)| Finding::invalid(lost(what), LINK, next));
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
    let larger: &Values = &[("larger", &larger)];
    if cause.least == 0 && seen.full().is_none_or(|full| full < BUSY) {
        let (why, fix) = why_and_fix("overflow-of-whom", larger);
        let what = lost(format!("{buffer} may have overflowed: {drops} dropped"));
        return Finding::invalid(what, why, fix);
    }
    let [during, of] = [dropping, seen].map(|it| it.length.as_secs_f64());
    let when = is_only.then(|| format!(", in {during:.0} of {of:.0} s"));
    let when = when.unwrap_or_default();
    let (why, fix) = match busiest {
        Some(busiest) => reader::why_full(busiest, seen, dropping, other.unwrap_or(name), larger),
        None if seen.read == 0 => why_and_fix("overflow-unread", larger),
        None => why_and_fix("overflow-of-unknown", larger),
    };
    let what = lost(format!("{buffer} overflowed: {drops} dropped{when}"));
    Finding::invalid(what, why, fix)
}

/// Returns how the program gets a larger buffer.
fn larger(seen: &Interval, limits: Limits) -> String {
    /// Buffer that a fix recommends, in bytes, as many programs for cameras and lidars do.
    const ENOUGH: u32 = 4 << 20;
    let Limits {
        rmem_default,
        rmem_max,
    } = limits;
    let Some(buffer) = seen.buffer_bytes() else {
        return "let it set a larger SO_RCVBUF".to_owned();
    };
    let wanted = ENOUGH.max(buffer.saturating_mul(4) / 2);
    let allowed = match rmem_max.most {
        Some(most) if most < wanted.into() => {
            let command = rmem_max.command(wanted.into());
            format!("\nrmem_max grants {most} B at most: {command}")
        }
        Some(most) => format!("\nrmem_max grants up to {most} B"),
        None => String::new(),
    };
    let set = if rmem_default == Some(buffer) {
        format!(
            "its buffer is the default: let it set SO_RCVBUF to {wanted}, or start it again after sudo sysctl -w \
             net.core.rmem_default={} (twice that, as SO_RCVBUF is doubled)",
            2 * wanted
        )
    } else {
        format!("let it set SO_RCVBUF to {wanted} (now {})", buffer / 2)
    };
    set + &allowed
}

/// Finds a thread that shares its CPU with the kernel's receiving of packets.
fn shared_cpu(seen: &Interval, dropping: &Interval) -> Option<Finding> {
    /// Packets per second from which on receiving them takes a noticeable part of a CPU.
    const MANY: f64 = 5000.0;
    let (cpu, packets) = seen.softirq_cpu()?;
    let busiest = seen.receiver()?;
    let slept = 1.0 - seen.share(busiest.ran_ns + busiest.waited_ns);
    let dropper = dropping.busiest();
    if slept > 0.5 || dropper.is_some_and(|it| reader::sleeps(it, dropping)) {
        return None;
    }
    let (own, share) = busiest.main_cpu()?;
    let rate = seen.packets_of_cpu[&cpu] as f64 / seen.length.as_secs_f64();
    let is_shared = cpu == own && packets >= MOSTLY && share >= MOSTLY && rate >= MANY;
    let values: &Values = &[
        ("name", &busiest.process),
        ("cpu", &cpu),
        ("share", &format!("{:.0}", 100.0 * share)),
        ("packets", &format!("{:.0}", 100.0 * packets)),
    ];
    let several = seen.packets_of_cpu.len() > 1;
    (is_shared && several).then(|| Finding::noted("shared-cpu", values))
}

#[cfg(test)]
mod tests;
