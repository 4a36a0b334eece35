//! Real-time threads: cases that would stop the machine, and what throttling does to the others.

use std::collections::BTreeSet;

use anyhow::{bail, ensure};

use super::by_half;
use crate::data::{Case, Sched, Wait};
use crate::engines::{Engines, Entry};
use crate::host::facts::Host;
use crate::host::placement::Placement;
use crate::plan::{Conditions, PlanWarning};
use crate::sys::real_time::Throttling;

/// Checks that real-time threads of a case leave a CPU to the rest of the machine. The error is the reason why not.
///
/// The coordinator thread has a higher priority and ends each trial. But the kernel's own threads, and whoever wants to
/// log in, would wait for all of a window. RT throttling leaves them 5 % of each second; it may be switched off.
pub(super) fn leaves_a_cpu(
    case: &Case,
    conditions: &Conditions,
    placement: &Placement,
) -> anyhow::Result<()> {
    let host = conditions.host;
    let is_limited = |throttling: Throttling| throttling.pause_us().is_some();
    let sleeps = case.is_rr() && case.wait != Some(Wait::Spin);
    let is_here = conditions.remote.is_none() && !host.rt_throttling.is_none_or(is_limited);
    if !is_real_time(case) || sleeps || !is_here {
        return Ok(());
    }
    let cpus = host.online_cpus.unwrap_or(host.cpus.len());
    let pinned: BTreeSet<usize> = placement.cpus().flatten().collect();
    let loose = placement.cpus().filter(Option::is_none).count();
    ensure!(
        pinned.len() + loose < cpus,
        "real-time threads on all CPUs without RT throttling stop the machine: use fewer --threads, or sudo sysctl -w \
         kernel.sched_rt_runtime_us=950000"
    );
    Ok(())
}

fn is_real_time(case: &Case) -> bool {
    case.sched.and_then(Sched::priority).is_some()
}

/// Checks that real-time threads of a case let the others run. The error is the reason why not.
///
/// All have the same priority, so one that never sleeps keeps its CPU (SCHED_FIFO), or leaves it to the next one after
/// 100 ms (SCHED_RR), which is longer than most windows. The trial would never end, or measure these turns.
pub(super) fn starves_nobody(
    case: &Case,
    engines: Engines,
    conditions: &Conditions,
    placement: &Placement,
) -> anyhow::Result<()> {
    if !is_real_time(case) {
        return Ok(());
    }
    let (senders, receivers) = threads(case, engines, placement);
    let host = conditions.host;
    let remote = conditions.remote.map(|remote| remote.wire);
    match remote.filter(|wire| !wire.is_one_machine(case)) {
        None => share_no_cpu(&[senders, receivers].concat(), host),
        Some(wire) => {
            let (from, to) = by_half(case, host, &wire.host);
            share_no_cpu(&senders, from)?;
            share_no_cpu(&receivers, to)
        }
    }
}

/// A bench thread: its CPU, and whether it never sleeps.
#[derive(Clone, Copy)]
struct Thread {
    cpu: Option<usize>,
    is_busy: bool,
}

/// Returns the threads on the CPUs of the senders, and those on the CPUs of the receivers. Workers take turns by
/// themselves, and are left out.
fn threads(
    case: &Case,
    (sender, receiver): Engines,
    placement: &Placement,
) -> (Vec<Thread>, Vec<Thread>) {
    let spins = |entry: &Entry| {
        entry.about.always_spins || case.wait == Some(Wait::Spin) && entry.about.can_spin
    };
    let sends_busily = if case.is_rr() {
        spins(sender)
    } else {
        !case.is_paced()
    };
    let all = |cpus: &[Option<usize>], entry: &Entry, is_busy| -> Vec<Thread> {
        let own = cpus.iter().filter(|_| !entry.runs_on_workers(case));
        own.map(|&cpu| Thread { cpu, is_busy }).collect()
    };
    let mut senders = all(&placement.senders, sender, sends_busily);
    let mut receivers = all(&placement.receivers, receiver, spins(receiver));
    if case.is_full_duplex() {
        senders.extend(all(&placement.senders, receiver, spins(receiver)));
        receivers.extend(all(&placement.receivers, sender, sends_busily));
    } else if case.is_open_loop() {
        // Threads that collect the responses.
        senders.extend(all(&placement.senders, sender, false));
    }
    (senders, receivers)
}

/// Checks that no thread of a host that never sleeps shares its CPU with others.
fn share_no_cpu(threads: &[Thread], host: &Host) -> anyhow::Result<()> {
    /// CPUs on which all of these threads run: one for each that never sleeps, and one for all others.
    fn needed<'a>(threads: impl Iterator<Item = &'a Thread>) -> usize {
        let (busy, others): (Vec<&Thread>, _) = threads.partition(|thread| thread.is_busy);
        let others: Vec<&Thread> = others;
        if busy.is_empty() {
            0
        } else {
            busy.len() + usize::from(!others.is_empty())
        }
    }
    let pinned: BTreeSet<usize> = threads.iter().filter_map(|thread| thread.cpu).collect();
    let on = |cpu| threads.iter().filter(move |thread| thread.cpu == cpu);
    if let Some(cpu) = pinned.iter().find(|&&cpu| needed(on(Some(cpu))) > 1) {
        bail!(
            "real-time threads that never sleep would keep others off CPU {cpu}: give each thread a CPU (--pin), or \
             leave out --sched"
        );
    }
    let cpus = host.cpus.len();
    ensure!(
        cpus == 0 || needed(on(None)) <= cpus.saturating_sub(pinned.len()),
        "real-time threads that never sleep would keep others off the {cpus} CPUs: use fewer --threads, or leave out \
         --sched"
    );
    Ok(())
}

/// Returns a warning about real-time threads that never sleep: throttling stops them.
pub(super) fn warning(case: &Case, conditions: &Conditions) -> Option<PlanWarning> {
    case.sched.and_then(Sched::priority)?;
    let throttling = conditions.host.rt_throttling?;
    let never_sleeps = !case.is_rr() || case.wait == Some(Wait::Spin);
    let pause_us = throttling.pause_us().filter(|_| never_sleeps)?;
    let [pause_ms, period_ms] = [pause_us, throttling.period_us].map(|us| us / 1000);
    Some(match throttling.spares_lone_threads {
        Some(false) => PlanWarning::RtThrottled {
            pause_ms,
            period_ms,
        },
        Some(true) => PlanWarning::RtYields {
            pause_ms,
            period_ms,
        },
        None => PlanWarning::RtUnknown {
            pause_ms,
            period_ms,
        },
    })
}
