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

use serde::{Deserialize, Serialize};

pub(super) use self::refusal::can_run_nowhere;
use self::refusal::refusal;
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
        let engines = match engines::of(case) {
            Ok(engines) => engines,
            Err(reason) => return Self::Skip(reason),
        };
        let refused = refusal(case, engines, conditions);
        if let Some(reason) = refused.or_else(|| busy_poll::refusal(case, engines, conditions)) {
            return Self::Skip(reason);
        }
        let (placement, fallbacks) = match placement(case, conditions) {
            Ok(placed) => placed,
            Err(reason) => return Self::Skip(reason),
        };
        let refused = real_time::refusal(case, conditions, &placement);
        let refused =
            refused.or_else(|| real_time::starvation(case, engines, conditions, &placement));
        let refused =
            refused.or_else(|| incoming_cpu::refusal(case, engines, conditions, &placement));
        if let Some(reason) = refused {
            return Self::Skip(reason);
        }
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
        Self::Run(placement, warnings)
    }
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

/// An engine of a case that cannot run on the host of its threads.
pub(super) struct Refused {
    /// The engine.
    pub(super) entry: &'static Entry,
    /// Place where it cannot run.
    pub(super) place: &'static str,
    /// The reason.
    pub(super) reason: String,
}

/// Returns the first of these engines that cannot run at a place.
fn cannot_run(
    engines: &[&'static Entry],
    refusals: &[(&'static Entry, String)],
    place: &'static str,
) -> Option<Refused> {
    let mut refusals = refusals.iter();
    let (entry, reason) = refusals.find(|(refused, _)| engines.contains(refused))?;
    Some(Refused {
        entry,
        place,
        reason: reason.clone(),
    })
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
