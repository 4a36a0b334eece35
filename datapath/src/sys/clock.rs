//! Clocks and sleeps, and the CPU time, context switches and state of a thread, read from another thread.

use std::fs;
use std::path::Path;
use std::time::Duration;

use libc::clockid_t;
use nix::sys::prctl::set_timerslack;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};
use serde::{Deserialize, Serialize};

/// Returns the CPU time that a thread has used so far, in nanoseconds. `None`: the thread has ended.
///
/// Costs 0.2 to 0.5 us, so it is read at the edges of windows only.
pub fn thread_cpu_ns(tid: i32) -> Option<u64> {
    // CPUCLOCK_PERTHREAD | CPUCLOCK_SCHED in the three low bits, the complement of the id above them: the kernel's
    // encoding (include/linux/posix-timers_types.h). pthread_getcpuclockid(3) of glibc and of musl computes the same.
    // This way no pthread handle is needed.
    read(ClockId::from_raw((!(tid as clockid_t) << 3) | 6))
}

/// Returns the time since some moment in the past, in nanoseconds (CLOCK_MONOTONIC). Needs no system call if the vDSO
/// can read the clock.
#[inline]
pub fn monotonic_ns() -> u64 {
    read(ClockId::CLOCK_MONOTONIC).unwrap_or_default()
}

/// Returns the same time with that in which this machine was suspended, in nanoseconds (CLOCK_BOOTTIME).
pub fn boot_ns() -> u64 {
    read(ClockId::CLOCK_BOOTTIME).unwrap_or_default()
}

/// Returns the time since 1970, in nanoseconds (CLOCK_REALTIME). The kernel stamps datagrams with this clock.
pub fn realtime_ns() -> u64 {
    read(ClockId::CLOCK_REALTIME).unwrap_or_default()
}

/// Returns [`monotonic_ns`] and [`realtime_ns`] at the same moment: a thread may be put off between two readings, so of
/// a few attempts, the quickest counts.
pub fn monotonic_and_realtime_ns() -> (u64, u64) {
    /// Time in which a thread that keeps its CPU reads both.
    const QUICK_NS: u64 = 2000;
    const ATTEMPTS: usize = 4;
    let mut best = (u64::MAX, 0, 0);
    for _ in 0..ATTEMPTS {
        let (before, realtime) = (monotonic_ns(), realtime_ns());
        best = best.min((monotonic_ns() - before, before, realtime));
        if best.0 <= QUICK_NS {
            break;
        }
    }
    (best.1, best.2)
}

/// Sleeps until [`monotonic_ns`] is `ns`. Returns `false` if a signal came before.
pub fn sleep_until(ns: u64) -> bool {
    if monotonic_ns() >= ns {
        return true;
    }
    let until = TimeSpec::from_duration(Duration::from_nanos(ns));
    let flags = ClockNanosleepFlags::TIMER_ABSTIME;
    clock_nanosleep(ClockId::CLOCK_MONOTONIC, flags, &until).is_ok()
}

/// Sleeps until [`monotonic_ns`] is `ns`, but for 50 ms at most, so that a stop is noticed soon. Returns whether `ns`
/// is reached.
pub fn sleep_towards(ns: u64) -> bool {
    const LOOK_NS: u64 = 50_000_000;
    let until = ns.min(monotonic_ns() + LOOK_NS);
    sleep_until(until) && until == ns
}

/// Sets the timer slack of the calling thread to 1 ns. By default the kernel may wake it up to 50 us late, to save
/// wake-ups (PR_SET_TIMERSLACK, prctl(2)).
pub fn minimise_timer_slack() {
    // A kernel without it costs accuracy, which shows in the results.
    let _ = set_timerslack(1);
}

/// Returns the CPU time that all threads of this process have used so far, in nanoseconds. Includes threads that have
/// ended, and threads that the kernel starts for io_uring.
pub fn process_cpu_ns() -> Option<u64> {
    read(ClockId::CLOCK_PROCESS_CPUTIME_ID)
}

/// Returns the CPU time that the calling thread has used so far, in nanoseconds.
pub fn own_cpu_ns() -> Option<u64> {
    read(ClockId::CLOCK_THREAD_CPUTIME_ID)
}

/// Returns the CPU time that all threads of a process have used so far, in nanoseconds. `None`: there is no such
/// process, or it is not this user's.
pub fn cpu_ns_of_process(pid: i32) -> Option<u64> {
    // As in `thread_cpu_ns`, without CPUCLOCK_PERTHREAD.
    read(ClockId::from_raw((!(pid as clockid_t) << 3) | 2))
}

fn read(clock: ClockId) -> Option<u64> {
    let time = clock_gettime(clock).ok()?;
    let seconds = u64::try_from(time.tv_sec()).ok()?;
    let nanoseconds = u64::try_from(time.tv_nsec()).ok()?;
    Some(seconds * 1_000_000_000 + nanoseconds)
}

/// Context switches of a thread: how often it left its CPU so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switches {
    /// Switches because the thread waited for something.
    pub voluntary: u64,
    /// Switches because the thread was preempted.
    pub involuntary: u64,
}

/// Returns the context switches of a thread of this process so far (proc(5), `/proc/self/task/TID/status`).
pub fn thread_switches(tid: i32) -> Option<Switches> {
    let status = fs::read_to_string(format!("/proc/self/task/{tid}/status")).ok()?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim_start_matches(':').trim().parse().ok()
    };
    Some(Switches {
        voluntary: field("voluntary_ctxt_switches")?,
        involuntary: field("nonvoluntary_ctxt_switches")?,
    })
}

/// Returns whether all threads of a process wait: see [`thread_is_asleep`].
pub fn process_is_asleep(pid: i32) -> Option<bool> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
    let mut states = tasks.filter_map(|task| is_asleep(&task.path().join("stat")));
    Some(states.all(|asleep| asleep))
}

/// Returns whether a thread of this process waits for something other than a CPU (proc(5), `/proc/self/task/TID/stat`,
/// field `state`). `None`: the thread has ended.
pub fn thread_is_asleep(tid: i32) -> Option<bool> {
    is_asleep(format!("/proc/self/task/{tid}/stat").as_ref())
}

fn is_asleep(stat: &Path) -> Option<bool> {
    let stat = fs::read_to_string(stat).ok()?;
    // The name before the state may contain any character, even parentheses.
    let (_, after_name) = stat.rsplit_once(')')?;
    Some(!after_name.trim_start().starts_with('R'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_clocks_are_read_at_one_moment() {
        let before = (monotonic_ns(), realtime_ns());
        let (monotonic, realtime) = monotonic_and_realtime_ns();
        assert!((before.0..=monotonic_ns()).contains(&monotonic));
        assert!(realtime >= before.1);
    }

    #[test]
    fn the_clock_of_this_thread_runs_while_it_works() {
        let tid = nix::unistd::gettid().as_raw();
        let before = thread_cpu_ns(tid).expect("this thread has a CPU clock");
        let mut sum = 0_u64;
        while thread_cpu_ns(tid).expect("still") == before {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(thread_switches(tid).is_some());
        assert_eq!(thread_is_asleep(tid), Some(false));
    }

    #[test]
    fn a_thread_that_is_gone_has_no_clock() {
        let tid = std::thread::spawn(|| nix::unistd::gettid().as_raw())
            .join()
            .expect("it only reads its id");
        // The kernel may still be reaping the thread. At some point it is gone for good.
        while thread_cpu_ns(tid).is_some() {
            std::thread::yield_now();
        }
    }
}
