//! Checks the network stack: loopback, buffers, RPS, conntrack and interrupts.

use std::fmt::Display;

use super::{Finding, Subject, Unfit};
use crate::data::Ip;
use crate::facts::{Nic, loopback_fix};
use crate::text::cpu_list;

pub(super) fn findings(subject: &Subject) -> Vec<Finding> {
    let mut findings: Vec<Finding> = [
        loopback(subject, Ip::V4),
        loopback(subject, Ip::V6),
        rcvbuf(subject),
        foreign_sys(subject),
        rps(subject),
        conntrack(subject),
    ]
    .into_iter()
    .flatten()
    .collect();
    let nics = subject.host.nics.iter();
    findings.extend(nics.filter_map(|nic| interrupts(subject, nic)));
    findings
}

fn loopback(subject: &Subject, ip: Ip) -> Option<Finding> {
    let problem = subject.host.loopback_problem(ip)?;
    let problem = problem.to_owned();
    let fix = loopback_fix(ip);
    Some(match ip {
        Ip::V4 => Finding::unfit(Unfit::Loopback { problem }, &[("fix", &fix)]),
        Ip::V6 => Finding::noted("loopback-v6", &[("problem", &problem), ("fix", &fix)]),
    })
}

/// Finds a limit on receive buffers that is too low or unknown. No setting affects loss more than the buffer.
fn rcvbuf(subject: &Subject) -> Option<Finding> {
    let host = subject.host;
    if host.exceeds_rmem_max {
        return None;
    }
    let asked_bytes = u64::from(subject.rcvbuf_bytes);
    let mut command = host.command_for_rmem_max(asked_bytes);
    if host.rmem_max_is_of_host {
        command += "\nor start the container in the host's network (--network host)";
    }
    let Some(most_bytes) = host.rmem_max else {
        let values: &[(&str, &dyn Display)] = &[("asked", &asked_bytes), ("command", &command)];
        return Some(Finding::noted("unknown-buffers", values));
    };
    let seen = Unfit::SmallBuffers {
        most_bytes,
        asked_bytes,
    };
    (most_bytes < asked_bytes).then(|| Finding::unfit(seen, &[("command", &command)]))
}

/// Finds a /sys that shows another network namespace, as under `nsenter -n`.
fn foreign_sys(subject: &Subject) -> Option<Finding> {
    let is_foreign = subject.host.sys_is_foreign;
    is_foreign.then(|| Finding::noted("foreign-sys", &[]))
}

fn rps(subject: &Subject) -> Option<Finding> {
    let cpus = subject.host.lo_rps_cpus.as_deref();
    let cpus = cpus.filter(|cpus| !cpus.is_empty())?;
    let cpus = cpu_list::join(cpus, ",");
    Some(Finding::unfit(Unfit::Rps { cpus }, &[]))
}

fn conntrack(subject: &Subject) -> Option<Finding> {
    let follows = subject.host.conntrack?.follows_loopback == Some(true);
    follows.then(|| Finding::unfit(Unfit::Conntrack, &[]))
}

/// Finds interrupts on a sender's CPU. Traffic from outside (such as the ssh session) interrupts the CPU that it
/// arrives at.
pub(super) fn interrupts(subject: &Subject, nic: &Nic) -> Option<Finding> {
    let threads = subject.board.defaults.threads.iter();
    let senders: Vec<usize> = threads
        .filter_map(|&threads| subject.board.placement(threads, subject.host).ok())
        .flat_map(|placed| placed.placement.senders)
        .flatten()
        .collect();
    let is_hit = |cpu: &usize| senders.contains(cpu);
    let hit: Vec<usize> = nic.irq_cpus.iter().copied().filter(is_hit).collect();
    // If every CPU has a sender at some thread count, there is no better place.
    let mut cpus = subject.host.cpus.iter().map(|cpu| cpu.id);
    let free = cpus
        .find(|cpu| !senders.contains(cpu))
        .filter(|_| !hit.is_empty())?;
    let values: &[(&str, &dyn Display)] = &[
        ("nic", &nic.name),
        ("cpus", &cpu_list::join(&hit, ",")),
        ("irqs", &irq_list(&nic.irqs)),
        ("free", &free),
    ];
    Some(Finding::noted("interrupted-sender", values))
}

/// Returns the numbers of interrupts for a shell.
pub(super) fn irq_list(irqs: &[u32]) -> String {
    let irqs: Vec<String> = irqs.iter().map(ToString::to_string).collect();
    irqs.join(" ")
}
