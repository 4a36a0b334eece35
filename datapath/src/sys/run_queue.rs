//! Time in which a thread could not run: its wait for a CPU, and the time that interrupts and the hypervisor used on
//! each CPU.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use serde::{Deserialize, Serialize};

/// Preempted time of a thread: it was runnable while something else ran on its CPU.
pub struct RunQueueWait {
    /// Kept open: opening it takes seven times longer than reading it.
    schedstat: File,
}

impl RunQueueWait {
    /// Opens the counter of a thread of this process. `None`: the kernel does not count it (`CONFIG_SCHED_INFO`), or
    /// the thread has ended.
    pub fn of(tid: i32) -> Option<Self> {
        let schedstat = File::open(format!("/proc/self/task/{tid}/schedstat")).ok()?;
        let wait = Self { schedstat };
        wait.ns().map(|_| wait)
    }

    /// Returns the preempted time so far, in nanoseconds, without a wait that is still going on. `None`: the thread has
    /// ended.
    ///
    /// Costs 0.7 us on an x86-64 virtual machine, so it is read at the edges of windows only.
    pub fn ns(&self) -> Option<u64> {
        // Three numbers of 20 digits at most.
        let mut text = [0; 64];
        let length = self.schedstat.read_at(&mut text, 0).ok()?;
        parse_schedstat(std::str::from_utf8(&text[..length]).ok()?)
    }
}

/// Parses the time waited from `schedstat`: time on a CPU, time waited for a CPU, number of time slices
/// (`Documentation/scheduler/sched-stats.rst`).
fn parse_schedstat(text: &str) -> Option<u64> {
    let mut fields = text.split_ascii_whitespace().map(str::parse);
    let (_ran, waited, times) = (fields.next()?, fields.next()?, fields.next()?);
    // All fields are 0 if the kernel does not count. A live thread has run at least once.
    (times != Ok(0)).then_some(waited.ok())?
}

/// Time of one CPU that went to interrupts and to the hypervisor, in nanoseconds; since boot, or over a window.
///
/// The resolution is a hundredth of a second. Without `CONFIG_IRQ_TIME_ACCOUNTING` the kernel samples at each tick.
/// Only sums over many windows are meaningful.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTaken {
    /// Time in which the hypervisor ran something else although this CPU had work.
    pub steal_ns: u64,
    /// Time in interrupts.
    pub irq_ns: u64,
    /// Time in softirqs, the receive path of loopback included.
    pub softirq_ns: u64,
}

impl CpuTaken {
    /// Resolution of all fields, in nanoseconds: USER_HZ is 100 on every architecture that Rust supports.
    pub const TICK_NS: u64 = 10_000_000;

    /// Returns the growth since `before`.
    pub fn since(self, before: Self) -> Self {
        Self {
            steal_ns: self.steal_ns.saturating_sub(before.steal_ns),
            irq_ns: self.irq_ns.saturating_sub(before.irq_ns),
            softirq_ns: self.softirq_ns.saturating_sub(before.softirq_ns),
        }
    }
}

/// Returns the time that went to interrupts and to the hypervisor, for each CPU that is online, by its number.
///
/// Costs 10 us on an x86-64 virtual machine, and more with many CPUs and interrupts.
pub fn cpus_taken() -> Vec<(u32, CpuTaken)> {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    parse_stat(&stat)
}

/// Parses the lines `cpu0 user nice system idle iowait irq softirq steal ...` (proc_stat(5)).
fn parse_stat(stat: &str) -> Vec<(u32, CpuTaken)> {
    let of_line = |line: &str| {
        let mut fields = line.strip_prefix("cpu")?.split(' ');
        let cpu = fields.next()?.parse().ok()?;
        let mut ns = fields.skip(5).map(|ticks| {
            let ticks: u64 = ticks.parse().ok()?;
            ticks.checked_mul(CpuTaken::TICK_NS)
        });
        let (irq_ns, softirq_ns, steal_ns) = (ns.next()??, ns.next()??, ns.next()??);
        let taken = CpuTaken {
            steal_ns,
            irq_ns,
            softirq_ns,
        };
        Some((cpu, taken))
    };
    stat.lines().filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_runs_has_waited_for_some_time_or_none_where_it_is_not_counted() {
        assert_eq!(parse_schedstat("61742 1234 3\n"), Some(1234));
        assert_eq!(parse_schedstat("0 0 0\n"), None);
        assert_eq!(parse_schedstat("61742\n"), None);
        assert_eq!(parse_schedstat("61742 - 3\n"), None);
        let wait = RunQueueWait::of(nix::unistd::gettid().as_raw());
        if let Some(wait) = wait {
            let before = wait.ns().expect("this thread lives");
            assert!(wait.ns().expect("still") >= before);
        }
        assert!(RunQueueWait::of(i32::MAX).is_none());
    }

    #[test]
    fn what_is_taken_of_a_cpu_is_told_in_ticks() {
        let stat = "cpu  3 0 3 3 3 14 16 18 0 0\n\
                    cpu0 1 0 1 1 1 5 6 7 0 0\n\
                    cpu11 2 0 2 2 2 9 10 11 0 0\n\
                    cpu12 2 0 2 2\n\
                    intr 17 0\n";
        let taken = |steal, irq, softirq| CpuTaken {
            steal_ns: steal * CpuTaken::TICK_NS,
            irq_ns: irq * CpuTaken::TICK_NS,
            softirq_ns: softirq * CpuTaken::TICK_NS,
        };
        let expected = [(0, taken(7, 5, 6)), (11, taken(11, 9, 10))];
        assert_eq!(parse_stat(stat), expected);
        assert_eq!(taken(7, 5, 6).since(taken(5, 5, 7)), taken(2, 0, 0));
        assert!(!cpus_taken().is_empty(), "Linux has /proc/stat");
    }
}
