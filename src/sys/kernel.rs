//! What the kernel as a whole dropped on the way between two sockets.

use std::fs;

/// Datagrams that this network namespace, and the backlog queues of this machine, have discarded so far
/// before any socket saw them.
///
/// These counters are not ours alone: other programs move them too. The books therefore use them only
/// to explain a shortfall, and never beyond it.
pub fn discarded() -> u64 {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    snmp_discards(&read("/proc/net/snmp"))
        + snmp6_discards(&read("/proc/net/snmp6"))
        + backlog_drops(&read("/proc/net/softnet_stat"))
}

/// `InDiscards`, `OutDiscards` and `ReasmFails` of the `Ip:` pair of lines, names first, values second.
fn snmp_discards(text: &str) -> u64 {
    let mut lines = text.lines().filter(|line| line.starts_with("Ip:"));
    let (Some(names), Some(values)) = (lines.next(), lines.next()) else {
        return 0;
    };
    names
        .split_whitespace()
        .zip(values.split_whitespace())
        .filter(|(name, _)| ["InDiscards", "OutDiscards", "ReasmFails"].contains(name))
        .filter_map(|(_, value)| value.parse::<u64>().ok())
        .sum()
}

/// The same for IPv6: one name and value per line.
fn snmp6_discards(text: &str) -> u64 {
    text.lines()
        .filter_map(|line| {
            let mut fields = line.split_whitespace();
            let name = fields.next()?;
            let counted = ["Ip6InDiscards", "Ip6OutDiscards", "Ip6ReasmFails"].contains(&name);
            fields.next()?.parse::<u64>().ok().filter(|_| counted)
        })
        .sum()
}

/// Second column, in hexadecimal, of each CPU's line: packets that found the backlog full
/// (`net.core.netdev_max_backlog`).
fn backlog_drops(text: &str) -> u64 {
    text.lines()
        .filter_map(|line| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_their_names() {
        let snmp = "Ip: Forwarding InDiscards OutDiscards ReasmFails\nIp: 1 20 300 4000\n\
                    Udp: InDatagrams\nUdp: 7\n";
        assert_eq!(snmp_discards(snmp), 4320);
        let snmp6 = "Ip6InReceives 9\nIp6InDiscards 1\nIp6ReasmFails 20\nUdp6InErrors 5\n";
        assert_eq!(snmp6_discards(snmp6), 21);
        let softnet = "00000100 00000002 00000000\n00000100 0000000a 00000000\n";
        assert_eq!(backlog_drops(softnet), 12);
    }

    #[test]
    fn what_is_missing_counts_as_nothing() {
        assert_eq!(snmp_discards("Ip:"), 0);
        assert_eq!(snmp6_discards("Ip6InDiscards"), 0);
        assert_eq!(backlog_drops("zz"), 0);
    }
}
