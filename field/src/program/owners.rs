//! Owners of sockets: processes that have them open, also in other network namespaces, and their threads
//! (proc_pid_stat(5), Documentation/scheduler/sched-stats.rst).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;

use super::interval::ThreadTimes;
use crate::sys::files::Root;
use crate::sys::udp_sockets;

/// A process that has some of the sockets open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Number of the process.
    pub pid: u32,
    /// Name in the kernel.
    pub name: String,
    /// Numbers of the sockets.
    pub inodes: BTreeSet<u32>,
}

impl Owner {
    fn new(pid: u32, inodes: BTreeSet<u32>) -> Self {
        let name = Root::new("/").text(format!("proc/{pid}/comm"));
        Self {
            pid,
            name: name.unwrap_or_default(),
            inodes,
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (pid {})", self.name, self.pid)
    }
}

/// Returns all processes that have some of these sockets open: those whose files may be read.
pub(super) fn owners(sockets: &BTreeSet<u32>) -> Vec<Owner> {
    let owner = |pid| {
        let shared: BTreeSet<u32> = inodes(pid).ok()?.intersection(sockets).copied().collect();
        (!shared.is_empty()).then(|| Owner::new(pid, shared))
    };
    pids().filter_map(owner).collect()
}

/// Returns the numbers of the sockets that a process has open, also those that only its `io_uring` has.
pub(super) fn inodes(pid: u32) -> io::Result<BTreeSet<u32>> {
    let mut inodes = BTreeSet::new();
    for file in fs::read_dir(format!("/proc/{pid}/fd"))?.flatten() {
        let Ok(link) = fs::read_link(file.path()) else {
            continue;
        };
        let link = link.to_str().unwrap_or_default();
        inodes.extend(inode(link));
        if link == "anon_inode:[io_uring]" {
            // Files that are registered there may be closed everywhere else (io_uring_register(2)).
            let name = file.file_name().into_string().unwrap_or_default();
            let registered = fs::read_to_string(format!("/proc/{pid}/fdinfo/{name}"));
            let registered = registered.unwrap_or_default();
            inodes.extend(registered.split_whitespace().filter_map(inode));
        }
    }
    Ok(inodes)
}

/// Parses `socket:[INODE]`.
fn inode(link: &str) -> Option<u32> {
    let number = link.strip_prefix("socket:[")?.strip_suffix(']')?;
    number.parse().ok()
}

fn pids() -> impl Iterator<Item = u32> {
    let processes = Root::new("/").names("proc", "").into_iter();
    processes.filter_map(|name| name.parse().ok())
}

/// Returns the network namespace that has some of a process's UDP sockets, as a directory of `/proc`: it may have left
/// the namespace in which it made them. `thread-self`: that of this thread, or unknown.
pub(super) fn namespace_of(pid: u32, sockets: &BTreeSet<u32>) -> String {
    let has_some = |directory: &String| {
        let all = udp_sockets::of_process(directory).unwrap_or_default();
        all.iter().any(|socket| sockets.contains(&socket.inode))
    };
    let first = ["thread-self".to_owned(), pid.to_string()];
    let found = first.into_iter().chain(other_namespaces()).find(has_some);
    found.unwrap_or_else(|| "thread-self".to_owned())
}

fn namespace(process: &str) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{process}/ns/net")).ok()
}

/// Returns a directory of `/proc` for each network namespace but that of this thread: those of processes that may be
/// looked at.
fn other_namespaces() -> impl Iterator<Item = String> {
    let mut seen: BTreeSet<_> = namespace("thread-self").into_iter().collect();
    let is_new = move |pid: &String| namespace(pid).is_some_and(|it| seen.insert(it));
    pids().map(|pid| pid.to_string()).filter(is_new)
}

/// Returns a process that has a UDP socket on this port in another network namespace.
pub(super) fn in_other_namespace(port: u16) -> Option<Owner> {
    other_namespaces().find_map(|directory| {
        let all = udp_sockets::of_process(&directory).ok()?.into_iter();
        let on_port = all.filter(|socket| socket.local.port() == port);
        let on_port: BTreeSet<u32> = on_port.map(|socket| socket.inode).collect();
        owners(&on_port).into_iter().next()
    })
}

