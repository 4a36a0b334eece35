//! Receivers that take the packets of their CPUs (`--spread cpu`).

use anyhow::ensure;

use super::permitted;
use crate::data::{Case, Sharing, Spread};
use crate::engines::Engines;
use crate::host::placement::Placement;
use crate::plan::{Conditions, PlanWarning};

fn is_asked(case: &Case) -> bool {
    case.sharing == Some(Sharing::Reuseport(Spread::Cpu))
}

/// Checks that receivers can take the packets of their CPUs, if they are to. The error is the reason why not.
pub(super) fn can_prefer(
    case: &Case,
    (_, receiver): Engines,
    conditions: &Conditions,
    placement: &Placement,
) -> anyhow::Result<()> {
    if !is_asked(case) {
        return Ok(());
    }
    let remote = conditions.remote.filter(|_| !case.remote_sends());
    let host = remote.map_or(conditions.host, |remote| &remote.wire.host);
    permitted(host.incoming_cpu_refusal.as_ref())?;
    ensure!(
        !receiver.runs_on_workers(case),
        "--spread cpu needs receivers on CPUs: leave out --tokio-workers"
    );
    ensure!(
        !placement.receivers.contains(&None),
        "--spread cpu needs receivers on CPUs: leave out --pin none, or name one for each thread"
    );
    Ok(())
}

/// Returns what may mislead about such a case.
pub(super) fn warning(
    case: &Case,
    conditions: &Conditions,
    placement: &Placement,
) -> Option<PlanWarning> {
    if !is_asked(case) {
        return None;
    }
    let is_on_a_sender = |cpu| placement.senders.contains(cpu);
    let handles_its_own = placement.receivers.iter().any(is_on_a_sender);
    let has_rps = |cpus: &Vec<usize>| !cpus.is_empty();
    let rps = conditions.host.lo_rps_cpus.as_ref().is_some_and(has_rps);
    Some(if conditions.remote.is_none() && !handles_its_own && !rps {
        PlanWarning::NoReceiverOnCpu
    } else {
        PlanWarning::FlowsByCpu
    })
}
