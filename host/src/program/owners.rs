//! Owners of sockets: processes that have them open, also in other network namespaces.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;

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
            inodes.extend(sockets_in(&registered.unwrap_or_default()));
        }
    }
    Ok(inodes)
}

/// Returns the sockets in a file of `/proc/PID/fdinfo`.
fn sockets_in(text: &str) -> impl Iterator<Item = u32> {
    text.split_whitespace().filter_map(inode)
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
    found.unwrap_or_else(|| first_of(pid))
}

/// Returns the namespace of a process without UDP sockets.
fn first_of(pid: u32) -> String {
    let (own, other) = (namespace("thread-self"), namespace(&pid.to_string()));
    if own.is_none() || other.is_none() || own == other {
        return "thread-self".to_owned();
    }
    pid.to_string()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_that_only_an_io_uring_has_are_found() {
        let text = "pos:\t0\nflags:\t02000002\nSqMask:\t0x7\nUserFiles:\t2\n    0: socket:[4242]\n    1: /dev/null\nUserBufs:\t0\n";
        assert_eq!(sockets_in(text).collect::<Vec<_>>(), [4242]);
    }
}
