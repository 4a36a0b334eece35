//! CPUs of clients and servers.

use std::collections::BTreeSet;
use std::fmt;

use crate::results::row::Row;

/// Whether clients and servers shared their CPUs. On one CPU, a request wakes no other CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SharedCpus {
    /// All threads ran on one CPU.
    One,
    /// No client had the CPU of a server.
    Apart,
    /// Some clients had the CPU of a server.
    Mixed,
    /// Threads were not pinned, or nothing is known.
    Free,
    /// Clients and servers ran on two hosts.
    TwoHosts,
}

impl SharedCpus {
    /// Returns how the threads of a row were placed, by their CPUs.
    pub(super) fn of(row: &Row) -> Self {
        if row.direction.is_some() {
            return Self::TwoHosts;
        }
        let cpus = |side: &[Option<usize>]| side.iter().copied().collect::<Option<BTreeSet<_>>>();
        let pin = row.pin.as_ref();
        let Some((clients, servers)) =
            pin.and_then(|it| cpus(&it.senders).zip(cpus(&it.receivers)))
        else {
            return Self::Free;
        };
        if clients.union(&servers).count() == 1 {
            Self::One
        } else if servers.is_empty() {
            Self::Free
        } else if clients.is_disjoint(&servers) {
            Self::Apart
        } else {
            Self::Mixed
        }
    }
}

impl fmt::Display for SharedCpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::One => "one CPU",
            Self::Apart => "CPUs apart",
            Self::Mixed => "shared CPUs",
            Self::Free => "not pinned",
            Self::TwoHosts => "two hosts",
        })
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
            (placed(two, &[0], &[0]), SharedCpus::One),
            (placed(two, &[1], &[0]), SharedCpus::Apart),
            (placed(four, &[4, 3], &[2, 1]), SharedCpus::Apart),
            (placed(four, &[0, 1], &[0, 1]), SharedCpus::Mixed),
            (Some(Placement::unpinned(two)), SharedCpus::Free),
            (None, SharedCpus::Free),
            (alone, SharedCpus::One),
        ] {
            let row = Row {
                pin,
                ..ordinary_row()
            };
            assert_eq!(SharedCpus::of(&row), expected, "{}", row.cpus());
        }
    }
}
