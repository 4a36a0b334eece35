//! Sockets of several programs on one address.

use std::collections::{BTreeMap, BTreeSet};

use super::Interval;
use crate::host::check::Finding;

/// Finds sockets of several processes on one address: only some of them get a datagram.
pub(super) fn twins(seen: &Interval) -> Option<Finding> {
    let mut by_address: BTreeMap<_, Vec<u32>> = BTreeMap::new();
    for (inode, socket) in &seen.sockets {
        by_address.entry(socket.local).or_default().push(*inode);
    }
    let is_shared = |inodes: &Vec<u32>| {
        let owners = inodes.iter().map(|inode| &seen.sockets[inode].owners);
        inodes.len() > 1 && owners.collect::<BTreeSet<_>>().len() > 1
    };
    let (address, inodes) = by_address
        .into_iter()
        .find(|(_, inodes)| is_shared(inodes))?;
    let owners = inodes.iter().flat_map(|inode| &seen.sockets[inode].owners);
    let owners: BTreeSet<u32> = owners.copied().collect();
    let runs = |pid: &u32| {
        let threads = seen.threads.values().filter(|thread| thread.pid == *pid);
        let name = threads.clone().next().map_or("?", |thread| &thread.process);
        let runs: u64 = threads.map(|thread| thread.runs).sum();
        format!("{name} ran {runs} times")
    };
    let each: Vec<String> = owners.iter().map(runs).collect();
    let (port, of) = (address.port(), inodes.len());
    Some(Finding::note(
        format!(
            "{of} sockets have {address}, of {} processes: {}",
            owners.len(),
            each.join(", ")
        ),
        "with SO_REUSEPORT each gets the datagrams of some senders; with SO_REUSEADDR one gets them all, except for \
         groups. Who gets many runs often",
        format!("stop the one that should not run: sudo ss -lunp sport = :{port}"),
    ))
}
