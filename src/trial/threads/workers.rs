//! The worker threads of `--tokio-workers`, which run bench threads of both sides as tasks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use anyhow::Context;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::{Pid, gettid};

use crate::data::{Case, Sched, Side};
use crate::engine::{Meter, Pool, PoolArgs};
use crate::engines::Engines;
use crate::host::placement::Placement;
use crate::trial::messages::spec::EndRole;
use crate::trial::threads::bench_thread::{self, BenchThread};

/// Time that a worker has to start.
const START_TIME: Duration = Duration::from_secs(10);

/// Starts the workers that `case` asks for, if any, and returns the runtime that they run.
///
/// Each worker may run on all the CPUs that its tasks would have as bench threads, since the runtime moves tasks from
/// worker to worker. With one CPU for each worker, no task would have a CPU of its own, and with fewer workers than
/// CPUs, some CPUs would be left out.
///
/// # Errors
/// Fails if the engine cannot start the workers.
pub(crate) fn start(
    case: &Case,
    (sender, receiver): Engines,
    part: EndRole,
    placement: &Placement,
) -> anyhow::Result<(Option<Pool>, Vec<BenchThread>)> {
    let sides = [(sender, part.sends()), (receiver, part.receives())];
    let mut sides = sides.into_iter();
    let served = sides.find(|(entry, runs_here)| *runs_here && entry.runs_on_workers(case));
    let Some((count, (entry, _))) = case.tokio_workers.zip(served) else {
        return Ok((None, Vec::new()));
    };
    let meters: Vec<Arc<Meter>> = (0..count.count()).map(|_| Arc::default()).collect();
    let (arrive, arrivals) = mpsc::channel();
    let cpus = cpus(case, (sender, receiver), placement);
    let class = case.sched.map(Sched::class);
    let at_start = {
        let (next, meters) = (AtomicUsize::new(0), meters.clone());
        move || {
            let Some(meter) = meters.get(next.fetch_add(1, Ordering::Relaxed)) else {
                return;
            };
            let pinned =
                cpus.is_some_and(|cpus| sched_setaffinity(Pid::from_raw(0), &cpus).is_ok());
            meter.pinned.store(pinned, Ordering::Relaxed);
            // The plan has checked that it is permitted.
            let _ = class.map(|(class, priority)| bench_thread::set_class(class, priority));
            meter.tid.store(gettid().as_raw(), Ordering::Relaxed);
            // Sending fails only if the receiver is gone because a worker could not be started.
            let _ = arrive.send(());
        }
    };
    let brief = PoolArgs {
        workers: count.count(),
        at_start: Arc::new(at_start),
    };
    let pool = (entry.pool)(brief)
        .with_context(|| format!("cannot start the {count} workers that {entry} shares"))?;
    // Workers start one by one, and all of them need a CPU clock when the window opens. If the system refuses a further
    // thread (EAGAIN), tokio goes on with fewer, without an error.
    for _ in &meters {
        let arrived = arrivals.recv_timeout(START_TIME);
        arrived
            .context("a worker did not start: the limit of threads may be reached (ulimit -u)")?;
    }
    let placed = |meter: &Arc<Meter>| meter.pinned.load(Ordering::Relaxed);
    let is_astray = cpus.is_some() && !meters.iter().all(placed);
    let as_thread = |meter| BenchThread {
        side: Side::Worker,
        meter,
        remark: is_astray.then_some("a worker could not be pinned"),
        ..BenchThread::default()
    };
    let workers = meters.into_iter().map(as_thread).collect();
    Ok((Some(pool), workers))
}

/// Returns the CPUs of the bench threads that workers run as tasks. `None`: they are not pinned.
fn cpus(case: &Case, (sender, receiver): Engines, placement: &Placement) -> Option<CpuSet> {
    let sides = [
        (sender, &placement.senders),
        (receiver, &placement.receivers),
    ];
    let mut set = CpuSet::new();
    for (entry, cpus) in sides {
        for cpu in cpus.iter().filter(|_| entry.runs_on_workers(case)) {
            set.set((*cpu)?).ok()?;
        }
    }
    Some(set)
}
