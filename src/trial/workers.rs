//! The worker threads of `--tokio-workers`: they run lanes of both sides.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use anyhow::Context;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::{Pid, gettid};

use super::spec::Part;
use crate::data::Case;
use crate::engine::{Meter, Pool, PoolBrief, Remark};
use crate::engines::{Engines, Entry};
use crate::host::placement::Placement;

/// Threads that have started.
pub(super) struct Workers {
    /// What they run.
    pub(super) pool: Pool,
    /// One for each, with its thread id.
    pub(super) meters: Vec<Arc<Meter>>,
    /// What the row should say about them.
    pub(super) remark: Remark,
}

/// Starts those that `case` asks for.
///
/// Each may run on any of the CPUs that the lanes which they run would have had, as the runtime moves lanes
/// from worker to worker: a CPU for each worker would be a CPU for no lane in particular, and with fewer
/// workers than CPUs, some would be left out.
///
/// # Errors
/// When the engine cannot start them.
pub(super) fn start(
    case: &Case,
    (sender, receiver): Engines,
    part: Part,
    placement: &Placement,
) -> anyhow::Result<Option<Workers>> {
    let sides = [(sender, part.sends()), (receiver, part.receives())];
    let mut here = sides.into_iter().filter(|(_, runs_here)| *runs_here);
    let served = here.find(|(entry, _)| entry.runs_on_workers(case));
    let served = served.map(|(entry, _)| entry);
    let Some((count, entry)) = case.tokio_workers.zip(served) else {
        return Ok(None);
    };
    let meters: Vec<Arc<Meter>> = (0..count.count()).map(|_| Arc::default()).collect();
    let (arrive, arrivals) = mpsc::channel();
    let cpus = cpus(case, (sender, receiver), placement);
    let at_start = {
        let (next, meters) = (AtomicUsize::new(0), meters.clone());
        move || {
            let Some(meter) = meters.get(next.fetch_add(1, Ordering::Relaxed)) else {
                return;
            };
            let pinned =
                cpus.is_some_and(|cpus| sched_setaffinity(Pid::from_raw(0), &cpus).is_ok());
            meter.pinned.store(pinned, Ordering::Relaxed);
            meter.tid.store(gettid().as_raw(), Ordering::Relaxed);
            // The receiver is gone only if a worker could not be started.
            let _ = arrive.send(());
        }
    };
    let brief = PoolBrief {
        workers: count.count(),
        at_start: Arc::new(at_start),
    };
    let pool = (entry.pool)(brief)
        .with_context(|| format!("cannot start the {count} workers that {entry} shares"))?;
    // They start one by one, and all need a clock when the window opens.
    for _ in &meters {
        arrivals.recv().context("a worker did not start")?;
    }
    let placed = |meter: &Arc<Meter>| meter.pinned.load(Ordering::Relaxed);
    let is_astray = cpus.is_some() && !meters.iter().all(placed);
    Ok(Some(Workers {
        pool,
        meters,
        remark: is_astray.then_some("a worker could not be pinned"),
    }))
}

/// The CPUs of the lanes that workers run. `None`: they are not pinned.
fn cpus(case: &Case, (sender, receiver): Engines, placement: &Placement) -> Option<CpuSet> {
    let run_by_workers = |entry: &Entry, cpus| {
        if entry.runs_on_workers(case) {
            cpus
        } else {
            &[][..]
        }
    };
    let senders = run_by_workers(sender, &placement.senders[..]);
    let receivers = run_by_workers(receiver, &placement.receivers[..]);
    let mut set = CpuSet::new();
    for cpu in senders.iter().chain(receivers) {
        set.set((*cpu)?).ok()?;
    }
    Some(set)
}
