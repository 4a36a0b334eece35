//! Counters of IP and UDP in this network namespace: `/proc/net/snmp` and `/proc/net/snmp6` (net/ipv4/proc.c,
//! net/ipv6/proc.c).

use std::fs;

/// Counters of IP and UDP since the namespace was made, IPv4 and IPv6 added up.
///
/// The kernel's type is `unsigned long`: 32 bits on a 32-bit kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Protocols {
    /// Packets received with a bad header, or with their time to live used up.
    pub in_hdr_errors: u64,
    /// Packets received for an address that is not of this host, which does not forward.
    pub in_addr_errors: u64,
    /// Packets received without a route to forward them by (IPv6 only).
    pub in_no_routes: u64,
    /// Packets received by IP. A GRO aggregate counts once, and so does each fragment.
    pub in_receives: u64,
    /// Frames received by IP. A GRO aggregate counts as the frames in it (`InNoECTPkts` and similar).
    pub in_frames: u64,
    /// Packets handed to a protocol above IP, behind all hooks of a firewall.
    pub in_delivers: u64,
    /// Packets forwarded.
    pub forwarded: u64,
    /// Multicast and broadcast packets received.
    pub to_many: u64,
    /// Fragments received.
    pub reasm_requests: u64,
    /// Packets reassembled from fragments.
    pub reasm_oks: u64,
    /// Packets received for a protocol that this host does not have.
    pub in_unknown_protos: u64,
    /// Packets discarded on the way in although nothing was wrong with them.
    pub in_discards: u64,
    /// Packets discarded on the way out. They include packets that the qdisc dropped (`ip_send_skb`).
    pub out_discards: u64,
    /// Packets without a route to send them by. `send` fails for these.
    pub out_no_routes: u64,
    /// Datagrams whose fragments did not all arrive in time, or found no memory.
    pub reasm_fails: u64,
    /// Packets that were too large for the link and must not be fragmented.
    pub frag_fails: u64,
    /// Datagrams that sockets took out of their queues. An aggregate of GRO counts once.
    pub in_datagrams: u64,
    /// Datagrams for a port that no socket has.
    pub no_ports: u64,
    /// Datagrams that UDP could not deliver. Includes `rcvbuf_errors`, `in_csum_errors` and `mem_errors`.
    pub in_errors: u64,
    /// Datagrams dropped at a full receive buffer of a socket.
    pub rcvbuf_errors: u64,
    /// Datagrams not sent because the send buffer was full or the qdisc dropped them. `send` reports a drop of the
    /// qdisc only with `IP_RECVERR` (`udp_send_skb`, `udp_sendmsg`).
    pub sndbuf_errors: u64,
    /// Datagrams with a wrong checksum.
    pub in_csum_errors: u64,
    /// Datagrams dropped because all memory of UDP was used up (`net.ipv4.udp_mem`).
    pub mem_errors: u64,
}

impl Protocols {
    /// Reads the counters of the calling thread's network namespace. A missing counter stays 0.
    pub fn read() -> Self {
        // `/proc/net` would show the namespace of the process.
        Self::of_process("thread-self")
    }

    /// Reads the counters of a process's network namespace: a directory of `/proc`, such as `42`. A missing counter
    /// stays 0.
    pub fn of_process(process: &str) -> Self {
        let read = |file| fs::read_to_string(format!("/proc/{process}/net/{file}"));
        let [snmp, netstat, snmp6] =
            ["snmp", "netstat", "snmp6"].map(|it| read(it).unwrap_or_default());
        Self::parse(&[snmp, netstat].concat(), &snmp6)
    }

    /// Returns the packets that IP lost on the way in.
    pub fn ip_in_drops(&self) -> u64 {
        let wrong = self.in_hdr_errors + self.in_addr_errors + self.in_unknown_protos;
        wrong + self.in_no_routes + self.in_discards + self.reasm_fails
    }

    /// Returns the packets that came to IP and whose end is known: delivered, forwarded, reassembled, or lost and
    /// counted. Drops by a firewall (netfilter) are not included. All multicast is added, as some of it is for nobody
    /// on this host.
    pub fn ip_in_ended(&self) -> u64 {
        let lost = self.ip_in_drops() - self.reasm_fails;
        let merged = self.reasm_requests.saturating_sub(self.reasm_oks);
        self.in_delivers + self.forwarded + lost + merged + self.to_many
    }

    /// Returns the datagrams that UDP lost on the way in for other reasons than a full receive buffer
    /// (`__udp_queue_rcv_skb` counts a full buffer as an error, and again in its own counter).
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
                // `UdpLite6InErrors` starts with `Udp`, but no `6` follows.
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
            ("Udp", "InDatagrams") => &mut self.in_datagrams,
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

/// Returns protocol, name and value of each counter in the format of `/proc/net/snmp`: two lines per protocol, the
/// names first.
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

/// Returns name and value of each counter in the format of `/proc/net/snmp6`: one per line.
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
