//! How fast a CPU really runs, by timing a fixed piece of work on it.
//!
//! `scaling_cur_freq` is only what was asked for where the firmware has the last word: on a Raspberry Pi it
//! shows no throttling (raspberrypi/documentation `config_txt/overclocking.adoc`, raspberrypi/linux #2986).
//! A chain of dependent operations takes the same number of cycles each time, so its duration is the
//! clock's period times a constant, and two durations on one CPU compare its clock with itself.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use nix::sched::sched_getcpu;
use serde::{Deserialize, Serialize};

/// How long a CPU takes for the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuSpeed {
    /// Linux's number of the CPU.
    pub cpu: usize,
    /// The shortest of several tries, in nanoseconds: what interrupts a try only makes it longer.
    pub chain_ns: u64,
}

/// About 10 us at 2 GHz: long against the resolution of the slowest board's clock (52 ns at 19.2 MHz),
/// short against a time slice.
const ROUNDS: u32 = 4096;
const TRIES: u32 = 8;
/// A governor that looks every 10 ms has brought an idle CPU to its highest clock by then.
const COMING_UP: Duration = Duration::from_millis(60);

/// The pace of the CPU that this thread is on. `None`: it was moved meanwhile, or cannot know.
pub fn here() -> Option<CpuSpeed> {
    let cpu = sched_getcpu().ok()?;
    // 0: the clock is too coarse to tell.
    let chain_ns = (0..TRIES).map(|_| chain_ns()).min().filter(|&ns| ns > 0)?;
    (sched_getcpu() == Ok(cpu)).then_some(CpuSpeed { cpu, chain_ns })
}

/// The paces of these CPUs, all busy at once as they will be in a case, after the governor has had time
/// to bring them up. A CPU that cannot be pinned to has none, nor has one without a thread for it.
pub fn of_all(cpus: &[usize]) -> Vec<CpuSpeed> {
    let measure = |id| {
        move || {
            let pinned = core_affinity::set_for_current(core_affinity::CoreId { id });
            pinned.then(best_while_coming_up)?
        }
    };
    thread::scope(|scope| {
        let start = |&id| thread::Builder::new().spawn_scoped(scope, measure(id)).ok();
        let threads: Vec<_> = cpus.iter().filter_map(start).collect();
        let paces = threads.into_iter().map(|thread| thread.join().ok()?);
        paces.flatten().collect()
    })
}

/// The shortest of all readings: whatever else runs on the CPU makes one longer.
fn best_while_coming_up() -> Option<CpuSpeed> {
    let start = Instant::now();
    let mut best = here();
    while start.elapsed() < COMING_UP {
        best = best
            .into_iter()
            .chain(here())
            .min_by_key(|pace| pace.chain_ns);
    }
    best
}

/// Marsaglia's xorshift: each operation needs the one before, no operand makes it quicker, and no compiler
/// knows a shorter way to its end.
fn chain_ns() -> u64 {
    let mut state = black_box(0x2545_F491_u32);
    let start = Instant::now();
    for _ in 0..ROUNDS {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
    }
    black_box(state);
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cpu_that_can_be_used_has_a_pace_of_its_own() {
        let cpus = core_affinity::get_core_ids().expect("Linux tells");
        let cpus: Vec<usize> = cpus.into_iter().map(|cpu| cpu.id).collect();
        let paces = of_all(&cpus);
        assert_eq!(paces.iter().map(|pace| pace.cpu).collect::<Vec<_>>(), cpus);
        // No CPU does three dependent operations in less than half a nanosecond.
        assert!(
            paces
                .iter()
                .all(|pace| pace.chain_ns > u64::from(ROUNDS) / 2)
        );
    }

    #[test]
    fn a_cpu_that_is_not_there_has_none() {
        assert_eq!(of_all(&[1023]), []);
        assert_eq!(of_all(&[]), []);
    }
}
