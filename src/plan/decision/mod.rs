//! Decides which cases run, on which CPUs, and with which warnings.

mod across;
mod busy_poll;
mod flows;
mod incoming_cpu;
mod link_mtu;
mod programs;
mod real_time;
mod refusal;
mod transport;
mod warnings;

use std::collections::BTreeSet;

use anyhow::bail;
use serde::{Deserialize, Serialize};

pub(super) use self::refusal::makes_sense;
use self::warnings::warnings;
use super::{Conditions, Location, PlanWarning};
use crate::data::{Case, Ip, LoopbackTrains, Payload};
use crate::engines::{self, Engines, Entry};
use crate::host::facts::Host;
use crate::host::placement::{Pin, Placement};

/// Decision to run or to skip a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Run on these CPUs, with warnings about results that may mislead.
    Run(Placement, Vec<PlanWarning>),
    /// Skip, for this reason.
    Skip(String),
}

impl Decision {
    pub(super) fn of(case: &Case, conditions: &Conditions) -> Self {
        let decided = Self::run(case, conditions);
        decided.unwrap_or_else(|reason| Self::Skip(reason.to_string()))
    }

    /// Decides to run. The error is the reason to skip.
    fn run(case: &Case, conditions: &Conditions) -> anyhow::Result<Self> {
        let engines = engines::of(case).map_err(anyhow::Error::msg)?;
        refusal::can_run(case, engines, conditions)?;
        busy_poll::can_poll(case, engines, conditions)?;
        let placed = placement(case, conditions).map_err(anyhow::Error::msg);
        let (placement, fallbacks) = placed?;
        real_time::leaves_a_cpu(case, conditions, &placement)?;
        real_time::starves_nobody(case, engines, conditions, &placement)?;
        incoming_cpu::can_prefer(case, engines, conditions, &placement)?;
        let mut warnings = warnings(case, engines, conditions, &placement);
        warnings.extend(busy_poll::warning(case, engines, conditions));
        warnings.extend(incoming_cpu::warning(case, conditions, &placement));
        warnings.extend(real_time::warning(case, conditions));
        let reason = conditions.loopback_refusal;
        let reason = reason.filter(|_| case.loopback == Some(LoopbackTrains::Whole));
        warnings.extend(reason.map(|reason| PlanWarning::WholeTrains {
            reason: reason.to_owned(),
        }));
        let fallbacks = fallbacks.into_iter();
        warnings.extend(fallbacks.map(|reason| PlanWarning::GenericPlacement { reason }));
        Ok(Self::Run(placement, warnings))
    }
}

/// Fails with the reason why something cannot be done, if there is one.
fn permitted(refusal: Option<impl ToString>) -> anyhow::Result<()> {
    refusal.map_or(Ok(()), |reason| bail!(reason.to_string()))
}

/// Returns the CPUs of a case's threads, and the reasons where they are not those of the profile.
fn placement(case: &Case, conditions: &Conditions) -> Result<(Placement, Vec<String>), String> {
    let threads = case.threads;
    Ok(match (conditions.pin, &conditions.remote) {
        (Pin::None, _) => (Placement::unpinned(threads), Vec::new()),
        (Pin::To(senders, receivers), _) => {
            let placement = Placement::from_lists(threads, senders, receivers);
            let placement = placement.unwrap_or_else(|| Placement::unpinned(threads));
            (placement, Vec::new())
        }
        (Pin::Board, Some(remote)) => across::placement(case, conditions, remote),
        (Pin::Board, None) => {
            let placed = conditions.board.placement(threads, conditions.host)?;
            (placed.placement, Vec::from_iter(placed.fallback_reason))
        }
    })
}

/// An engine of a case that cannot run on the host of its threads, where, and why.
pub(super) type Refused = (&'static Entry, &'static str, String);

/// Returns the first of these engines that cannot run at a place.
fn cannot_run(
    engines: &[&'static Entry],
    refusals: &[(&'static Entry, String)],
    place: &'static str,
) -> Option<Refused> {
    let mut refusals = refusals.iter();
    let (entry, reason) = refusals.find(|(refused, _)| engines.contains(refused))?;
    Some((entry, place, reason.clone()))
}

/// Returns the first engine of a case that cannot run on the host of its threads.
pub(super) fn refused_engine(
    case: &Case,
    engines: Engines,
    conditions: &Conditions,
) -> Option<Refused> {
    match &conditions.remote {
        Some(remote) => across::refused_engine(case, engines, conditions, remote),
        None => cannot_run(&[engines.0, engines.1], conditions.engine_refusals, "here"),
    }
}

/// Reorders a pair (local host, remote host) to (senders' host, receivers' host).
fn by_half<T>(case: &Case, local: T, remote: T) -> (T, T) {
    if case.remote_sends() {
        (remote, local)
    } else {
        (local, remote)
    }
}

/// Returns a warning if more threads are busy than there are CPUs for them.
fn sharing_cpus(
    threads: usize,
    pinned: impl Iterator<Item = Option<usize>>,
    host: &Host,
    location: Option<Location>,
) -> Option<PlanWarning> {
    let pinned: BTreeSet<usize> = pinned.flatten().collect();
    let cpus = if pinned.is_empty() {
        host.cpus.len()
    } else {
        pinned.len()
    };
    if cpus == 0 {
        return Some(PlanWarning::UnknownCpus { threads, location });
    }
    (threads > cpus).then_some(PlanWarning::SharedCpus {
        threads,
        cpus,
        location,
    })
}

/// Counts the bench threads that run as tasks on workers.
fn threads_on_workers(case: &Case, (sender, receiver): Engines) -> usize {
    let threads = case.threads;
    let receivers = if threads.is_alone() {
        0
    } else {
        threads.receivers()
    };
    let sides = [(sender, threads.senders()), (receiver, receivers)];
    let on_workers = sides
        .iter()
        .filter(|(entry, _)| entry.runs_on_workers(case));
    on_workers.map(|(_, threads)| threads).sum()
}

fn is_fragmented(case: &Case) -> bool {
    case.transport.is_none()
        && case.direction.is_none()
        && case.ip == Ip::V6
        && u32::from(case.payload) > Payload::MAX_UNFRAGMENTED_V6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_cpus_are_not_called_none() {
        let warning = sharing_cpus(2, [None].into_iter(), &Host::default(), None);
        let (threads, location) = (2, None);
        let expected = PlanWarning::UnknownCpus { threads, location };
        assert_eq!(warning, Some(expected));
    }
}
