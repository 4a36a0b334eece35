//! Rules between the values of a profile: each needs more than one value to break.

use toml::de::{DeTable, DeValue};

use super::profile::{Board, Cpus, Pinned, Wired};
use super::{position_of_repeated, repeated};
use crate::data::{Payload, Threads};

/// A broken rule, and the value that breaks it.
pub(super) struct Fault {
    /// The keys and, in arrays, the positions that lead to the value.
    path: Vec<String>,
    /// Description of the problem.
    pub(super) message: String,
}

impl Fault {
    fn new<const N: usize>(path: [&dyn ToString; N], message: impl Into<String>) -> Self {
        Self {
            path: path.map(ToString::to_string).to_vec(),
            message: message.into(),
        }
    }

    /// Returns the offset in bytes of the value in the profile's text. If the value is missing, that of the table
    /// that should have it.
    pub(super) fn start(&self, text: &str) -> usize {
        let Ok(profile) = DeTable::parse(text) else {
            return 0; // then it would not have come to the rules
        };
        let (mut start, root) = (0, DeValue::Table(profile.into_inner()));
        let mut value = &root;
        for key in &self.path {
            let inner = match value {
                DeValue::Table(table) => table.get(key.as_str()),
                DeValue::Array(array) => key.parse().ok().and_then(|n: usize| array.get(n)),
                _ => None,
            };
            let Some(inner) = inner else {
                break;
            };
            start = inner.span().start;
            value = inner.get_ref();
        }
        start
    }
}

/// Refuses a profile that contradicts itself.
pub(super) fn check(board: &Board) -> Result<(), Fault> {
    if let Some(cpus) = &board.cpus {
        check_cpus(cpus)?;
    }
    check_payloads(&board.defaults.payload)?;
    check_temperatures(board)?;
    let threads: Vec<Threads> = board.loopback.iter().map(|pinned| pinned.threads).collect();
    check_distinct("loopback", &threads)?;
    for (n, pinned) in board.loopback.iter().enumerate() {
        check_pinned(n, pinned, board.cpus.as_ref())?;
    }
    let threads: Vec<Threads> = board.wire.iter().map(|wired| wired.threads).collect();
    check_distinct("wire", &threads)?;
    for (n, wired) in board.wire.iter().enumerate() {
        check_wired(n, wired, board.cpus.as_ref())?;
    }
    Ok(())
}

fn check_cpus(cpus: &Cpus) -> Result<(), Fault> {
    let count = cpus.count;
    if count == 0 {
        let message = "a board has at least one CPU";
        return Err(Fault::new([&"cpus", &"count"], message));
    }
    if let Some(at) = cpus.big.iter().position(|&cpu| cpu >= count) {
        let message = out_of_range(cpus.big[at], count);
        return Err(Fault::new([&"cpus", &"big", &at], message));
    }
    if let Some(at) = position_of_repeated(&cpus.big) {
        let message = format!("CPU {} is listed twice in big", cpus.big[at]);
        return Err(Fault::new([&"cpus", &"big", &at], message));
    }
    if cpus.big.len() == count {
        let message = "all CPUs are big: leave big out if all are alike";
        return Err(Fault::new([&"cpus", &"big"], message));
    }
    Ok(())
}

/// Checks that each payload fits one UDP datagram. Longer messages must be requested with their transport.
fn check_payloads(payloads: &[Payload]) -> Result<(), Fault> {
    let is_long = |payload: &Payload| u32::from(*payload) > Payload::MAX_DATAGRAM;
    payloads.iter().position(is_long).map_or(Ok(()), |at| {
        let (payload, most) = (payloads[at], Payload::MAX_DATAGRAM);
        let message =
            format!("{payload}: use {most} or less, the most that one UDP datagram carries");
        Err(Fault::new([&"defaults", &"payload", &at], message))
    })
}

fn check_temperatures(board: &Board) -> Result<(), Fault> {
    let Some(throttle) = board.throttle else {
        return Ok(());
    };
    let from = throttle.from_c;
    if let Some(critical) = throttle.critical_c.filter(|&critical| critical <= from) {
        let message = format!("critical_c = {critical} must be above from_c = {from}");
        return Err(Fault::new([&"throttle", &"critical_c"], message));
    }
    let below_c = board.cooldown.map(|cooldown| cooldown.below_c);
    if let Some(below_c) = below_c.filter(|&below_c| below_c >= from) {
        let message = format!(
            "below_c = {below_c} lets a throttled board run: write less than from_c = {from}"
        );
        return Err(Fault::new([&"cooldown", &"below_c"], message));
    }
    Ok(())
}

fn check_distinct(table: &'static str, threads: &[Threads]) -> Result<(), Fault> {
    position_of_repeated(threads).map_or(Ok(()), |at| {
        let message = format!("threads = {} is listed twice", threads[at]);
        Err(Fault::new([&table, &at, &"threads"], message))
    })
}

fn check_pinned(n: usize, pinned: &Pinned, board: Option<&Cpus>) -> Result<(), Fault> {
    let threads = pinned.threads;
    let (senders, receivers) = (&pinned.senders, &pinned.receivers);
    let counts = (senders.len(), receivers.len());
    let needs = if threads.is_alone() {
        (1, 0)
    } else {
        (threads.senders(), threads.receivers())
    };
    if counts != needs {
        let message = format!(
            "threads = {threads} needs {} in senders and {} in receivers, not {} and {}",
            cpus(needs.0),
            needs.1,
            counts.0,
            counts.1
        );
        return Err(Fault::new([&"loopback", &n], message));
    }
    for (key, list) in [("senders", senders), ("receivers", receivers)] {
        check_range(["loopback", key], n, list, board)?;
    }
    let both: Vec<usize> = senders.iter().chain(receivers).copied().collect();
    check_alone(["loopback", "senders"], n, &both, board)
}

fn check_wired(n: usize, wired: &Wired, board: Option<&Cpus>) -> Result<(), Fault> {
    let (needs, has) = (wired.threads.count(), wired.cpus.len());
    if needs != has {
        let message = format!("threads = {needs} needs {} in cpus, not {has}", cpus(needs));
        return Err(Fault::new([&"wire", &n], message));
    }
    check_range(["wire", "cpus"], n, &wired.cpus, board)?;
    check_alone(["wire", "cpus"], n, &wired.cpus, board)
}

fn check_range(
    [table, key]: [&str; 2],
    n: usize,
    list: &[usize],
    board: Option<&Cpus>,
) -> Result<(), Fault> {
    let count = board.map_or(usize::MAX, |cpus| cpus.count);
    match list.iter().position(|&cpu| cpu >= count) {
        Some(at) => Err(Fault::new(
            [&table, &n, &key, &at],
            out_of_range(list[at], count),
        )),
        None => Ok(()),
    }
}

/// Checks that no two threads share a CPU if the board has a CPU for each.
fn check_alone(
    [table, key]: [&str; 2],
    n: usize,
    list: &[usize],
    board: Option<&Cpus>,
) -> Result<(), Fault> {
    let enough = board.is_some_and(|cpus| list.len() <= cpus.count);
    match repeated(list).filter(|_| enough) {
        Some(cpu) => Err(Fault::new(
            [&table, &n, &key],
            format!("CPU {cpu} has two threads, but there is a CPU for each"),
        )),
        None => Ok(()),
    }
}

fn cpus(count: usize) -> String {
    format!("{count} CPU{}", if count == 1 { "" } else { "s" })
}

fn out_of_range(cpu: usize, count: usize) -> String {
    format!(
        "no CPU {cpu}: [cpus] has count = {count}, CPUs 0 to {}",
        count - 1
    )
}
