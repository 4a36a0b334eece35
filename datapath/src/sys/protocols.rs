//! What IP and UDP counted in this network namespace: `/proc/net/snmp` and `/proc/net/snmp6` (net/ipv4/proc.c,
//! net/ipv6/proc.c).

use std::fs;

/// Counters of IP and UDP since the namespace was made, both versions added up.
///
/// They are `unsigned long`: 32 bits on a 32-bit kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Protocols {
    /// Headers that are wrong, or whose time to live is used up.
    pub in_hdr_errors: u64,
    /// For an address that is not of this host, which does not forward.
    pub in_addr_errors: u64,
    /// No route to forward it by (IPv6 only).
    pub in_no_routes: u64,
    /// Packets that came to IP: a GRO aggregate, and each fragment, counts once.
    pub in_receives: u64,
    /// Frames that came to IP: a GRO aggregate counts as the frames that are in it (`InNoECTPkts` and its like).
    pub in_frames: u64,
    /// Packets handed to a protocol above IP, behind all hooks of a firewall.
    pub in_delivers: u64,
    /// Forwarded.
    pub forwarded: u64,
    /// Multicast and broadcast packets that came.
    pub to_many: u64,
    /// Fragments that came.
    pub reasm_requests: u64,
    /// Packets put together of fragments.
    pub reasm_oks: u64,
    /// For a protocol that nobody here speaks.
    pub in_unknown_protos: u64,
    /// Discarded on the way in without being wrong.
    pub in_discards: u64,
    /// Discarded on the way out: among them, once more, what the qdisc dropped (`ip_send_skb`).
    pub out_discards: u64,
    /// No route to send it by. `send` says so.
    pub out_no_routes: u64,
    /// Datagrams whose fragments did not all arrive in time, or found no memory.
    pub reasm_fails: u64,
    /// Too large for the link, and not to be fragmented.
    pub frag_fails: u64,
    /// For a port that no socket has.
    pub no_ports: u64,
    /// All that UDP could not deliver: `rcvbuf_errors`, `in_csum_errors` and `mem_errors` are in it.
    pub in_errors: u64,
    /// The socket's receive buffer was full.
    pub rcvbuf_errors: u64,
    /// `send` found the send buffer full, or the qdisc dropped the datagram, which `send` tells only with
    /// `IP_RECVERR` (`udp_send_skb`, `udp_sendmsg`).
    pub sndbuf_errors: u64,
    /// Wrong checksum.
    pub in_csum_errors: u64,
    /// The memory of all of UDP was used up (`net.ipv4.udp_mem`).
    pub mem_errors: u64,
}

impl Protocols {
    /// Reads them. One that is not there stays 0.
    ///
    /// They are those of the thread's namespace: `/proc/net` shows that of the process.
    pub fn read() -> Self {
        let read = |file| fs::read_to_string(format!("/proc/thread-self/net/{file}"));
        let [snmp, netstat, snmp6] =
            ["snmp", "netstat", "snmp6"].map(|it| read(it).unwrap_or_default());
        Self::parse(&[snmp, netstat].concat(), &snmp6)
    }

    /// Packets that IP lost on the way in.
    pub fn ip_in_drops(&self) -> u64 {
        let wrong = self.in_hdr_errors + self.in_addr_errors + self.in_unknown_protos;
        wrong + self.in_no_routes + self.in_discards + self.reasm_fails
    }

    /// Packets that came to IP and whose end is known: delivered, forwarded, put together, or lost and counted. What a
    /// firewall drops (netfilter) is not among them. All multicast is added, as some of it is for nobody here.
    pub fn ip_in_ended(&self) -> u64 {
        let lost = self.ip_in_drops() - self.reasm_fails;
        let merged = self.reasm_requests.saturating_sub(self.reasm_oks);
        self.in_delivers + self.forwarded + lost + merged + self.to_many
    }

    /// Datagrams that UDP lost on the way in for other reasons than a full receive buffer
    /// (`__udp_queue_rcv_skb` counts those as errors, too).
    pub fn udp_errors_without_rcvbuf(&self) -> u64 {
        self.in_errors.wrapping_sub(self.rcvbuf_errors)
    }

