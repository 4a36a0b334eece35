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

/// Returns the processes that use these CPUs within the next 200 ms, without this one, the busiest first. Returns none
/// at once if `root` is not the machine's own.
pub fn now(root: &Root, cpus: &[usize]) -> Vec<Busy> {
    if !root.is_real() {
        return Vec::new();
    }
    let (before, begun) = (threads(root), Instant::now());
    thread::sleep(LOOK);
    let (after, elapsed) = (threads(root), begun.elapsed());
    between(&before, &after, elapsed, cpus)
}

/// CPU time of a thread, in ticks, and the CPU that it ran on last.
#[derive(Clone, Debug, PartialEq)]
struct Thread {
    name: String,
    ticks: u64,
    cpu: usize,
}

/// Threads by process id and thread id. The first one of a process has the same number and the name of the process.
type Threads = BTreeMap<(u32, u32), Thread>;

fn threads(root: &Root) -> Threads {
    let numbers = |directory: &str| -> Vec<u32> {
        let names = root.names(directory, "").into_iter();
        names.filter_map(|name| name.parse().ok()).collect()
    };
    let mut pids = numbers("proc");
    pids.retain(|&pid| pid != process::id());
    let of_process = |pid| {
        let threads = numbers(&format!("proc/{pid}/task")).into_iter();
        threads.map(move |id| (pid, id))
    };
    let of_one = |(pid, id)| {
        let stat = root.text(format!("proc/{pid}/task/{id}/stat"))?;
        Some(((pid, id), parse(&stat)?))
    };
    let all = pids.into_iter().flat_map(of_process);
    all.filter_map(of_one).collect()
}

/// Parses name, CPU time and CPU from `pid (name) state ... utime stime ... processor ...`: the 14th, the 15th and the
/// 39th field (proc_pid_stat(5)).
fn parse(stat: &str) -> Option<Thread> {
    // A name may contain any character, even parentheses.
    let (head, fields) = stat.rsplit_once(") ")?;
    let (_, name) = head.split_once('(')?;
    let mut fields = fields.split(' ').skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(Thread {
        name: name.to_owned(),
        ticks: ticks()? + ticks()?,
        cpu: fields.nth(23)?.parse().ok()?,
    })
}

fn between(before: &Threads, after: &Threads, elapsed: Duration, cpus: &[usize]) -> Vec<Busy> {
    let mut used: BTreeMap<u32, u64> = BTreeMap::new();
    for (id, now) in after.iter().filter(|(_, now)| cpus.contains(&now.cpu)) {
        let earlier = before.get(id).map_or(0, |thread| thread.ticks);
        *used.entry(id.0).or_default() += now.ticks.saturating_sub(earlier);
    }
    let busy = used.into_iter().filter(|(_, ticks)| *ticks > 0);
    let busy = busy.map(|(pid, ticks)| {
        let used_ns = ticks.saturating_mul(CpuTaken::TICK_NS) as f64;
        Busy {
            pid,
            name: after
                .get(&(pid, pid))
                .map_or_else(String::new, |it| it.name.clone()),
            cpus: used_ns / elapsed.as_nanos() as f64,
        }
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
        let stat = "42 (a) (b) c) S 1 42 42 0 -1 4194560 100 0 0 0 7 5 0 0 20 0 1 0 50 1000 10 \
                    18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0";
        let expected = Thread {
            name: "a) (b) c".to_owned(),
            ticks: 12,
            cpu: 3,
        };
        assert_eq!(parse(stat), Some(expected));
        assert_eq!(parse("42 (cut"), None);
    }

    #[test]
    fn the_busiest_come_first_and_the_idle_and_those_on_other_cpus_not_at_all() {
        let threads = |ticks: [u64; 4]| -> Threads {
            let of_one = |(((pid, id), name, cpu), ticks): (_, u64)| {
                let name = str::to_owned(name);
                ((pid, id), Thread { name, ticks, cpu })
            };
            let named = [
                ((1, 1), "idle", 0),
                ((2, 2), "half", 1),
                ((3, 3), "two", 1),
                ((3, 4), "second", 0),
            ];
            named.into_iter().zip(ticks).map(of_one).collect()
        };
        let (before, after) = (threads([5, 10, 100, 0]), threads([5, 20, 116, 20]));
        let found = |cpus: &[usize]| -> Vec<(String, f64)> {
            let busy = between(&before, &after, LOOK, cpus).into_iter();
            busy.map(|one| (one.name, one.cpus)).collect()
        };
        let (half, two) = ("half".to_owned(), "two".to_owned());
        assert_eq!(found(&[0, 1]), [(two.clone(), 1.8), (half.clone(), 0.5)]);
        assert_eq!(found(&[1]), [(two.clone(), 0.8), (half, 0.5)]);
        assert_eq!(found(&[0]), [(two, 1.0)]);
    }
}
