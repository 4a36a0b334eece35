//! Decides which cases run, on which CPUs, and with which warnings.
//!
//! | question | module |
//! |---|---|
//! | does the case make sense, can these hosts run it | `refusal` |
//! | do requests, flows, both directions or a transport fit it | `workload` |
//! | do real-time threads leave a CPU to others | `real_time` |
//! | what may mislead about its results | `warnings` |

mod real_time;
mod refusal;
mod warnings;
mod workload;

use anyhow::{Error, bail};
use serde::{Deserialize, Serialize};

use super::{Conditions, LinkEnd, Location, PlanWarning};
use crate::data::{Case, Ip, Payload};
use crate::engines::{self, Entry};
use crate::host::board::Board;
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
        let run = || -> anyhow::Result<Self> {
            let question = Question::of(case, conditions)?;
            question.can_run()?;
            let (placement, fallbacks) = question.placement()?;
            question.can_be_placed(&placement)?;
            let mut warnings = question.warnings(&placement);
            let fallbacks = fallbacks.into_iter();
            warnings.extend(fallbacks.map(|reason| PlanWarning::GenericPlacement { reason }));
            Ok(Self::Run(placement, warnings))
        };
        run().unwrap_or_else(|reason| Self::Skip(reason.to_string()))
    }
}

/// A case whose decision is asked for, its engines, and the hosts of its two ends.
pub(super) struct Question<'a> {
    case: &'a Case,
    sender: &'static Entry,
    receiver: &'static Entry,
    conditions: &'a Conditions<'a>,
    senders: EndHost<'a>,
    receivers: EndHost<'a>,
}

/// The host of one end.
#[derive(Clone, Copy)]
struct EndHost<'a> {
    host: &'a Host,
    board: &'a Board,
    engine_refusals: &'a [(&'static Entry, String)],
    steering_refusal: Option<&'a str>,
    /// Which host it is. `None`: both ends are on one.
    location: Option<Location>,
    /// The interface of the case. `None`: both ends are on one host, or no link fits.
    link: Option<&'a LinkEnd>,
}

impl EndHost<'_> {
    fn is_far(&self) -> bool {
        self.location == Some(Location::Remote)
    }
}

impl<'a> Question<'a> {
    /// Asks about a case.
    ///
    /// # Errors
    /// Fails if this build lacks one of its engines.
    pub(super) fn of(case: &'a Case, conditions: &'a Conditions<'a>) -> anyhow::Result<Self> {
        let (sender, receiver) = engines::of(case).map_err(Error::msg)?;
        let remote = conditions.remote.as_ref();
        let link = remote.and_then(|remote| remote.wire.link(case));
        let local = EndHost {
            host: conditions.host,
            board: conditions.board,
            engine_refusals: conditions.engine_refusals,
            steering_refusal: conditions.steering_refusal,
            location: remote.map(|_| Location::Local),
            link: link.map(|link| &link.local),
        };
        let other = remote.map_or(local, |remote| EndHost {
            host: &remote.wire.host,
            board: remote.board,
            engine_refusals: remote.engine_refusals,
            steering_refusal: remote.steering_refusal,
            location: Some(Location::Remote),
            link: link.map(|link| &link.remote),
        });
        let (senders, receivers) = if case.remote_sends() {
            (other, local)
        } else {
            (local, other)
        };
        Ok(Self {
            case,
            sender,
            receiver,
            conditions,
            senders,
            receivers,
        })
    }

    /// Returns the first engine of the case that cannot run on the host of its threads, where, and why.
    pub(super) fn refused_engine(&self) -> Option<(&'static Entry, &'static str, String)> {
        let (one_way, back) = ((self.sender, self.receiver), (self.receiver, self.sender));
        let engines = [one_way, back].into_iter().zip(self.ways());
        let mut engines = engines.flat_map(|((sender, receiver), _)| {
            [(sender, &self.senders), (receiver, &self.receivers)]
        });
        engines.find_map(|(entry, end)| {
            let mut refusals = end.engine_refusals.iter();
            let (_, reason) = refusals.find(|(refused, _)| *refused == entry)?;
            let place = if end.is_far() { "there" } else { "here" };
            Some((entry, place, reason.clone()))
        })
    }

    /// Returns the CPUs of the threads, and the reasons where they are not those of the profile.
    fn placement(&self) -> anyhow::Result<(Placement, Vec<String>)> {
        let threads = self.case.threads;
        let mut fallbacks = Vec::new();
        let placement = match self.conditions.pin {
            Pin::None => Placement::unpinned(threads),
            Pin::To(senders, receivers) => Placement::from_lists(threads, senders, receivers)
                .unwrap_or_else(|| Placement::unpinned(threads)),
            Pin::Board if self.conditions.remote.is_some() => {
                let mut place = |end: &EndHost, count| {
                    let interface = end.link.map_or("", |link| &link.interface.name);
                    let (cpus, reason) = end.board.one_sided_placement(count, end.host, interface);
                    fallbacks.extend(reason);
                    cpus
                };
                Placement {
                    senders: place(&self.senders, threads.senders()),
                    receivers: place(&self.receivers, threads.receivers()),
                }
            }
            Pin::Board => {
                let placed = self.senders.board.placement(threads, self.senders.host);
                let placed = placed.map_err(Error::msg)?;
                fallbacks.extend(placed.fallback_reason);
                placed.placement
            }
        };
        Ok((placement, fallbacks))
    }

    /// Returns the hosts between which the case sends: from, and to.
    fn ways(&self) -> impl Iterator<Item = (&EndHost<'a>, &EndHost<'a>)> {
        let back = (&self.receivers, &self.senders);
        let back = self.case.receives_at_both_ends().then_some(back);
        std::iter::once((&self.senders, &self.receivers)).chain(back)
    }

    /// Returns the engines that receive, each with its host. Those of clients come last.
    fn receiving(&self) -> impl Iterator<Item = (&'static Entry, &EndHost<'a>)> {
        let back = if self.case.is_rr() {
            self.sender
        } else {
            self.receiver
        };
        let engines = [self.receiver, back].into_iter();
        engines.zip(self.ways().map(|(_, to)| to))
    }

    /// Counts the bench threads that run as tasks on workers.
    fn threads_on_workers(&self) -> usize {
        let threads = self.case.threads;
        let receivers = if threads.is_alone() {
            0
        } else {
            threads.receivers()
        };
        let sides = [(self.sender, threads.senders()), (self.receiver, receivers)];
        let on_workers = sides
            .iter()
            .filter(|(entry, _)| entry.runs_on_workers(self.case));
        on_workers.map(|(_, threads)| threads).sum()
    }

    /// Returns whether both ends are on one machine, also as two of its network namespaces.
    fn is_one_machine(&self) -> bool {
        let remote = self.conditions.remote.as_ref();
        remote.is_none_or(|remote| remote.wire.is_one_machine(self.case))
    }

    fn is_fragmented(&self) -> bool {
        self.case.transport.is_none()
            && self.case.direction.is_none()
            && self.case.ip == Ip::V6
            && u32::from(self.case.payload) > Payload::MAX_UNFRAGMENTED_V6
    }
}

/// Fails with the reason why something cannot be done, if there is one.
fn permitted(refusal: Option<impl ToString>) -> anyhow::Result<()> {
    refusal.map_or(Ok(()), |reason| bail!(reason.to_string()))
}

#[cfg(test)]
mod tests;
