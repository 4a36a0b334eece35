//! Remarks about a plan that are known before anything is measured: each reason and each warning once, advice, and CPUs
//! that both ends of a case share.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::axes::once_each;
use super::{Axes, Decision, Plan};
use crate::data::{AskedRate, EngineName, Group, Payload, Wait};
use crate::host::facts::Cpu;
use crate::host::placement::{Pin, Placement};
use crate::text::digits::counted;
use crate::text::sentences;

/// Warnings that are shown at the start of a run. `udpbench plan` shows all.
pub(super) const MOST_SHOWN: usize = 4;

impl Plan {
    /// Counts the cases of each skip reason and each warning. The key has `skip` or `warning`, and the text.
    pub fn remarks(&self) -> BTreeMap<(&'static str, String), usize> {
        let mut remarks = BTreeMap::new();
        for planned in self.cases() {
            let texts: Vec<_> = match &planned.verdict {
                Decision::Run(_, it) => it.iter().map(|it| ("warning", it.to_string())).collect(),
                Decision::Skip(reason) => vec![("skip", reason.clone())],
            };
            for text in texts {
                *remarks.entry(text).or_default() += 1;
            }
        }
        remarks
    }

    /// Returns the warnings as lines for the start of a run, the most frequent first.
    pub fn warnings(&self) -> Vec<String> {
        let all = self.cases().count();
        let remarks = self.remarks().into_iter();
        let mut warnings: Vec<(usize, String)> = remarks
            .filter(|((kind, _), _)| *kind == "warning")
            .map(|((_, text), count)| (count, text))
            .collect();
        warnings.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        let more = warnings.len().saturating_sub(MOST_SHOWN);
        let shown = warnings.iter().take(MOST_SHOWN);
        let mut lines: Vec<String> = shown
            .map(|(count, text)| match count {
                count if *count == all => format!("warning: {text}"),
                count => format!("warning: {count} of {all} cases: {text}"),
            })
            .collect();
        if more > 0 {
            lines.push(format!("warning: {more} more: udpbench plan shows them"));
        }
        lines
    }

    /// Returns the value of `--pin` that gives each end CPUs of its own, where a sweep over loopback places them.
    ///
    /// # Errors
    /// Fails if the machine has too few `cpus`. The message says what to do instead.
    pub fn pin_apart(&self, cpus: &[Cpu]) -> Result<Pin, &'static str> {
        let threads = self.runnable().map(|planned| planned.case.threads);
        let placed = threads.max().map(|most| Placement::generic(most, cpus));
        let apart = placed.filter(|placed| placed.shared_cpu().is_none());
        let list = |cpus: &[Option<usize>]| cpus.iter().flatten().copied().collect::<Vec<_>>();
        let lists = apart.map(|placed| (list(&placed.senders), list(&placed.receivers)));
        match lists.filter(|(senders, _)| !senders.is_empty()) {
            Some((senders, receivers)) => Ok(Pin::To(senders, receivers)),
            None if cpus.len() == 1 => {
                Err("this machine has only one CPU for both ends: measure between two machines")
            }
            None => Err("this machine has too few CPUs for both ends: measure between two"),
        }
    }
}

impl Axes {
    /// Suggests a better command line if this one cannot answer the likely question.
    pub fn advice(&self) -> Option<String> {
        let ranked = self.engines.iter().find(|(sender, receiver)| {
            let rival = |&(s, r): &(_, _)| s == *sender && r != *receiver;
            sender.about.group != Group::Offload && self.engines.iter().any(rival)
        });
        let (sender, _) = ranked.filter(|_| self.threads.iter().any(|count| !count.is_alone()))?;
        Some(format!(
            "to rank receivers, use --sender gso: on loopback {sender} does most of the receiving work, \
             too, and limits all of them"
        ))
    }

    /// Returns a line about senders whose datagrams loopback copies after all. `None`: there are none.
    pub fn copied_over_loopback(&self) -> Option<String> {
        let mut senders = self.engines.iter().map(|(sender, _)| sender);
        let sender = senders.find(|sender| sender.about.sends_without_copy)?;
        Some(format!(
            "{sender} cannot gain over loopback, where the kernel copies after all: measure with udpbench wire"
        ))
    }

    /// Returns a line that names the receivers that cannot do what `--wait spin` asks. `None`: all can, or it was not
    /// asked.
    pub fn unable_to_spin(&self) -> Option<String> {
        let receivers = self.engines.iter().map(|(_, receiver)| receiver);
        let unable = receivers.filter(|receiver| !receiver.about.can_spin);
        let unable = once_each(unable.map(|receiver| receiver.name()));
        if unable.is_empty() || !self.wait.contains(&Wait::Spin) {
            return None;
        }
        let names: Vec<String> = unable.iter().map(EngineName::to_string).collect();
        Some(format!(
            "--wait spin changes nothing for {}: only std, mmsg, gro and uring spin",
            names.join(", ")
        ))
    }
}