    fn parse(snmp: &str, snmp6: &str) -> Self {
        let mut all = Self::default();
        for (protocol, name, value) in counters(snmp) {
            all.count(protocol, name, value);
        }
        for (name, value) in counters_v6(snmp6) {
            for protocol in ["Ip", "Udp"] {
                // `UdpLite6InErrors` has another digit behind `Udp`.
                let of_it = name.strip_prefix(protocol);
                if let Some(name) = of_it.and_then(|name| name.strip_prefix('6')) {
                    all.count(protocol, name, value);
                }
            }
        }
        all
    }

    fn count(&mut self, protocol: &str, name: &str, value: u64) {
        let counter = match (protocol, name) {
            ("Ip", "InHdrErrors") => &mut self.in_hdr_errors,
            ("Ip", "InAddrErrors") => &mut self.in_addr_errors,
            ("Ip", "InNoRoutes") => &mut self.in_no_routes,
            ("Ip", "InUnknownProtos") => &mut self.in_unknown_protos,
            ("Ip", "InReceives") => &mut self.in_receives,
            ("Ip" | "IpExt", "InNoECTPkts" | "InECT1Pkts" | "InECT0Pkts" | "InCEPkts") => {
                &mut self.in_frames
            }
            ("Ip" | "IpExt", "InMcastPkts" | "InBcastPkts") => &mut self.to_many,
            ("Ip", "InDelivers") => &mut self.in_delivers,
            ("Ip", "ForwDatagrams" | "OutForwDatagrams") => &mut self.forwarded,
            ("Ip", "ReasmReqds") => &mut self.reasm_requests,
            ("Ip", "ReasmOKs") => &mut self.reasm_oks,
            ("Ip", "InDiscards") => &mut self.in_discards,
            ("Ip", "OutDiscards") => &mut self.out_discards,
            ("Ip", "OutNoRoutes") => &mut self.out_no_routes,
            ("Ip", "ReasmFails") => &mut self.reasm_fails,
            ("Ip", "FragFails") => &mut self.frag_fails,
            ("Udp", "NoPorts") => &mut self.no_ports,
            ("Udp", "InErrors") => &mut self.in_errors,
            ("Udp", "RcvbufErrors") => &mut self.rcvbuf_errors,
            ("Udp", "SndbufErrors") => &mut self.sndbuf_errors,
            ("Udp", "InCsumErrors") => &mut self.in_csum_errors,
            ("Udp", "MemErrors") => &mut self.mem_errors,
            _ => return,
        };
        *counter = counter.wrapping_add(value);
    }
}

/// Protocol, name and value of each counter: a pair of lines for each protocol, names first, values second.
pub fn counters(snmp: &str) -> impl Iterator<Item = (&str, &str, u64)> {
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

/// Name and value of each counter: one per line.
pub fn counters_v6(snmp6: &str) -> impl Iterator<Item = (&str, u64)> {
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
        let expected = Protocols {
            in_discards: 21,
            reasm_fails: 4000,
            no_ports: 5,
            in_errors: 63,
            rcvbuf_errors: 52,
            ..Protocols::default()
        };
        assert_eq!(Protocols::parse(snmp, snmp6), expected);
    }

    #[test]
    fn what_a_firewall_drops_came_to_ip_and_has_no_end() {
        let snmp = "Ip: InReceives InDelivers ForwDatagrams InHdrErrors ReasmReqds ReasmOKs\nIp: 100 40 5 3 24 8\n\
                    IpExt: InMcastPkts InNoECTPkts InECT0Pkts\nIpExt: 2 120 4\n";
        let found = Protocols::parse(snmp, "Ip6InReceives 10\nIp6InDelivers 9\nIp6InCEPkts 10\n");
        assert_eq!((found.in_receives, found.in_frames), (110, 134));
        assert_eq!(found.ip_in_ended(), 40 + 5 + 3 + 16 + 9 + 2);
    }

    #[test]
    fn torn_files_and_negative_numbers_are_passed_over() {
        let torn = "Tcp: MaxConn ActiveOpens\nTcp: -1 7\nUdp: NoPorts";
        assert_eq!(
            counters(torn).collect::<Vec<_>>(),
            [("Tcp", "ActiveOpens", 7)]
        );
        assert_eq!(
            Protocols::parse(torn, "Ip6InDiscards"),
            Protocols::default()
        );
    }
}
