//! What rows have in common whose engines can be compared, and what groups have in common that can be averaged.

use std::collections::{BTreeMap, BTreeSet};

use crate::data::{BlockKey, Connection, Ip};
use crate::results::row::{Load, Row};

/// Values that rows have in common if their engines can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowGroup {
    /// Threads, payload, IP version, and the buffer sizes that were requested.
    pub block: BlockKey,
    /// Connected or unconnected sockets.
    pub connection: Connection,
    /// `SO_RCVBUF` and `SO_SNDBUF` as granted, in bytes. Loss, and so speed, depends on them.
    pub granted: (Option<u64>, Option<u64>),
    /// Load and CPUs, if the group has round trips. The rate in `block` is unset if the load is a share of a rate.
    pub asked: Option<RequestConditions>,
}

/// Circumstances in which clients ask servers. They decide round trips more than engines do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestConditions {
    /// The load.
    pub load: Load,
    /// The CPUs of clients and servers: see [`shared_cpus`].
    pub cpus: &'static str,
}

impl RowGroup {
    pub(super) fn new(row: &Row, load: Option<Load>) -> Self {
        let mut block = row.block();
        if matches!(load, Some(Load::Share(_))) {
            block.rate = None;
        }
        let cpus = shared_cpus(row);
        Self {
            block,
            connection: row.connection,
            granted: (row.rcvbuf_bytes, row.sndbuf_bytes),
            asked: load.map(|load| RequestConditions { load, cpus }),
        }
    }
}

/// Says whether clients and servers shared their CPUs. On one CPU, a request wakes no other CPU.
fn shared_cpus(row: &Row) -> &'static str {
    if row.direction.is_some() {
        return "two hosts";
    }
    let cpus = |side: &[Option<usize>]| side.iter().copied().collect::<Option<BTreeSet<_>>>();
    let pin = row.pin.as_ref();
    let pinned = pin.and_then(|it| cpus(&it.senders).zip(cpus(&it.receivers)));
    match pinned {
        Some((clients, servers)) if clients.union(&servers).count() == 1 => "one CPU",
        Some((_, servers)) if servers.is_empty() => "not pinned",
        Some((clients, servers)) if clients.is_disjoint(&servers) => "CPUs apart",
        Some(_) => "shared CPUs",
        None => "not pinned",
    }
}

/// Conditions that are never averaged over: the payload, one thread or more, and every value that is not the default.
/// An engine may be ten times faster at one payload and no faster at another, and the mean of both is true of
/// neither. For round trips, these are also the load, the CPUs and the number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Conditions {
    /// The first field, so that the order is by load.
    asked: Option<RequestConditions>,
    block: BlockKey,
}

impl Conditions {
    pub(super) fn of(group: &RowGroup) -> Self {
        let block = group.block;
        let threads = match group.asked {
            Some(_) => Ok(block.threads),
            None if block.threads.is_alone() => 1.try_into(),
            None => 2.try_into(),
        };
        Self {
            asked: group.asked,
            block: BlockKey {
                threads: threads.unwrap_or(block.threads),
                ip: Ip::V4,
                ..block
            },
        }
    }

    /// Returns a label for each of the conditions, without the parts that all have in common: `26 B`, `1460 B with 1
    /// thread`.
    pub(super) fn labels(all: &[Self]) -> BTreeMap<Self, String> {
        let label = |conditions: &Self| {
            let parts = conditions.parts();
            let is_common = |part: &String| all.iter().all(|one| one.parts().contains(part));
            let mut told: Vec<&String> = parts.iter().filter(|part| !is_common(part)).collect();
            // The load always is, and so is the payload if there is nothing else.
            let is_needed = told.is_empty() || conditions.asked.is_some();
            if is_needed && told.first() != Some(&&parts[0]) {
                told.insert(0, &parts[0]);
            }
            let told: Vec<&str> = told.into_iter().map(String::as_str).collect();
            told.join(" with ")
        };
        all.iter().map(|one| (*one, label(one))).collect()
    }

    /// Returns the load if there is one, the payload, the threads, and each value that is not the default, in words.
    fn parts(&self) -> Vec<String> {
        let (block, mut parts) = (&self.block, Vec::new());
        parts.extend(self.asked.map(|asked| match block.rate {
            Some(rate) => format!("{:.0}/s", rate.per_second(block.payload)),
            None => asked.load.to_string(),
        }));
        parts.push(format!("{} B", block.payload));
        parts.push(match self.asked {
            _ if block.threads.is_alone() => "1 thread".to_owned(),
            Some(_) => format!("{} threads", block.threads),
            None => "more threads".to_owned(),
        });
        parts.extend(self.asked.map(|asked| asked.cpus.to_owned()));
        // The load has the rate.
        let block = BlockKey {
            rate: block.rate.filter(|_| self.asked.is_none()),
            ..*block
        };
        parts.extend(block.unusual().map(|value| value.to_string()));
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Threads;
    use crate::host::placement::Placement;
    use crate::results::row::tests::ordinary_row;

    #[test]
    fn the_column_says_who_shared_a_cpu() {
        let two: Threads = 2.try_into().expect("in range");
        let four = 4.try_into().expect("in range");
        let placed = |threads, clients: &[usize], servers: &[usize]| {
            Placement::from_lists(threads, clients, servers)
        };
        let alone = placed(1.try_into().expect("in range"), &[1], &[]);
        for (pin, expected) in [
            (placed(two, &[0], &[0]), "one CPU"),
            (placed(two, &[1], &[0]), "CPUs apart"),
            (placed(four, &[4, 3], &[2, 1]), "CPUs apart"),
            (placed(four, &[0, 1], &[0, 1]), "shared CPUs"),
            (Some(Placement::unpinned(two)), "not pinned"),
            (None, "not pinned"),
            (alone, "one CPU"),
        ] {
            let row = Row {
                pin,
                ..ordinary_row()
            };
            assert_eq!(shared_cpus(&row), expected, "{}", row.cpus());
        }
    }
}
