//! Scheduling of threads: CPUs (sched_setaffinity(2)), priority, real-time classes (sched(7)); and memory that stays in
//! RAM (mlockall(2)).

use std::io;
use std::thread;

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::mman::{MlockAllFlags, mlockall, munlockall};
use nix::sys::resource::{Resource, getrlimit};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::sys::files::Root;

/// Returns the CPUs of `cpus` that the kernel accepts for a thread of this process: all but offline CPUs and CPUs
/// outside of its cpuset. The affinity mask of the process is no limit.
///
/// Tries each CPU on a thread that ends afterwards, so the mask of the caller does not change.
pub fn accepted_cpus(cpus: &[usize]) -> Vec<usize> {
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
pub fn own_cpus() -> Option<Vec<usize>> {
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

/// Nice value: about ten times the CPU share of a usual thread (sched(7)).
const NICE: libc::c_int = -10;

/// Gives the calling thread a higher priority than usual threads have. Without the permission (CAP_SYS_NICE, or
/// `RLIMIT_NICE`), it stays as it is.
pub fn raise_priority() {
    #[expect(unsafe_code, reason = "no wrapper has setpriority")]
    // SAFETY: setpriority(2) takes three integers and touches no memory. 0 is the calling thread.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, NICE)
    };
}

/// Scheduling class of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The usual one (SCHED_OTHER).
    Other,
    /// Runs until it sleeps, or a thread of a higher priority is ready (SCHED_FIFO).
    Fifo,
    /// As [`Class::Fifo`], but takes turns with threads of its priority (SCHED_RR).
    RoundRobin,
}

/// Highest priority of a bench thread. The coordinator thread has one more, and the kernel's highest is 99.
pub const MOST_PRIORITY: u8 = 98;

/// Sets the class and the priority of the calling thread. The priority of [`Class::Other`] is 0.
///
/// # Errors
/// Fails if the system refuses it: EPERM without permission.
pub fn set_class(class: Class, priority: u8) -> io::Result<()> {
    /// `struct sched_param` of the kernel (include/uapi/linux/sched/types.h). That of musl has more fields.
    #[repr(C)]
    struct Parameters {
        priority: libc::c_int,
    }
    let policy = match class {
        Class::Other => libc::SCHED_OTHER,
        Class::Fifo => libc::SCHED_FIFO,
        Class::RoundRobin => libc::SCHED_RR,
    };
    let parameters = Parameters {
        priority: priority.into(),
    };
    #[expect(unsafe_code, reason = "musl's own sched_setscheduler always fails")]
    // SAFETY: the kernel reads one `sched_param` from the pointer, which is valid for the call; 0 is this thread.
    let done = unsafe {
        libc::syscall(
            libc::SYS_sched_setscheduler,
            0,
            policy,
            std::ptr::from_ref(&parameters),
        )
    };
    Ok(Errno::result(done).map(drop)?)
}

/// Returns the highest real-time priority that a thread of this process may have, found by trying. `None`: real-time
/// scheduling is not permitted.
pub fn most_priority() -> Option<u8> {
    let is_permitted = |priority: u8| {
        let tried = thread::Builder::new().spawn(move || set_class(Class::Fifo, priority).is_ok());
        tried.is_ok_and(|thread| thread.join().unwrap_or(false))
    };
    if is_permitted(MOST_PRIORITY + 1) {
        return Some(MOST_PRIORITY);
    }
    let (soft, _) = getrlimit(Resource::RLIMIT_RTPRIO).ok()?;
    // One priority is for the coordinator thread.
    let most = u8::try_from(soft).ok()?.checked_sub(1)?.min(MOST_PRIORITY);
    (most > 0 && is_permitted(most)).then_some(most)
}

/// The coordinator thread, above all bench threads while this exists: it must be able to stop threads that never sleep.
#[derive(Debug)]
pub struct Raised(());

impl Raised {
    /// Gives the calling thread this priority.
    ///
    /// # Errors
    /// Fails if it is not permitted.
    pub fn to(priority: u8) -> io::Result<Self> {
        set_class(Class::Fifo, priority).map(|()| Self(()))
    }
}

impl Drop for Raised {
    fn drop(&mut self) {
        // Lowering is always permitted.
        let _ = set_class(Class::Other, 0);
    }
}

/// Memory of this process that stays in RAM while this exists, also memory that is mapped later.
#[derive(Debug)]
pub struct LockedMemory(());

impl LockedMemory {
    /// Locks it, which also brings all of it into RAM.
    ///
    /// # Errors
    /// Fails if the limit is too low (ENOMEM) or 0 (EPERM).
    pub fn lock() -> io::Result<Self> {
        mlockall(MlockAllFlags::all())?;
        Ok(Self(()))
    }
}

impl Drop for LockedMemory {
    fn drop(&mut self) {
        let _ = munlockall();
    }
}

/// Returns whether this process may lock its memory, found by trying, without bringing anything into RAM.
pub fn may_lock_memory() -> bool {
    let on_fault = MlockAllFlags::from_bits_retain(libc::MCL_ONFAULT);
    let tried = mlockall(MlockAllFlags::MCL_CURRENT | on_fault);
    // Dropping it unlocks.
    tried.map(|()| LockedMemory(())).is_ok()
}

