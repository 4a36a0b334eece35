//! Parses a profile, and checks its values by themselves and against each other.

use std::fmt;

use toml::de::{DeTable, DeValue};

use super::profile::{Board, Cpus};
use super::{position_of_repeated, repeated};
use crate::data::{Payload, Threads};
use crate::error::UsageError;
use crate::placement::receiver_threads;
use crate::text::digits::counted;

impl Board {
    /// Parses a profile. `file` is the name in error messages.
    ///
    /// # Errors
    /// Fails if the text is malformed or breaks a rule. The message has the file, the line, and the problem.
    pub fn parse(text: &str, file: &str) -> Result<Self, UsageError> {
        let at = |start: usize, message: &str| {
            let line = text[..start.min(text.len())].matches('\n').count() + 1;
            UsageError::file(file, line, message)
        };
        let board: Self = toml::from_str(text)
            .map_err(|error| at(error.span().map_or(0, |span| span.start), error.message()))?;
        check(&board).map_err(|fault| at(fault.start(text), &fault.message))?;
        Ok(board)
    }
}

/// A broken rule, and the value that breaks it.
struct Fault {
    /// The keys and, in arrays, the positions that lead to the value: `cpus.big.1`.
    path: String,
    /// Description of the problem.
    message: String,
}

impl Fault {
    /// Returns the offset in bytes of the value in the profile's text. If the value is missing, that of the table
    /// that should have it.
    fn start(&self, text: &str) -> usize {
        let Ok(profile) = DeTable::parse(text) else {
            return 0; // then it would not have come to the rules
        };
        let (mut start, root) = (0, DeValue::Table(profile.into_inner()));
        let mut value = &root;
        for key in self.path.split('.') {
            let inner = match value {
                DeValue::Table(table) => table.get(key),
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

/// Refuses the value at `path` if something is wrong with it.
fn refuse(path: &str, wrong: Option<String>) -> Result<(), Fault> {
    let path = path.to_owned();
    wrong.map_or(Ok(()), |message| Err(Fault { path, message }))
}

/// Refuses the value at this position of the list at `path`, if there is one.
fn refuse_at(
    path: &str,
    position: Option<usize>,
    message: impl Fn(usize) -> String,
) -> Result<(), Fault> {
    position.map_or(Ok(()), |at| {
        refuse(&format!("{path}.{at}"), Some(message(at)))
    })
}

/// Refuses a profile with values that are none, or that contradict each other.
fn check(board: &Board) -> Result<(), Fault> {
    check_texts(board)?;
    check_axis("targets", &board.targets)?;
    let other = board.targets.iter().position(|triple| !is_linux(triple));
    refuse_at("targets", other, |at| {
        let triple = &board.targets[at];
        format!("{triple:?} is not a known target: use one such as aarch64-unknown-linux-gnu")
    })?;
    let cpus = board.cpus.as_ref();
    cpus.map_or(Ok(()), check_cpus)?;
    check_axis("defaults.threads", &board.defaults.threads)?;
    check_axis("defaults.payload", &board.defaults.payload)?;
    check_payloads(&board.defaults.payload)?;
    check_temperatures(board)?;
    for (n, it) in board.loopback.iter().enumerate() {
        let again = board.loopback[..n]
            .iter()
            .any(|other| other.threads == it.threads);
        let receivers = receiver_threads(it.threads);
        let lists = [
            ("senders", &it.senders, it.threads.senders()),
            ("receivers", &it.receivers, receivers),
        ];
        check_entry(&format!("loopback.{n}"), it.threads, again, &lists, cpus)?;
    }
    for (n, it) in board.wire.iter().enumerate() {
        let again = board.wire[..n]
            .iter()
            .any(|other| other.threads == it.threads);
        let lists = [("cpus", &it.cpus, it.threads.count())];
        check_entry(&format!("wire.{n}"), it.threads, again, &lists, cpus)?;
    }
    Ok(())
}

/// Checks the name, which becomes part of a file name, and that no text is blank: an empty `model` would fit every
/// machine.
fn check_texts(board: &Board) -> Result<(), Fault> {
    let name = &board.name;
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_plain = !name.is_empty() && name != "auto" && name.bytes().all(plain);
    let fix = "use lower-case letters, digits and dashes, and not auto";
    let wrong = (!is_plain).then(|| format!("{name:?} is not a valid name: {fix}"));
    refuse("name", wrong)?;
    for (path, texts) in [
        ("title", std::slice::from_ref(&board.title)),
        ("verified_on", &board.verified_on),
        ("limits", &board.limits),
        ("detect.compatible", &board.detect.compatible),
        ("detect.model", &board.detect.model),
    ] {
        let blank = texts.iter().position(|text| text.trim().is_empty());
        refuse_at(path, blank, |_| "the text is empty: write one".to_owned())?;
    }
    Ok(())
}

fn is_linux(triple: &str) -> bool {
    let parts: Vec<&str> = triple.split('-').collect();
    matches!(parts[..], [_arch, _vendor, "linux", _abi])
}

/// Checks that there is at least one value, and none twice.
fn check_axis<T: PartialEq + fmt::Display>(path: &str, values: &[T]) -> Result<(), Fault> {
    let none = "the list is empty: it needs at least one value";
    refuse(path, values.is_empty().then(|| none.to_owned()))?;
    refuse_at(path, position_of_repeated(values), |at| {
        format!("{} is listed twice", values[at])
    })
}

fn check_cpus(cpus: &Cpus) -> Result<(), Fault> {
    let (count, big) = (cpus.count, &cpus.big);
    let none = (count == 0).then(|| "a board has at least one CPU".to_owned());
    refuse("cpus.count", none)?;
    check_range("cpus.big", big, count)?;
    refuse_at("cpus.big", position_of_repeated(big), |at| {
        format!("CPU {} is listed twice in big", big[at])
    })?;
    let all = "all CPUs are big: leave big out if all are alike";
    refuse("cpus.big", (big.len() == count).then(|| all.to_owned()))
}

/// Checks that each payload fits one UDP datagram. Longer messages must be requested with their transport.
fn check_payloads(payloads: &[Payload]) -> Result<(), Fault> {
    let most = Payload::MAX_DATAGRAM;
    let long = payloads.iter().position(|it| u32::from(*it) > most);
    refuse_at("defaults.payload", long, |at| {
        let payload = payloads[at];
        format!("{payload}: use {most} or less, the most that one UDP datagram carries")
    })
}

fn check_temperatures(board: &Board) -> Result<(), Fault> {
    let Some(throttle) = board.throttle else {
        return Ok(());
    };
    let from = throttle.from_c;
    let low = throttle.critical_c.filter(|&critical| critical <= from);
    let low = low.map(|it| format!("critical_c = {it} must be above from_c = {from}"));
    refuse("throttle.critical_c", low)?;
    let cooldown = board.cooldown.map(|cooldown| cooldown.below_c);
    let high = cooldown.filter(|&below_c| below_c >= from);
    let high = high.map(|it| {
        format!("below_c = {it} lets a throttled board run: write less than from_c = {from}")
    });
    refuse("cooldown.below_c", high)
}

/// Checks an entry of a table, by the keys of its lists, the lists, and how many CPUs each needs. It has as many CPUs
/// as its threads need, which the board has, and no two threads share one if the board has a CPU for each.
fn check_entry(
    path: &str,
    threads: Threads,
    again: bool,
    lists: &[(&str, &Vec<usize>, usize)],
    board: Option<&Cpus>,
) -> Result<(), Fault> {
    let again = again.then(|| format!("threads = {threads} is listed twice"));
    refuse(&format!("{path}.threads"), again)?;
    for (key, list, needs) in lists {
        let (has, cpus) = (list.len(), counted(needs, "CPU"));
        let other = format!("threads = {threads} needs {cpus} in {key}, not {has}");
        refuse(path, (has != *needs).then_some(other))?;
        let count = board.map_or(usize::MAX, |cpus| cpus.count);
        check_range(&format!("{path}.{key}"), list, count)?;
    }
    let all: Vec<usize> = lists
        .iter()
        .flat_map(|(_, list, _)| *list)
        .copied()
        .collect();
    let enough = board.is_some_and(|cpus| all.len() <= cpus.count);
    let shared = repeated(&all).filter(|_| enough);
    let shared =
        shared.map(|cpu| format!("CPU {cpu} has two threads, but there is a CPU for each"));
    refuse(&format!("{path}.{}", lists[0].0), shared)
}

fn check_range(path: &str, list: &[usize], count: usize) -> Result<(), Fault> {
    let beyond = list.iter().position(|&cpu| cpu >= count);
    refuse_at(path, beyond, |at| {
        let (cpu, last) = (list[at], count - 1);
        format!("no CPU {cpu}: [cpus] has count = {count}, CPUs 0 to {last}")
    })
}
