//! Counters of IP and UDP in a network namespace: `/proc/net/snmp`, `netstat` and `snmp6` (net/ipv4/proc.c,
//! net/ipv6/proc.c).

use std::collections::BTreeMap;
use std::fs;

use super::loss_places::{IP_WITHOUT_END, Layer, PLACES};

/// Counters of IP and UDP since the namespace was made, by the names of nstat(8): `UdpInErrors`, `Udp6InErrors`,
/// `IpExtInNoRoutes`.
///
/// The kernel's type is `unsigned long`: 32 bits on a 32-bit kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Protocols(pub BTreeMap<String, u64>);

impl Protocols {
    /// Reads the counters of the calling thread's network namespace.
    pub fn read() -> Self {
        // `/proc/net` would show the namespace of the process.
        Self::of_process("thread-self")
    }

    /// Reads the counters of a process's network namespace: a directory of `/proc`, such as `42`.
    pub fn of_process(process: &str) -> Self {
        let read = |file| fs::read_to_string(format!("/proc/{process}/net/{file}"));
        let [snmp, netstat, snmp6] =
            ["snmp", "netstat", "snmp6"].map(|it| read(it).unwrap_or_default());
        Self::parse(&[snmp, netstat].concat(), &snmp6)
    }

    /// Returns a counter of IPv4, by its name there, plus the same of IPv6. A missing counter is 0.
    pub fn both(&self, name: &str) -> u64 {
        let names = both(name);
        names.filter_map(|name| self.0.get(&name)).sum()
    }

    /// Returns the datagrams that sockets took out of their queues. An aggregate of GRO counts once.
    pub fn in_datagrams(&self) -> u64 {
        self.both("UdpInDatagrams")
    }

    /// Returns the frames received by IP. A GRO aggregate counts as the frames in it. `None`: the kernel does not tell.
    pub fn in_frames(&self) -> Option<u64> {
        let is_told = self.0.contains_key("IpExtInNoECTPkts");
        let by_mark = ["InNoECTPkts", "InECT1Pkts", "InECT0Pkts", "InCEPkts"];
        let by_mark = by_mark.map(|name| self.both(&format!("IpExt{name}")));
        is_told.then(|| by_mark.iter().sum())
    }

    /// Returns the packets that IP lost on the way in.
    pub fn ip_in_drops(&self) -> u64 {
        let of_ip = PLACES.iter().filter(|place| place.layer == Layer::Ip);
        let of_ip = of_ip.filter(|place| place.unless.is_empty());
        let sum = |names: &[String]| names.iter().map(|name| self.both(name)).sum::<u64>();
        of_ip
            .map(|place| sum(&place.counters).saturating_sub(sum(&place.less)))
            .sum()
    }

    /// Returns the packets that came to IP and whose end is known: delivered, forwarded, reassembled, or lost and
    /// counted. Drops by a firewall (netfilter) are not included. All multicast is added, as some of it is for nobody
    /// on this host.
    pub fn ip_in_ended(&self) -> u64 {
        let ended: u64 = IP_WITHOUT_END.less.iter().map(|name| self.both(name)).sum();
        ended.saturating_sub(self.both("IpReasmOKs"))
    }

    /// Returns the datagrams that UDP lost on the way in for other reasons than a full receive buffer
    /// (`__udp_queue_rcv_skb` counts a full buffer as an error, and again in its own counter).
    pub fn udp_errors_without_rcvbuf(&self) -> u64 {
        self.both("UdpInErrors")
            .saturating_sub(self.both("UdpRcvbufErrors"))
    }

    pub(super) fn parse(snmp: &str, snmp6: &str) -> Self {
        let of_v4 =
            counters(snmp).map(|(protocol, name, value)| (format!("{protocol}{name}"), value));
        let of_v6 = counters_by_line(snmp6).map(|(name, value)| (name.to_owned(), value));
        Self(of_v4.chain(of_v6).collect())
    }
}

/// Returns the names of a counter for IPv4 and for IPv6, as nstat(8) has them.
pub fn both(name: &str) -> impl Iterator<Item = String> {
    let of_v6 = ["IpExt", "Ip", "Udp", "Icmp"].iter().find_map(|protocol| {
        let rest = name.strip_prefix(protocol)?;
        Some(format!("{}6{rest}", protocol.trim_end_matches("Ext")))
    });
    [Some(name.to_owned()), of_v6].into_iter().flatten()
}

/// Returns protocol, name and value of each counter in the format of `/proc/net/snmp`: two lines per protocol, the
/// names first.
fn counters(snmp: &str) -> impl Iterator<Item = (&str, &str, u64)> {
    let mut lines = snmp.lines();
    let pairs = std::iter::from_fn(move || {
        let (protocol, names) = lines.next()?.split_once(':')?;
        let (_, values) = lines.next()?.split_once(':')?;
        Some((protocol, names, values))
    });
    pairs.flat_map(|(protocol, names, values)| {
        let columns = names.split_whitespace().zip(values.split_whitespace());
        columns.filter_map(move |(name, value)| Some((protocol, name, value.parse().ok()?)))
    })
}

/// Returns name and value of each counter in the format of `/proc/net/snmp6` and `xfrm_stat`: one per line.
pub(super) fn counters_by_line(snmp6: &str) -> impl Iterator<Item = (&str, u64)> {
    snmp6.lines().filter_map(|line| {
        let (name, value) = line.split_once(char::is_whitespace)?;
        Some((name, value.trim().parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_added_up() {
        let snmp = "Ip: Forwarding InDiscards ReasmFails\nIp: 1 20 4000\n\
                    Udp: NoPorts InErrors RcvbufErrors\nUdp: 5 60 50\n\
                    UdpLite: NoPorts InErrors\nUdpLite: 900 900\n";
        let snmp6 = "Ip6InDiscards                   \t1\nUdp6RcvbufErrors                \t2\n\
                     UdpLite6InErrors                \t900\nUdp6InErrors   \t3\n";
        let found = Protocols::parse(snmp, snmp6);
        assert_eq!(found.ip_in_drops(), 4021);
        assert_eq!(found.both("UdpNoPorts"), 5);
        assert_eq!(found.both("UdpRcvbufErrors"), 52);
        assert_eq!(found.udp_errors_without_rcvbuf(), 11);
    }

    #[test]
    fn what_a_firewall_drops_came_to_ip_and_has_no_end() {
        let snmp = "Ip: InReceives InDelivers ForwDatagrams InHdrErrors ReasmReqds ReasmOKs\nIp: 100 40 5 3 24 8\n\
                    IpExt: InMcastPkts InNoECTPkts InECT0Pkts\nIpExt: 2 120 4\n\
                    TcpExt: IPReversePathFilter\nTcpExt: 7\n";
        let found = Protocols::parse(snmp, "Ip6InReceives 10\nIp6InDelivers 9\nIp6InCEPkts 10\n");
        assert_eq!(
            (found.both("IpInReceives"), found.in_frames()),
            (110, Some(134))
        );
        assert_eq!(found.ip_in_ended(), 40 + 5 + 3 + 16 + 9 + 2 + 7);
    }

    #[test]
    fn torn_files_and_negative_numbers_are_passed_over() {
        let torn = "Tcp: MaxConn ActiveOpens\nTcp: -1 7\nUdp: NoPorts";
        assert_eq!(
            counters(torn).collect::<Vec<_>>(),
            [("Tcp", "ActiveOpens", 7)]
        );
        let found = Protocols::parse(torn, "Ip6InDiscards");
        assert_eq!(found.0.len(), 1);
    }
}