/// Limit of the time that real-time threads may use on each CPU (sched(7), "Limiting the CPU usage").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Throttling {
    /// Time for them in each period, in microseconds. Negative: no limit.
    pub runtime_us: i64,
    /// Period, in microseconds.
    pub period_us: i64,
    /// True if the limit holds only while other threads wait for the CPU. `None`: unknown.
    #[serde(default)]
    pub spares_lone_threads: Option<bool>,
}

impl Throttling {
    /// Reads the limit. `release` is the kernel's, and `has_groups` is its `CONFIG_RT_GROUP_SCHED`, if they are known.
    /// `None`: the kernel has none to read.
    ///
    /// Since Linux 6.12, kernels without `CONFIG_RT_GROUP_SCHED` stop nothing by `sched_rt_runtime_us`: a server of
    /// ordinary threads takes as much time instead, if one of them waits ("sched/rt: Remove default bandwidth
    /// control").
    pub fn read(root: &Root, release: Option<&str>, has_groups: Option<bool>) -> Option<Self> {
        let number = |name| root.number(format!("proc/sys/kernel/sched_rt_{name}_us"));
        let is_old = release.and_then(version).map(|version| version < (6, 12));
        let spares_lone_threads = match (is_old, has_groups) {
            (Some(true), _) | (_, Some(true)) => Some(false),
            (Some(false), Some(false)) => Some(true),
            _ => None,
        };
        let limit = Self {
            runtime_us: number("runtime")?,
            period_us: number("period")?,
            spares_lone_threads,
        };
        Some(match spares_lone_threads {
            // What the server takes by default (kernel doc scheduler/sched-debug).
            Some(true) => Self {
                runtime_us: 950_000,
                period_us: 1_000_000,
                ..limit
            },
            _ => limit,
        })
    }

    /// Returns the time in each period in which real-time threads do not run, in microseconds. `None`: there is no
    /// limit.
    pub fn pause_us(self) -> Option<i64> {
        let pause_us = self.period_us - self.runtime_us;
        (self.runtime_us >= 0 && pause_us > 0).then_some(pause_us)
    }
}

/// Returns the first two numbers of a kernel release, such as 6.12.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|char: char| !char.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
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
        let found = accepted_cpus(
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

    #[test]
    fn a_limit_leaves_a_pause_unless_it_is_off() {
        let pause_us = |runtime_us| {
            let period_us = 1_000_000;
            Throttling {
                runtime_us,
                period_us,
                spares_lone_threads: None,
            }
            .pause_us()
        };
        assert_eq!(pause_us(950_000), Some(50_000));
        assert_eq!(pause_us(-1), None);
        assert_eq!(pause_us(1_000_000), None);
    }

    #[test]
    fn whether_a_lone_thread_is_stopped_depends_on_the_kernel() {
        let place = tempfile::TempDir::new().expect("a temporary directory");
        let write = |path: &str, text: &str| {
            let path = place.path().join(path);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("writable");
            std::fs::write(path, text).expect("writable");
        };
        write("proc/sys/kernel/sched_rt_runtime_us", "950000\n");
        write("proc/sys/kernel/sched_rt_period_us", "1000000\n");
        let root = Root::new(place.path());
        for (release, has_groups, expected) in [
            (Some("6.11.0-rc1"), None, Some(false)),
            (Some("5.10.110-rockchip-rk3588"), Some(false), Some(false)),
            (Some("4.19.59-rt23-v7l+"), None, Some(false)),
            (Some("6.12.25+rpt-rpi-2712"), Some(false), Some(true)),
            (Some("6.12.25+rpt-rpi-2712"), None, None),
            (Some("6.18"), Some(true), Some(false)),
            (Some("7.0.1"), Some(false), Some(true)),
            (Some("next"), Some(false), None),
            (None, None, None),
        ] {
            let read = Throttling::read(&root, release, has_groups).expect("there are files");
            assert_eq!(
                read.spares_lone_threads, expected,
                "{release:?} {has_groups:?}"
            );
            assert_eq!(read.pause_us(), Some(50_000), "{release:?} {has_groups:?}");
        }
        // The file of the old limit says nothing about the new one.
        write("proc/sys/kernel/sched_rt_runtime_us", "-1\n");
        let pause_us = |has_groups| {
            let read = Throttling::read(&root, Some("6.12"), Some(has_groups));
            read.and_then(Throttling::pause_us)
        };
        assert_eq!([true, false].map(pause_us), [None, Some(50_000)]);
    }

    #[test]
    fn a_thread_has_the_priority_that_is_said_to_be_permitted_and_no_process_keeps_it() {
        let set = thread::spawn(|| {
            let own = set_class(Class::Other, 0);
            assert!(own.is_ok(), "{own:?}");
            match most_priority() {
                Some(most) => set_class(Class::RoundRobin, most),
                None => set_class(Class::Fifo, 1)
                    .map_or_else(|_| Ok(()), |()| Err(io::Error::other("permitted"))),
            }
        });
        assert!(set.join().expect("no panic").is_ok());
    }

    #[test]
    fn memory_is_locked_if_that_is_permitted() {
        let locked = LockedMemory::lock();
        assert!(locked.is_err() || may_lock_memory());
    }
}
