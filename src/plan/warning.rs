//! Warnings about cases that run, but whose results may mislead.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::data::{AskedRate, EngineName, Payload};
use crate::text::digits::counted;
use crate::text::sentences;

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
