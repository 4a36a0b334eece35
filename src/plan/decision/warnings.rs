//! Warnings about cases that run, but whose results may mislead.

use std::collections::BTreeSet;

use super::{EndHost, Question};
use crate::data::{Group, LoopbackTrains, Payload, Sharing, Spread, Workers};
use crate::engine::BusyPolling;
use crate::host::facts::Host;
use crate::host::placement::Placement;
use crate::plan::{LinkEnd, Location, PlanWarning};

/// Datagrams per second that a thread cannot send with any system call per datagram or batch: at 200 ns each, the
/// kernel's own work alone takes longer.
const NOBODY_SENDS_PPS: f64 = 5e6;

impl Question<'_> {
    /// Returns the warnings about the case.
    pub(super) fn warnings(&self, placement: &Placement) -> Vec<PlanWarning> {
        let (case, sender) = (self.case, self.sender);
        let (senders, receivers) = (case.threads.senders(), case.threads.receivers());
        let payload = u32::from(case.payload);
        let mut warnings = self.crowds(placement);
        if self.conditions.remote.is_some() {
            warnings.extend(self.cuts());
            let shared = placement.shared_cpu().filter(|_| self.is_one_machine());
            warnings.extend(shared.map(|cpu| PlanWarning::BothEndsShareCpu { cpu }));
        }
        if !case.threads.is_alone() && senders != receivers {
            warnings.push(PlanWarning::OddThreads {
                senders,
                receivers,
                is_rr: case.is_rr(),
            });
        }
        if senders % receivers != 0 && case.sharing.is_none_or(Sharing::is_even) {
            let flows = case.flow_count();
            warnings.push(PlanWarning::UnevenFlows { flows, receivers });
        }
        warnings.extend(self.spread(placement));
        // An offload sender has nothing to segment.
        let is_whole = payload == 0 || 2 * payload > Payload::MAX_DATAGRAM;
        if sender.about.sends_trains(case.train) && is_whole {
            warnings.push(PlanWarning::OnePerCall {
                sender: case.sender,
                payload: case.payload,
            });
        }
        let rate = case.rate.filter(|_| sender.about.group != Group::Offload);
        warnings.extend(rate.and_then(|rate| {
            let each_pps = rate.per_second(case.payload) / senders as f64;
            let is_too_fast = each_pps > NOBODY_SENDS_PPS;
            is_too_fast.then_some(PlanWarning::RateTooHigh { rate, each_pps })
        }));
        if self.is_fragmented() {
            warnings.push(PlanWarning::TwoFragments);
        }
        let starves = self.receiver.about.starves;
        warnings.extend(starves.map(|reason| PlanWarning::MayStarve {
            receiver: case.receiver,
            reason: reason.to_owned(),
        }));
        warnings.extend(self.unpolled());
        warnings.extend(self.throttled());
        let whole = self.conditions.loopback_refusal;
        let whole = whole.filter(|_| case.loopback == Some(LoopbackTrains::Whole));
        warnings.extend(whole.map(|reason| PlanWarning::WholeTrains {
            reason: reason.to_owned(),
        }));
        warnings
    }

    /// Returns warnings about hosts that have more busy threads than CPUs for them.
    fn crowds(&self, placement: &Placement) -> Vec<PlanWarning> {
        let case = self.case;
        let (senders, receivers) = (case.threads.senders(), case.threads.receivers());
        let (cpus, host) = (placement.cpus(), self.senders.host);
        // A client at a rate has two threads, and so has each socket of a bidirectional flood.
        if self.conditions.remote.is_some() {
            let each = if case.is_full_duplex() { 2 } else { 1 };
            let beside = usize::from(case.is_open_loop());
            let crowd = |end: &EndHost, busy, cpus: &[Option<usize>]| {
                sharing_cpus(busy, cpus.iter().copied(), end.host, end.location)
            };
            let sending = crowd(&self.senders, senders * (each + beside), &placement.senders);
            let receiving = crowd(&self.receivers, receivers * each, &placement.receivers);
            return sending.into_iter().chain(receiving).collect();
        }
        let beside = match () {
            () if case.is_open_loop() => senders,
            () if case.is_full_duplex() => senders + receivers,
            () => 0,
        };
        let workers = case.tokio_workers.map_or(0, Workers::count);
        let busy = case.threads.count() + beside - self.threads_on_workers() + workers;
        Vec::from_iter(sharing_cpus(busy, cpus, host, None))
    }

    /// Returns warnings about the fragmentation or loss of long datagrams, for each direction between two hosts.
    fn cuts(&self) -> Vec<PlanWarning> {
        let payload = u32::from(self.case.payload);
        let both = [self.senders.link, self.receivers.link]
            .into_iter()
            .flatten();
        let of_interfaces = both.filter_map(LinkEnd::most_payload).min();
        let mut warnings = Vec::new();
        for (from, to) in self.ways() {
            let (Some((own, location)), Some((other, there))) = (at(from), at(to)) else {
                continue;
            };
            let most = own.most_payload().filter(|&most| payload > most);
            warnings.extend(most.map(|most_bytes| PlanWarning::Fragments {
                most_bytes,
                location,
            }));
            // The receiving interface may drop longer frames, like a veth and many drivers.
            let most_there = other.most_payload().filter(|&most| payload > most);
            let mtus = own.interface.mtu.zip(other.interface.mtu);
            let differ = mtus.filter(|(from, to)| from > to).zip(most_there);
            warnings.extend(
                differ.map(|((from, to), most_bytes)| PlanWarning::MtusDiffer {
                    from: (from, location),
                    to: (to, there),
                    interface: own.interface.name.clone(),
                    most_bytes,
                }),
            );
            let whole = own.longest_payload.filter(|&most| payload > most);
            let whole = whole.filter(|_| whole < of_interfaces && most.is_none());
            warnings.extend(whole.map(|most_bytes| PlanWarning::CutOnTheWay { most_bytes }));
        }
        warnings
    }

    /// Returns a warning about flows that the kernel may not spread over all receivers.
    fn spread(&self, placement: &Placement) -> Option<PlanWarning> {
        Some(match self.case.sharing? {
            Sharing::Reuseport(Spread::Hash) => PlanWarning::HashedFlows,
            Sharing::Reuseaddr => PlanWarning::OneReceiver,
            Sharing::Reuseport(Spread::Cpu) => {
                let mut receivers = placement.receivers.iter();
                let handles_its_own = receivers.any(|cpu| placement.senders.contains(cpu));
                let rps = self.conditions.host.lo_rps_cpus.as_ref();
                let rps = rps.is_some_and(|cpus| !cpus.is_empty());
                if self.conditions.remote.is_none() && !handles_its_own && !rps {
                    PlanWarning::NoReceiverOnCpu
                } else {
                    PlanWarning::FlowsByCpu
                }
            }
            _ => return None,
        })
    }

    /// Returns a warning about the first engine that waits where it cannot busy-poll.
    fn unpolled(&self) -> Option<PlanWarning> {
        self.case.busy_poll?;
        self.receiving().find_map(|(entry, _)| {
            let BusyPolling::OutOfReach(place) = entry.about.busy_polling else {
                return None;
            };
            Some(PlanWarning::WaitsUnpolled {
                engine: entry.name(),
                place: place.to_owned(),
            })
        })
    }
}

/// Returns the interface of an end, and where it is.
fn at<'a>(end: &EndHost<'a>) -> Option<(&'a LinkEnd, Location)> {
    end.link.zip(end.location)
}

/// Returns a warning if more threads are busy than there are CPUs for them.
pub(super) fn sharing_cpus(
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
