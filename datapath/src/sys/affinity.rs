//! CPUs that a thread may be pinned to (sched_setaffinity(2)).

use std::thread;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// Returns the CPUs of `cpus` that the kernel accepts for a thread of this process: all but offline CPUs and CPUs
/// outside of its cpuset. The affinity mask of the process is no limit.
///
/// Tries each CPU on a thread that ends afterwards, so the mask of the caller does not change.
pub fn accepted(cpus: &[usize]) -> Vec<usize> {
    if cpus.is_empty() {
        return Vec::new();
    }
    thread::scope(|scope| {
        let tried = thread::Builder::new().spawn_scoped(scope, || {
            let mut accepted = cpus.to_vec();
            accepted.retain(|cpu| pin_to(*cpu).is_ok());
            accepted
        });
        // If the thread cannot start or panics, no CPU is known to be accepted.
        tried
            .ok()
            .and_then(|thread| thread.join().ok())
            .unwrap_or_default()
    })
}

/// Returns the online CPUs in the affinity mask of this process. `None`: the kernel has more CPUs than a mask of libc.
pub fn own() -> Option<Vec<usize>> {
    let mask = sched_getaffinity(Pid::this()).ok()?;
    let cpus: Vec<usize> = (0..CpuSet::count())
        .filter(|&cpu| mask.is_set(cpu).unwrap_or(false))
        .collect();
    (!cpus.is_empty()).then_some(cpus)
}

/// Pins the calling thread to one CPU.
fn pin_to(cpu: usize) -> nix::Result<()> {
    let mut cpus = CpuSet::new();
    cpus.set(cpu)?;
    sched_setaffinity(Pid::from_raw(0), &cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_outside_of_the_mask_is_accepted_and_one_that_is_not_there_refused() {
        let own = || sched_getaffinity(Pid::from_raw(0)).expect("may be asked");
        let before = own();
        let usable = |cpu: &usize| before.is_set(*cpu).unwrap_or(false);
        let all: Vec<usize> = (0..CpuSet::count()).filter(usable).collect();
        // Narrows the mask like `taskset`.
        pin_to(all[0]).expect("it is in the mask");
        let masked = own();
        let found = accepted(
            &[
                all.as_slice(),
                &[CpuSet::count() - 1, CpuSet::count(), usize::MAX],
            ]
            .concat(),
        );
        assert!(own() == masked, "the caller's own mask is as it was");
        assert!(
            all.iter().all(|cpu| found.contains(cpu)),
            "{found:?} of {all:?}"
        );
        assert!(
            found.iter().all(|cpu| *cpu < CpuSet::count() - 1),
            "{found:?}"
        );
    }
}
