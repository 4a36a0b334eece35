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
    /// Returns how the threads of a row were placed, by its column `pin`.
    pub(super) fn of(row: &Row) -> Self {
        if row.direction.is_some() {
            return Self::TwoHosts;
        }
        let Some((clients, servers)) = cpus(&row.pin) else {
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

/// Returns the value of `--pin` that puts clients and servers on one CPU, from the column of rows with others.
pub(super) fn pin_to_one(pin: &str) -> Option<String> {
    let (_, servers) = cpus(pin)?;
    let cpu = servers.first()?;
    let threads = |side: &str| vec![cpu.to_string(); side.split(',').count()].join(",");
    let (clients, servers) = pin.split_once('>')?;
    Some(format!("{}:{}", threads(clients), threads(servers)))
}

/// Reads the column `pin`: the CPUs of clients and of servers, as in `2,1>3,0`. `None`: none are known.
fn cpus(pin: &str) -> Option<(BTreeSet<u32>, BTreeSet<u32>)> {
    let list = |list: &str| -> Option<BTreeSet<u32>> {
        let cpus = list.split(',').map(|cpu| cpu.trim().parse().ok());
        cpus.collect()
    };
    match pin.split_once('>') {
        Some((clients, servers)) => list(clients).zip(list(servers)),
        None => list(pin).map(|cpus| (cpus, BTreeSet::new())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::tests::ordinary_row;

    #[test]
    fn the_column_says_who_shared_a_cpu() {
        for (pin, expected) in [
            ("0>0", SharedCpus::One),
            ("1>0", SharedCpus::Apart),
            ("2,3>0,1", SharedCpus::Apart),
            ("0,1>0,1", SharedCpus::Mixed),
            ("none", SharedCpus::Free),
            ("", SharedCpus::Free),
            ("1", SharedCpus::One),
        ] {
            let row = Row {
                pin: pin.to_owned(),
                ..ordinary_row()
            };
            assert_eq!(SharedCpus::of(&row), expected, "{pin}");
        }
    }

    #[test]
    fn the_option_for_one_cpu_has_a_cpu_for_each_thread() {
        assert_eq!(pin_to_one("1>0").as_deref(), Some("0:0"));
        assert_eq!(pin_to_one("4,3>2,1").as_deref(), Some("1,1:1,1"));
        assert_eq!(pin_to_one("none"), None);
    }
}
