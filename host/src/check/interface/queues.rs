//! Checks queues, rings, interrupts and buffers.

use std::fmt::Display;

use super::super::network;
use super::{Finding, Subject};
use crate::data::Threads;
use crate::facts::Interface;
use crate::text::{cpu_list, cpu_mask};

pub(super) fn findings(interface: &Interface, subject: &Subject) -> Vec<Finding> {
    let all = [
        unsteered(interface, subject),
        interrupted(interface, subject),
        held_back(interface),
        small_rings(interface),
    ];
    all.into_iter().flatten().collect()
}

/// Finds transmit queues without XPS. Several flows starve on a Pi 4 (README of OB-UDPST): the kernel hashes them to
/// queues that the driver serves unequally.
fn unsteered(interface: &Interface, subject: &Subject) -> Option<Finding> {
    let (name, queues) = (&interface.name, interface.tx_queues);
    let is_off = interface.xps_cpus.as_ref().is_some_and(Vec::is_empty);
    let cpus: Vec<usize> = subject.host.cpus.iter().map(|cpu| cpu.id).collect();
    let values: &[(&str, &dyn Display)] = &[
        ("interface", name),
        ("queues", &queues),
        ("steering", &steering(name, queues, &cpus)),
    ];
    (queues > 1 && is_off && !cpus.is_empty()).then(|| Finding::noted("unsteered", values))
}

/// Returns a command for each queue that gets CPUs.
fn steering(name: &str, queues: usize, cpus: &[usize]) -> String {
    let line = |queue: usize| {
        let own: Vec<usize> = cpus.iter().copied().skip(queue).step_by(queues).collect();
        let mask = cpu_mask::format(&own);
        format!("echo {mask} | sudo tee /sys/class/net/{name}/queues/tx-{queue}/xps_cpus")
    };
    let with_cpus = queues.min(cpus.len());
    (0..with_cpus).map(line).collect::<Vec<_>>().join("\n")
}

/// Finds interrupts on the CPU of a bench thread: interrupt, softirq and thread take turns on it
/// (Raspberry-Pi-OS-64bit #182, #6898).
fn interrupted(interface: &Interface, subject: &Subject) -> Option<Finding> {
    let name = &interface.name;
    let nic = subject.host.nics.iter().find(|nic| nic.name == *name);
    // The check for loopback has a finding for this already.
    if nic.is_some_and(|nic| network::interrupts(subject, nic).is_some()) {
        return None;
    }
    let has_own = |cpu: &usize| !interface.irq_cpus.contains(cpu);
    // If threads use every CPU, one of them shares the interrupt's.
    let counts = subject.board.defaults.threads.iter();
    let used = counts.map(|&threads| wire_cpus(subject, threads));
    let mut fewer = used.filter(|used| used.len() < subject.host.cpus.len());
    let used = fewer.find(|used| !used.iter().all(has_own))?;
    let mut cpus = subject.host.cpus.iter().map(|cpu| cpu.id);
    let free = cpus.find(|cpu| !used.contains(cpu))?;
    let values: &[(&str, &dyn Display)] = &[
        ("interface", name),
        ("cpus", &cpu_list::join(&interface.irq_cpus, ",")),
        ("irqs", &network::irq_list(&interface.irqs)),
        ("free", &free),
    ];
    Some(Finding::noted("interrupted-thread", values))
}

/// Returns the CPUs of this many threads whose peers are on another host.
fn wire_cpus(subject: &Subject, threads: Threads) -> Vec<usize> {
    if let Some(cpus) = subject.board.one_sided_cpus(threads) {
        return cpus.to_vec();
    }
    let placed = subject.board.placement(threads, subject.host).ok();
    let cpus = placed.iter().flat_map(|placed| placed.placement.cpus());
    cpus.flatten().collect()
}

/// Finds interrupts or GRO that hold packets back (r8168 #68).
fn held_back(interface: &Interface) -> Option<Finding> {
    let name = &interface.name;
    // With `rx_frames` = 1, one packet causes an interrupt, whatever the time.
    let held = interface.coalescing.filter(|held| held.rx_frames != 1);
    let usecs = held.map_or(0, |held| held.rx_usecs);
    let is_polled = interface
        .napi_defer_hard_irqs
        .is_some_and(|times| times > 0);
    let polled_ns = interface.gro_flush_timeout_ns.filter(|_| is_polled);
    let polled_us = polled_ns.unwrap_or(0) / 1000;
    let floor = u64::from(usecs) + polled_us;
    let adapts = held.is_some_and(|held| held.adapts_rx);
    let mut fixes = Vec::new();
    if usecs > 0 {
        let adaptive = if adapts { "adaptive-rx off " } else { "" };
        fixes.push(format!("sudo ethtool -C {name} {adaptive}rx-usecs 0"));
    }
    if polled_us > 0 {
        let file = format!("/sys/class/net/{name}/napi_defer_hard_irqs");
        fixes.push(format!("echo 0 | sudo tee {file}"));
    }
    let values: &[(&str, &dyn Display)] = &[
        ("interface", name),
        ("floor", &floor),
        ("fixes", &fixes.join("\n")),
    ];
    (floor > 0).then(|| Finding::noted("held-back", values))
}

/// Finds rings below their largest size. Senders in bursts need them (moonlight-embedded #315, moonlight-qt #724).
fn small_rings(interface: &Interface) -> Option<Finding> {
    let rings = interface.rings?;
    let values: &[(&str, &dyn Display)] = &[
        ("interface", &interface.name),
        ("rx", &rings.rx),
        ("tx", &rings.tx),
        ("rx_max", &rings.rx_max),
        ("tx_max", &rings.tx_max),
    ];
    (rings.rx < rings.rx_max || rings.tx < rings.tx_max)
        .then(|| Finding::noted("small-rings", values))
}

/// Finds a raised buffer limit that nobody uses: the limit alone does nothing (librealsense #14928, ouster-ros #247).
pub(super) fn unused_rmem_max(subject: &Subject) -> Option<Finding> {
    let asked = u64::from(subject.rcvbuf_bytes);
    let most = subject.host.rmem_max.filter(|&most| most > asked)?;
    Some(Finding::noted(
        "unused-buffers",
        &[("most", &most), ("asked", &asked)],
    ))
}
