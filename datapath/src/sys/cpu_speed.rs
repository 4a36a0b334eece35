//! Measures how fast a CPU really runs, by timing a fixed piece of work on it.
//!
//! If the firmware has the last word, `scaling_cur_freq` is only the requested clock: on a Raspberry Pi it shows no
//! throttling (raspberrypi/documentation `config_txt/overclocking.adoc`, raspberrypi/linux #2986). A chain of dependent
//! operations takes the same number of cycles each time. Its duration is the period of the clock times a constant, so
//! two durations on one CPU compare its clock with itself.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use nix::sched::sched_getcpu;
use serde::{Deserialize, Serialize};

/// Time that a CPU takes for the chain of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuSpeed {
    /// Number of the CPU in Linux.
    pub cpu: usize,
    /// Shortest of several tries, in nanoseconds: interruptions only make a try longer.
    pub chain_ns: u64,
}

/// Length of the chain: about 10 us at 2 GHz. That is long against the resolution of the slowest board's clock (52 ns
/// at 19.2 MHz), and short against a time slice.
const ROUNDS: u32 = 4096;
const TRIES: u32 = 8;
/// Time for clocks to rise: a governor that samples every 10 ms has raised an idle CPU to its highest clock by then.
const COMING_UP: Duration = Duration::from_millis(60);

/// Returns the speed of the CPU that this thread runs on. `None`: the thread was moved to another CPU meanwhile, or
/// cannot know its CPU.
pub fn current() -> Option<CpuSpeed> {
    let cpu = sched_getcpu().ok()?;
    // 0 means that the clock is too coarse.
    let chain_ns = (0..TRIES).map(|_| chain_ns()).min().filter(|&ns| ns > 0)?;
    (sched_getcpu() == Ok(cpu)).then_some(CpuSpeed { cpu, chain_ns })
}

/// Returns the speeds of these CPUs, all busy at the same time, as in a case. The governor gets time to raise the
/// clocks. A CPU is left out if no thread can be started for it or pinned to it.
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

/// Returns the shortest of all readings while the clock rises: anything else that runs on the CPU makes a reading
/// longer.
fn best_while_coming_up() -> Option<CpuSpeed> {
    let start = Instant::now();
    let mut best = current();
    while start.elapsed() < COMING_UP {
        best = best
            .into_iter()
            .chain(current())
            .min_by_key(|pace| pace.chain_ns);
    }
    best
}

/// Returns the duration of one chain, in nanoseconds. It is Marsaglia's xorshift: each operation needs the result of
/// the previous one, no operand makes it faster, and no compiler knows a shortcut.
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
