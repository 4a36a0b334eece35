//! Real-time threads: cases that would stop the machine, and what throttling does to the others.

use std::collections::BTreeSet;

use crate::data::{Case, Sched, Wait};
use crate::engines::{Engines, Entry};
use crate::host::facts::Host;
use crate::host::placement::Placement;
use crate::plan::{Conditions, PlanWarning};
use crate::sys::real_time::Throttling;

/// Returns why real-time threads of a case would leave no CPU to the rest of the machine, if they would.
///
/// The coordinator thread has a higher priority and ends each trial. But the kernel's own threads, and whoever wants to
/// log in, would wait for all of a window. RT throttling leaves them 5 % of each second; it may be switched off.
pub(super) fn refusal(
    case: &Case,
    conditions: &Conditions,
    placement: &Placement,
) -> Option<String> {
    case.sched.and_then(Sched::priority)?;
    let host = conditions.host;
    let is_limited = |throttling: Throttling| throttling.pause_us().is_some();
    let sleeps = case.is_rr() && case.wait != Some(Wait::Spin);
    if sleeps || conditions.remote.is_some() || host.rt_throttling.is_none_or(is_limited) {
        return None;
    }
    let cpus = host.online_cpus.unwrap_or(host.cpus.len());
    let pinned: BTreeSet<usize> = placement.cpus().flatten().collect();
    let loose = placement.cpus().filter(Option::is_none).count();
    (pinned.len() + loose >= cpus).then(|| {
        "real-time threads on all CPUs without RT throttling stop the machine: use fewer --threads, or \
         sudo sysctl -w kernel.sched_rt_runtime_us=950000"
            .to_owned()
    })
}

/// Returns why real-time threads of a case would never let another one run, if they would not.
///
/// All have the same priority, so one that never sleeps keeps its CPU (SCHED_FIFO), or leaves it to the next one after
/// 100 ms (SCHED_RR), which is longer than most windows. The trial would never end, or measure these turns.
pub(super) fn starvation(
    case: &Case,
    engines: Engines,
    conditions: &Conditions,
    placement: &Placement,
) -> Option<String> {
    case.sched.and_then(Sched::priority)?;
    let (senders, receivers) = threads(case, engines, placement);
    let Some(remote) = &conditions.remote else {
        return shared_cpu(&[senders, receivers].concat(), conditions.host);
    };
    if remote.wire.is_one_machine(case) {
        return shared_cpu(&[senders, receivers].concat(), conditions.host);
    }
    let (local, remote) = (conditions.host, &remote.wire.host);
    let (from, to) = if case.remote_sends() {
        (remote, local)
    } else {
        (local, remote)
    };
    shared_cpu(&senders, from).or_else(|| shared_cpu(&receivers, to))
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

/// Returns which CPUs of a host have a thread that never sleeps beside others.
fn shared_cpu(threads: &[Thread], host: &Host) -> Option<String> {
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
        return Some(format!(
            "real-time threads that never sleep would keep others off CPU {cpu}: give each thread a CPU (--pin), or \
             leave out --sched"
        ));
    }
    let cpus = host.cpus.len();
    (cpus > 0 && needed(on(None)) > cpus.saturating_sub(pinned.len())).then(|| {
        format!(
            "real-time threads that never sleep would keep others off the {cpus} CPUs: use fewer --threads, or \
             leave out --sched"
        )
    })
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
