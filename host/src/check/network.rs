//! Checks the network stack: loopback, buffers, RPS, conntrack and interrupts.

use super::{Finding, Subject, Unfit};
use crate::data::Ip;
use crate::facts::{Nic, loopback_fix};
use crate::text::cpu_list;

pub(super) fn findings(subject: &Subject) -> Vec<Finding> {
    let mut findings: Vec<Finding> = [
        loopback(subject, Ip::V4),
        loopback(subject, Ip::V6),
        rcvbuf(subject),
        unknown_rcvbuf(subject),
        foreign_sys(subject),
        rps(subject),
        conntrack(subject),
    ]
    .into_iter()
    .flatten()
    .collect();
    findings.extend(
        subject
            .host
            .nics
            .iter()
            .filter_map(|nic| interrupts(subject, nic)),
    );
    findings
}

fn loopback(subject: &Subject, ip: Ip) -> Option<Finding> {
    let problem = subject.host.loopback_problem(ip)?;
    let problem = problem.to_owned();
    let (why, fix) = ("its cases are skipped", loopback_fix(ip));
    Some(match ip {
        Ip::V4 => Finding::invalid(Unfit::Loopback { problem }, why, fix),
        Ip::V6 => Finding::note(problem, why, fix),
    })
}

/// Finds a limit on receive buffers that is too low. No setting affects loss more than the buffer.
fn rcvbuf(subject: &Subject) -> Option<Finding> {
    let asked_bytes = u64::from(subject.rcvbuf_bytes);
    let limit = subject.host.rmem_max;
    let most_bytes = limit.filter(|&most| most < asked_bytes)?;
    if subject.host.exceeds_rmem_max {
        return None;
    }
    Some(Finding::invalid(
        Unfit::SmallBuffers {
            most_bytes,
            asked_bytes,
        },
        "a smaller buffer loses more when a receiver is late; rows with other buffers do not compare",
        fix(subject),
    ))
}

/// Returns what raises the limit on receive buffers.
fn fix(subject: &Subject) -> String {
    let host = subject.host;
    let command = host.command_for_rmem_max(subject.rcvbuf_bytes.into());
    if host.rmem_max_is_of_host {
        command + "\nor start the container in the host's network (--network host)"
    } else {
        command
    }
}

/// Finds a limit on receive buffers that is unknown.
fn unknown_rcvbuf(subject: &Subject) -> Option<Finding> {
    let asked = subject.rcvbuf_bytes;
    let is_unknown = subject.host.rmem_max.is_none() && !subject.host.exceeds_rmem_max;
    is_unknown.then(|| {
        Finding::note(
            format!("net.core.rmem_max is not visible: a receive buffer of {asked} B may be refused"),
            "a smaller buffer loses more when a receiver is late; rows with other buffers do not compare",
            fix(subject),
        )
    })
}

/// Finds a /sys that shows another network namespace, as under `nsenter -n`.
fn foreign_sys(subject: &Subject) -> Option<Finding> {
    subject.host.sys_is_foreign.then(|| {
        Finding::note(
            "/sys does not show the interfaces of this network namespace",
            "of the interfaces here, queues, interrupts and RPS are unknown; counters are known",
            "ip netns exec NAME, or nsenter with --mount as well; in a container, a /sys of its own",
        )
    })
}

fn rps(subject: &Subject) -> Option<Finding> {
    let cpus = subject.host.lo_rps_cpus.as_deref();
    let cpus = cpus.filter(|cpus| !cpus.is_empty())?;
    Some(Finding::invalid(
        Unfit::Rps {
            cpus: cpu_list::join(cpus, ","),
        },
        "the receive path runs on other CPUs than the sender: rates and CPU times change",
        "echo 0 | sudo tee /sys/class/net/lo/queues/rx-*/rps_cpus",
    ))
}

fn conntrack(subject: &Subject) -> Option<Finding> {
    let follows = subject.host.conntrack?.follows_loopback;
    follows.filter(|&follows| follows).map(|_| {
        Finding::invalid(
            Unfit::Conntrack,
            "every datagram costs a lookup in its table",
            "for ip in iptables ip6tables; do sudo $ip -t raw -I OUTPUT -o lo -j NOTRACK\n\
             sudo $ip -t raw -I PREROUTING -i lo -j NOTRACK; done",
        )
    })
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
    let irqs: Vec<String> = nic.irqs.iter().map(ToString::to_string).collect();
    Some(Finding::note(
        format!(
            "{} interrupts CPU {}, where a sender runs",
            nic.name,
            cpu_list::join(&hit, ",")
        ),
        "outside traffic takes CPU time from the sender, the busiest thread; irqbalance undoes it",
        format!(
            "for irq in {}; do echo {free} | sudo tee /proc/irq/$irq/smp_affinity_list; done",
            irqs.join(" ")
        ),
    ))
}
