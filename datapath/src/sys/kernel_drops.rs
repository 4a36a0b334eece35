//! Counts packets that the kernel dropped between two sockets, by protocol and by backlog queue
//! (`/proc/net/softnet_stat`: `softnet_seq_show`, net/core/net-procfs.c).

use std::fs;

use serde::{Deserialize, Serialize};

use super::protocols::Protocols;

/// Counters, since boot, of packets that this network namespace and the backlog queues of this machine discarded before
/// any socket saw them. They are compared with an earlier reading.
///
/// Other programs move these counters as well. The accounting therefore uses them only to explain a shortfall, and
/// never beyond it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discards {
    ip: u64,
    softnet: Vec<Softnet>,
}

/// Packets discarded between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discarded {
    /// Packets discarded by the protocols, in this network namespace.
    pub in_network: u64,
    /// Packets discarded by the backlog queues, on this machine.
    pub in_backlog: u64,
}

impl Discarded {
    /// Returns the sum of both.
    pub fn total(self) -> u64 {
        self.in_network + self.in_backlog
    }

    /// Returns the mean of each field of two.
    pub fn midpoint(a: Self, b: Self) -> Self {
        Self {
            in_network: u64::midpoint(a.in_network, b.in_network),
            in_backlog: u64::midpoint(a.in_backlog, b.in_backlog),
        }
    }
}

impl Discards {
    /// Reads the counters. A missing counter stays 0.
    pub fn read() -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        Self {
            ip: protocol_discards(&read("/proc/net/snmp"), &read("/proc/net/snmp6")),
            softnet: read_softnet(),
        }
    }

    /// Returns the packets discarded since `before`.
    pub fn since(&self, before: &Self) -> Discarded {
        // There is one line per CPU that is online. If a CPU came or went, the lines do not match any more.
        let is_alike = self.softnet.len() == before.softnet.len();
        let cpus = self.softnet.iter().zip(&before.softnet);
        let backlog = cpus.filter(|_| is_alike).map(|(now, then)| {
            let dropped = now.dropped.wrapping_sub(then.dropped);
            u64::from(dropped)
        });
        Discarded {
            in_network: self.ip.saturating_sub(before.ip),
            in_backlog: backlog.sum(),
        }
    }
}

/// Returns whether no packet waits for the softirq of any CPU. `None`: the kernel does not tell.
pub fn backlog_is_empty() -> Option<bool> {
    all_waiting(&read_softnet()).map(|waiting| waiting == 0)
}

fn all_waiting(softnet: &[Softnet]) -> Option<u64> {
    if softnet.is_empty() {
        return None;
    }
    softnet.iter().map(|cpu| cpu.waiting.map(u64::from)).sum()
}

/// Counters of packets that were discarded, or rejected with a message to their sender. They stand for IPv6 as well.
const COUNTERS: [&str; 4] = [
    "IpInDiscards",
    "IpOutDiscards",
    "IpReasmFails",
    "IcmpInDestUnreachs",
];

fn protocol_discards(snmp: &str, snmp6: &str) -> u64 {
    let all = Protocols::parse(snmp, snmp6);
    COUNTERS.iter().map(|name| all.both(name)).sum()
}

/// Counters of a CPU since boot, for all network namespaces. The kernel keeps 32 bits (`struct softnet_data`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Softnet {
    /// Packets that the softirq of this CPU took off a device, loopback included, or off its backlog.
    pub processed: u32,
    /// Packets that found the backlog full (`net.core.netdev_max_backlog`).
    pub dropped: u32,
    /// Times that the softirq ended with packets left, because its budget or its time was used up.
    pub squeezed: u32,
    /// Packets that wait for the softirq now. `None`: before Linux 5.7.
    pub waiting: Option<u32>,
}

/// Reads the counters of each CPU that is online. Empty: the file is not readable.
pub fn read_softnet() -> Vec<Softnet> {
    parse_softnet(&fs::read_to_string("/proc/net/softnet_stat").unwrap_or_default())
}

/// Parses one line of hexadecimal columns per CPU.
pub fn parse_softnet(text: &str) -> Vec<Softnet> {
    let of_cpu = |line: &str| {
        let column = |index| u32::from_str_radix(line.split_whitespace().nth(index)?, 16).ok();
        Some(Softnet {
            processed: column(0)?,
            dropped: column(1)?,
            squeezed: column(2).unwrap_or(0),
            waiting: column(11),
        })
    };
    text.lines().filter_map(of_cpu).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_their_names() {
        let snmp = "Ip: Forwarding InDiscards OutDiscards ReasmFails\nIp: 1 20 300 4000\n\
                    Icmp: InMsgs InDestUnreachs\nIcmp: 7 50000\nUdp: InDatagrams\nUdp: 7\n";
        assert_eq!(protocol_discards(snmp, ""), 54_320);
        let snmp6 = "Ip6InReceives 9\nIp6InDiscards 1\nIp6ReasmFails 20\nUdp6InErrors 5\n";
        assert_eq!(protocol_discards(snmp, snmp6), 54_341);
    }

    #[test]
    fn what_is_missing_counts_as_nothing() {
        assert_eq!(protocol_discards("Ip:", "Ip6InDiscards"), 0);
        assert_eq!(parse_softnet("zz"), []);
    }

    #[test]
    fn packets_wait_where_any_cpu_has_some() {
        let all_waiting = |text: &str| all_waiting(&parse_softnet(text));
        let line = |waiting| format!("{}{waiting:08x} 00000001\n", "00000007 ".repeat(11));
        assert_eq!(all_waiting(&line(0)), Some(0));
        assert_eq!(all_waiting(&[line(0), line(10)].concat()), Some(10));
        assert_eq!(all_waiting("00000007 00000000 00000000\n"), None);
    }

    #[test]
    fn a_counter_of_32_bits_may_begin_anew() {
        let discards = |ip, backlog: &[u32]| Discards {
            ip,
            softnet: backlog
                .iter()
                .map(|&dropped| Softnet {
                    dropped,
                    ..Softnet::default()
                })
                .collect(),
        };
        let before = discards(100, &[u32::MAX - 1, 7]);
        assert_eq!(discards(103, &[3, 8]).since(&before).total(), 3 + 5 + 1);
        // A CPU went offline.
        assert_eq!(discards(103, &[8]).since(&before).total(), 3);
    }

    #[test]
    fn columns_are_hexadecimal_and_the_later_ones_may_be_missing() {
        let line = "00000100 0000000a 00000003 0 0 0 0 0 0 00000010 00000000 00000002 00000001";
        let cpu = Softnet {
            processed: 256,
            dropped: 10,
            squeezed: 3,
            waiting: Some(2),
        };
        assert_eq!(parse_softnet(line), [cpu]);
        let old = parse_softnet("00000100 00000002 00000000\nzz\n");
        assert_eq!((old.len(), old[0].dropped, old[0].waiting), (1, 2, None));
    }
}