/// Host of a case between two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Location {
    /// This host.
    Local,
    /// The other host.
    Remote,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Local => "here",
            Self::Remote => "at the other end",
        })
    }
}

sentences! {
    /// Warning about a case that is known before it runs.
    pub enum PlanWarning {
        "unknown-cpus": UnknownCpus { threads: usize, location: Option<Location> } =>
            "how many CPUs there are is not known (no /proc, no /sys): {threads} threads may share them{}",
            at(*location);
        "shared-cpus": SharedCpus { threads: usize, cpus: usize, location: Option<Location> } =>
            "{threads} threads share {}{}", counted(*cpus, "CPU"), at(*location);
        "shared-cpu": BothEndsShareCpu { cpu: usize } =>
            "both ends share CPU {cpu}, as they are on one machine (veth): give each its own with --pin \
             SENDERS:RECEIVERS";
        "odd-threads": OddThreads { senders: usize, receivers: usize, is_rr: bool } =>
            "an odd thread count: {senders} {}, {receivers} {}",
            if *is_rr { "rr" } else { "send" },
            if *is_rr { "answer" } else { "receive" };
        "uneven-flows": UnevenFlows { flows: usize, receivers: usize } =>
            "{flows} flows cannot be spread evenly over {receivers} receivers: some get more";
        "hashed-flows": HashedFlows => "the kernel's hash assigns the flows: some receivers may get none";
        "one-receiver": OneReceiver => "SO_REUSEADDR: the kernel gives all datagrams to one of the receivers";
        "no-receiver-on-cpu": NoReceiverOnCpu =>
            "over loopback the sender's CPU handles its packets, and no receiver is on one: the kernel's hash assigns \
             the flows; see --pin";
        "flows-by-cpu": FlowsByCpu =>
            "the CPU that handles a packet decides where it goes: some receivers may get none";
        "one-per-call": OnePerCall { sender: EngineName, payload: Payload } =>
            "{sender} sends one datagram per call at {payload} B";
        "whole-trains": WholeTrains { reason: String } =>
            "trains stay whole, unlike before a NIC: no network namespace of its own, where they could be cut ({reason})";
        "rate-too-high": RateTooHigh { rate: AskedRate, each_pps: f64 } =>
            "--rate {rate} is {:.1} million datagrams per second for each sending thread: none keeps that up",
            each_pps / 1e6;
        "two-fragments": TwoFragments =>
            "above 65488 B IPv6 sends two fragments per datagram over loopback";
        "may-starve": MayStarve { receiver: EngineName, reason: String } => "{receiver} may starve: {reason}";
        "fragments": Fragments { most_bytes: u32, location: Location } =>
            "above {most_bytes} B a datagram is sent in fragments {location} (MTU): one that gets lost loses all of it \
             (see net.ipv4.ipfrag_high_thresh)";
        "mtus-differ": MtusDiffer {
            from: (u32, Location),
            to: (u32, Location),
            interface: String,
            most_bytes: u32,
        } =>
            "the MTUs differ: {} {}, {} {}, where longer frames may be dropped: ip link set dev {interface} mtu {} {}, \
             or --payload {most_bytes}",
            from.0, from.1, to.0, to.1, to.0, from.1;
        "cut-on-the-way": CutOnTheWay { most_bytes: u32 } =>
            "no datagram of more than {most_bytes} B came through whole before the start: longer ones are cut on the \
             way, or lost";
        "waits-unpolled": WaitsUnpolled { engine: EngineName, place: String } =>
            "{engine} waits {place}, where --busy-poll reaches only with sysctl net.core.busy_poll: without it, a call \
             looks once";
        "rt-throttled": RtThrottled { pause_ms: i64, period_ms: i64 } =>
            "RT throttling stops threads that never sleep for {pause_ms} of each {period_ms} ms \
             (kernel.sched_rt_runtime_us)";
        "rt-yields": RtYields { pause_ms: i64, period_ms: i64 } =>
            "the kernel stops threads that never sleep for {pause_ms} of each {period_ms} ms, if others wait for their \
             CPU";
        "rt-unknown": RtUnknown { pause_ms: i64, period_ms: i64 } =>
            "RT throttling may stop threads that never sleep for {pause_ms} of each {period_ms} ms: since Linux 6.12 it \
             depends on CONFIG_RT_GROUP_SCHED, which is unknown";
        "generic-placement": GenericPlacement { reason: String } => "{reason}";
    }
}

fn at(location: Option<Location>) -> String {
    location.map_or_else(String::new, |location| format!(" {location}"))
}
