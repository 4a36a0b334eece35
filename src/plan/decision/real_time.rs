//! Real-time threads: cases that would stop the machine, and what throttling does to the others.

use std::collections::BTreeSet;

use crate::data::{Case, Sched, Wait};
use crate::host::placement::Placement;
use crate::plan::Conditions;
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

/// Returns a warning about real-time threads that never sleep: throttling stops them.
pub(super) fn warning(case: &Case, conditions: &Conditions) -> Option<String> {
    case.sched.and_then(Sched::priority)?;
    let throttling = conditions.host.rt_throttling?;
    let never_sleeps = !case.is_rr() || case.wait == Some(Wait::Spin);
    let pause_us = throttling.pause_us().filter(|_| never_sleeps)?;
    Some(format!(
        "RT throttling stops threads that never sleep for {} of each {} ms (kernel.sched_rt_runtime_us)",
        pause_us / 1000,
        throttling.period_us / 1000
    ))
}
