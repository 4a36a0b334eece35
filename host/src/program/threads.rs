//! Threads of another process: CPU time and CPUs (proc_pid_stat(5), Documentation/scheduler/sched-stats.rst).

use std::collections::BTreeMap;

use crate::sys::files::Root;

/// Counters of a thread since it began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Thread {
    /// Name in the kernel, of 15 bytes at most.
    pub name: String,
    /// CPU that it runs on, or ran on last.
    pub cpu: usize,
    /// Time on a CPU, in nanoseconds.
    pub ran_ns: u64,
    /// Time in which it was runnable while something else ran on its CPU, in nanoseconds.
    pub waited_ns: u64,
    /// Times that it was put on a CPU.
    pub runs: u64,
}

/// Returns the threads of a process by their numbers. Empty: it has ended.
pub(super) fn of_process(root: &Root, pid: u32) -> BTreeMap<u32, Thread> {
    let task = format!("proc/{pid}/task");
    let ids = root.names(&task, "").into_iter();
    let threads = ids.filter_map(|id| {
        let text = |file: &str| root.text(format!("{task}/{id}/{file}"));
        Some((
            id.parse().ok()?,
            parse(&text("stat")?, &text("schedstat")?)?,
        ))
    });
    threads.collect()
}

/// Returns when a process began, in ticks since boot (the 22nd field). `None`: it has ended.
pub(super) fn begun(root: &Root, pid: u32) -> Option<u64> {
    let stat = root.text(format!("proc/{pid}/stat"))?;
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(19)?.parse().ok()
}

/// Parses `pid (name) state ... processor ...`, of which the processor is the 39th field, and `ran waited slices`.
fn parse(stat: &str, schedstat: &str) -> Option<Thread> {
    // A name may contain any character, even parentheses.
    let (head, fields) = stat.rsplit_once(") ")?;
    let (_, name) = head.split_once('(')?;
    let mut times = schedstat.split_ascii_whitespace().map(str::parse);
    Some(Thread {
        name: name.to_owned(),
        cpu: fields.split(' ').nth(36)?.parse().ok()?,
        ran_ns: times.next()?.ok()?,
        waited_ns: times.next()?.ok()?,
        runs: times.next()?.ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_this_thread() {
        let own = u32::try_from(nix::unistd::gettid().as_raw()).expect("positive");
        let is_seen = || of_process(&Root::new("/"), std::process::id()).contains_key(&own);
        // The kernel leaves threads out if one before them ends while they are listed.
        assert!((0..20).any(|_| is_seen()));
    }

    #[test]
    fn a_child_began_later_than_its_parent() {
        let root = Root::new("/");
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("a program");
        let (own, its) = (begun(&root, std::process::id()), begun(&root, child.id()));
        child.kill().expect("it waits");
        child.wait().expect("it is reaped");
        assert!(own > Some(0) && its >= own, "{own:?} {its:?}");
        assert_eq!(begun(&root, child.id()), None);
    }

    #[test]
    fn a_name_may_have_parentheses() {
        let fields: Vec<String> = (3..=52).map(|field| field.to_string()).collect();
        let stat = format!("42 (a) (b) {}", fields.join(" "));
        let thread = parse(&stat, "17 4 2\n").expect("a thread");
        assert_eq!((thread.name.as_str(), thread.cpu), ("a) (b", 39));
        assert_eq!((thread.ran_ns, thread.waited_ns, thread.runs), (17, 4, 2));
    }
}
