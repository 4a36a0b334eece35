//! Finds the processes that use the CPUs at the moment.

use std::collections::BTreeMap;
use std::process;
use std::thread;
use std::time::{Duration, Instant};

use super::files::Root;
use super::run_queue::CpuTaken;

/// Time that is observed: twenty ticks of the kernel's CPU accounting.
const LOOK: Duration = Duration::from_millis(200);

/// A process that uses CPU time.
#[derive(Clone, Debug, PartialEq)]
pub struct Busy {
    /// Process id.
    pub pid: u32,
    /// Name in the kernel, of 15 characters at most.
    pub name: String,
    /// CPUs that the process keeps busy: 1.0 is all of one CPU.
    pub cpus: f64,
}

/// Returns the processes that use CPU time within the next 200 ms, without this one, the busiest first. Returns none at
/// once if `root` is not the machine's own.
pub fn now(root: &Root) -> Vec<Busy> {
    if !root.is_real() {
        return Vec::new();
    }
    let (before, begun) = (times(root), Instant::now());
    thread::sleep(LOOK);
    let (after, elapsed) = (times(root), begun.elapsed());
    between(&before, after, elapsed)
}

/// Name and ticks of CPU time, by process id.
type Times = BTreeMap<u32, (String, u64)>;

fn times(root: &Root) -> Times {
    let pids = root.names("proc", "").into_iter();
    let pids = pids.filter_map(|name| name.parse().ok());
    let others = pids.filter(|&pid: &u32| pid != process::id());
    let of_one = |pid| Some((pid, parse(&root.text(format!("proc/{pid}/stat"))?)?));
    others.filter_map(of_one).collect()
}

/// Parses name and CPU time from `pid (name) state ... utime stime ...`: the 14th and the 15th field
/// (proc_pid_stat(5)).
fn parse(stat: &str) -> Option<(String, u64)> {
    // A name may contain any character, even parentheses.
    let (head, fields) = stat.rsplit_once(") ")?;
    let (_, name) = head.split_once('(')?;
    let mut times = fields.split(' ').skip(11).map(str::parse::<u64>);
    let (user, system) = (times.next()?.ok()?, times.next()?.ok()?);
    Some((name.to_owned(), user + system))
}

fn between(before: &Times, after: Times, elapsed: Duration) -> Vec<Busy> {
    let busy = after.into_iter().filter_map(|(pid, (name, ticks))| {
        let earlier = before.get(&pid).map_or(0, |&(_, ticks)| ticks);
        let used = ticks.checked_sub(earlier).filter(|&ticks| ticks > 0)?;
        let used_ns = used.saturating_mul(CpuTaken::TICK_NS) as f64;
        let cpus = used_ns / elapsed.as_nanos() as f64;
        Some(Busy { pid, name, cpus })
    });
    let mut busy: Vec<Busy> = busy.collect();
    busy.sort_by(|a, b| b.cpus.total_cmp(&a.cpus));
    busy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_have_parentheses() {
        let stat = "42 (a) (b) c) S 1 42 42 0 -1 4194560 100 0 0 0 7 5 0 0 20 0 1 0 50 1000 10";
        assert_eq!(parse(stat), Some(("a) (b) c".to_owned(), 12)));
        assert_eq!(parse("42 (cut"), None);
    }

    #[test]
    fn the_busiest_come_first_and_the_idle_not_at_all() {
        let times = |ticks: [u64; 3]| -> Times {
            let named = ["idle", "half", "whole"].into_iter().zip(ticks);
            let of_one = |(pid, (name, ticks))| (pid, (str::to_owned(name), ticks));
            (1..).zip(named).map(of_one).collect()
        };
        let busy = between(&times([5, 10, 100]), times([5, 20, 120]), LOOK);
        let found: Vec<(&str, f64)> = busy
            .iter()
            .map(|one| (one.name.as_str(), one.cpus))
            .collect();
        assert_eq!(found, [("whole", 1.0), ("half", 0.5)]);
    }
}
