//! Checks queues, rings, interrupts and buffers.

use serde_json::json;

use super::super::machine;
use super::{Finding, Subject};
use crate::data::Threads;
use crate::facts::Interface;
use crate::text::cpu_list;

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
    if queues < 2 || !is_off || cpus.is_empty() {
        return None;
    }
    // A command for each queue that gets CPUs.
    let line = |queue: usize| {
        let own: Vec<usize> = cpus.iter().copied().skip(queue).step_by(queues).collect();
        let mask = cpu_list::mask(&own);
        format!("echo {mask} | sudo tee /sys/class/net/{name}/queues/tx-{queue}/xps_cpus")
    };
    let with_cpus = 0..queues.min(cpus.len());
    let steering = with_cpus.map(line).collect::<Vec<_>>().join("\n");
    let values = json!({"interface": name, "queues": queues, "steering": steering});
    Some(Finding::noted("unsteered", &values))
}

/// Finds interrupts on the CPU of a bench thread: interrupt, softirq and thread take turns on it
/// (Raspberry-Pi-OS-64bit #182, #6898).
fn interrupted(interface: &Interface, subject: &Subject) -> Option<Finding> {
    let (name, irq_cpus) = (&interface.name, &interface.irq_cpus);
    let nic = subject.host.nics.iter().find(|nic| nic.name == *name);
    // The check for loopback has a finding for this already.
    if nic.is_some_and(|nic| machine::interrupts(subject, nic).is_some()) {
        return None;
    }
    // If threads use every CPU, one of them shares the interrupt's.
    let counts = subject.board.defaults.threads.iter();
    let used = counts.map(|&threads| wire_cpus(subject, threads));
    let mut fewer = used.filter(|used| used.len() < subject.host.cpus.len());
    let used = fewer.find(|used| used.iter().any(|cpu| irq_cpus.contains(cpu)))?;
    let trouble = "interrupted-thread";
    machine::interrupted(trouble, subject, name, &interface.irqs, irq_cpus, &used)
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
    // With `rx_frames` = 1, one packet causes an interrupt, whatever the time.
    let held = interface.coalescing.filter(|held| held.rx_frames != 1);
    let usecs = held.map_or(0, |held| held.rx_usecs);
    let is_polled = interface
        .napi_defer_hard_irqs
        .is_some_and(|times| times > 0);
    let polled_ns = interface.gro_flush_timeout_ns.filter(|_| is_polled);
    let floor = u64::from(usecs) + polled_ns.unwrap_or(0) / 1000;
    let values = json!({"interface": interface.name, "floor": floor});
    (floor > 0).then(|| Finding::noted("held-back", &values))
}

/// Finds rings below their largest size. Senders in bursts need them (moonlight-embedded #315, moonlight-qt #724).
fn small_rings(interface: &Interface) -> Option<Finding> {
    let rings = interface.rings?;
    let values = json!({"interface": interface.name, "rings": rings});
    (rings.rx < rings.rx_max || rings.tx < rings.tx_max)
        .then(|| Finding::noted("small-rings", &values))
}

/// Finds a raised buffer limit that nobody uses: the limit alone does nothing (librealsense #14928, ouster-ros #247).
pub(super) fn unused_rmem_max(subject: &Subject) -> Option<Finding> {
    let asked = u64::from(subject.rcvbuf_bytes);
    let most = subject.host.rmem_max.filter(|&most| most > asked)?;
    let values = json!({"most": most, "asked": asked});
    Some(Finding::noted("unused-buffers", &values))
}