/// Returns the processes of this network namespace that read packets before UDP: they have packet sockets (packet(7)).
/// `None`: no socket is one.
pub(super) fn of_packet_sockets() -> Option<Vec<Owner>> {
    let table = fs::read_to_string("/proc/thread-self/net/packet").unwrap_or_default();
    let inode = |line: &str| line.split_whitespace().last()?.parse().ok();
    let inodes: BTreeSet<u32> = table.lines().filter_map(inode).collect();
    (!inodes.is_empty()).then(|| owners(&inodes))
}

/// Returns the threads of a process, with their times since they began. Empty: it has ended.
pub(super) fn threads(pid: u32) -> Vec<ThreadTimes> {
    let (root, task) = (Root::new("/"), format!("proc/{pid}/task"));
    let threads = root.names(&task, "").into_iter().filter_map(|id| {
        let text = |file: &str| root.text(format!("{task}/{id}/{file}"));
        let times = times(&text("stat")?, &text("schedstat")?)?;
        let id = id.parse().ok()?;
        Some(ThreadTimes { id, pid, ..times })
    });
    threads.collect()
}

/// Returns when a process began, in ticks since boot (the 22nd field). `None`: it has ended.
pub(super) fn begun(pid: u32) -> Option<u64> {
    let stat = Root::new("/").text(format!("proc/{pid}/stat"))?;
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(19)?.parse().ok()
}

/// Parses `pid (name) state ... processor ...`, of which the processor is the 39th field, and `ran waited slices`.
fn times(stat: &str, schedstat: &str) -> Option<ThreadTimes> {
    // A name may contain any character, even parentheses.
    let (head, fields) = stat.rsplit_once(") ")?;
    let (_, name) = head.split_once('(')?;
    let cpu = fields.split(' ').nth(36)?.parse().ok()?;
    let mut times = schedstat.split_ascii_whitespace().map(str::parse);
    let ran_ns = times.next()?.ok()?;
    Some(ThreadTimes {
        name: name.to_owned(),
        ran_ns,
        waited_ns: times.next()?.ok()?,
        runs: times.next()?.ok()?,
        ran_ns_on: BTreeMap::from([(cpu, ran_ns)]),
        ..ThreadTimes::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_that_only_an_io_uring_has_are_found() {
        let text = "pos:\t0\nflags:\t02000002\nSqMask:\t0x7\nUserFiles:\t2\n    0: socket:[4242]\n    1: /dev/null\nUserBufs:\t0\n";
        let found: Vec<u32> = text.split_whitespace().filter_map(inode).collect();
        assert_eq!(found, [4242]);
    }

    #[test]
    fn this_process_has_this_thread() {
        let own = u32::try_from(nix::unistd::gettid().as_raw()).expect("positive");
        let is_seen = || threads(std::process::id()).iter().any(|it| it.id == own);
        // The kernel leaves threads out if one before them ends while they are listed.
        assert!((0..20).any(|_| is_seen()));
    }

    #[test]
    fn a_child_began_later_than_its_parent() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("a program");
        let (own, its) = (begun(std::process::id()), begun(child.id()));
        child.kill().expect("it waits");
        child.wait().expect("it is reaped");
        assert!(own > Some(0) && its >= own, "{own:?} {its:?}");
        assert_eq!(begun(child.id()), None);
    }

    #[test]
    fn a_name_may_have_parentheses() {
        let fields: Vec<String> = (3..=52).map(|field| field.to_string()).collect();
        let stat = format!("42 (a) (b) {}", fields.join(" "));
        let thread = times(&stat, "17 4 2\n").expect("a thread");
        assert_eq!(
            (thread.name.as_str(), thread.ran_ns_on),
            ("a) (b", BTreeMap::from([(39, 17)]))
        );
        assert_eq!((thread.ran_ns, thread.waited_ns, thread.runs), (17, 4, 2));
    }
}
