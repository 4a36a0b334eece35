//! Real-time threads: cases that would stop the machine, and what throttling does to the others.

use std::collections::BTreeSet;

use anyhow::{bail, ensure};

use super::Question;
use crate::data::{Sched, Wait};
use crate::engines::Entry;
use crate::host::facts::Host;
use crate::host::placement::Placement;
use crate::plan::PlanWarning;
use crate::sys::scheduling::Throttling;

/// A bench thread: its CPU, and whether it never sleeps.
#[derive(Clone, Copy)]
struct PlacedThread {
    cpu: Option<usize>,
    is_busy: bool,
}

impl Question<'_> {
    fn is_real_time(&self) -> bool {
        self.case.sched.and_then(Sched::priority).is_some()
    }

    fn never_sleeps(&self) -> bool {
        !self.case.is_rr() || self.case.wait == Some(Wait::Spin)
    }

    /// Checks that real-time threads leave a CPU to the rest of the machine.
    ///
    /// The coordinator thread has a higher priority and ends each trial. But the kernel's own threads, and whoever
    /// wants to log in, would wait for all of a window. RT throttling leaves them 5 % of each second; it may be
    /// switched off.
    pub(super) fn leaves_a_cpu(&self, placement: &Placement) -> anyhow::Result<()> {
        let host = self.conditions.host;
        let is_limited = |throttling: Throttling| throttling.pause_us().is_some();
        let is_here =
            self.conditions.remote.is_none() && !host.rt_throttling.is_none_or(is_limited);
        let cpus = host.online_cpus.unwrap_or(host.cpus.len());
        let pinned: BTreeSet<usize> = placement.cpus().flatten().collect();
        let loose = placement.cpus().filter(Option::is_none).count();
        let takes_all = pinned.len() + loose >= cpus;
        ensure!(
            !(takes_all && is_here && self.is_real_time() && self.never_sleeps()),
            "real-time threads on all CPUs without RT throttling stop the machine: use fewer --threads, or sudo sysctl -w \
             kernel.sched_rt_runtime_us=950000"
        );
        Ok(())
    }

    /// Checks that real-time threads let the others run.
    ///
    /// All have the same priority, so one that never sleeps keeps its CPU (SCHED_FIFO), or leaves it to the next one
    /// after 100 ms (SCHED_RR), which is longer than most windows. The trial would never end, or measure these turns.
    pub(super) fn starves_nobody(&self, placement: &Placement) -> anyhow::Result<()> {
        if !self.is_real_time() {
            return Ok(());
        }
        let (senders, receivers) = self.threads(placement);
        if self.is_one_machine() {
            return share_no_cpu(&[senders, receivers].concat(), self.conditions.host);
        }
        share_no_cpu(&senders, self.senders.host)?;
        share_no_cpu(&receivers, self.receivers.host)
    }

    /// Returns the threads on the CPUs of the senders, and those on the CPUs of the receivers. Workers take turns by
    /// themselves, and are left out.
    fn threads(&self, placement: &Placement) -> (Vec<PlacedThread>, Vec<PlacedThread>) {
        let (case, sender, receiver) = (self.case, self.sender, self.receiver);
        let spins = |entry: &Entry| {
            entry.about.always_spins || case.wait == Some(Wait::Spin) && entry.about.can_spin
        };
        let sends_busily = if case.is_rr() {
            spins(sender)
        } else {
            !case.is_paced()
        };
        let all = |cpus: &[Option<usize>], entry: &Entry, is_busy| -> Vec<PlacedThread> {
            let own = cpus.iter().filter(|_| !entry.runs_on_workers(case));
            own.map(|&cpu| PlacedThread { cpu, is_busy }).collect()
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

    /// Returns a warning about real-time threads that never sleep: throttling stops them.
    pub(super) fn throttled(&self) -> Option<PlanWarning> {
        let is_asked = self.is_real_time() && self.never_sleeps();
        let throttling = self.conditions.host.rt_throttling.filter(|_| is_asked)?;
        let [pause_ms, period_ms] =
            [throttling.pause_us()?, throttling.period_us].map(|us| us / 1000);
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
}

/// Checks that no thread of a host that never sleeps shares its CPU with others.
fn share_no_cpu(threads: &[PlacedThread], host: &Host) -> anyhow::Result<()> {
    // CPUs that the threads on this one need: one for each that never sleeps, and one for all others.
    let needed = |cpu: Option<usize>| {
        let on = || threads.iter().filter(|thread| thread.cpu == cpu);
        let busy = on().filter(|thread| thread.is_busy).count();
        let others = usize::from(on().any(|thread| !thread.is_busy));
        if busy == 0 { 0 } else { busy + others }
    };
    let pinned: BTreeSet<usize> = threads.iter().filter_map(|thread| thread.cpu).collect();
    if let Some(cpu) = pinned.iter().find(|&&cpu| needed(Some(cpu)) > 1) {
        bail!(
            "real-time threads that never sleep would keep others off CPU {cpu}: give each thread a CPU (--pin), or \
             leave out --sched"
        );
    }
    let cpus = host.cpus.len();
    ensure!(
        cpus == 0 || needed(None) <= cpus.saturating_sub(pinned.len()),
        "real-time threads that never sleep would keep others off the {cpus} CPUs: use fewer --threads, or leave out \
         --sched"
    );
    Ok(())
}
