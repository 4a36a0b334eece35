//! The places between an interface and a socket where this host loses datagrams: what the kernel counts there, and what
//! to type next. Everything that names a loss reads this table.

use std::collections::BTreeMap;

/// Part of the way in, in the order of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The interface and its driver.
    Interface,
    /// Programs and filters at the interface, and what is for others.
    Link,
    /// Queue of a CPU.
    Backlog,
    /// IP.
    Ip,
    /// Netfilter, IPsec, security modules.
    Firewall,
    /// UDP, before a socket is found.
    Udp,
    /// A socket.
    Socket,
    /// The way out, which no receiver has to do with.
    Out,
}

/// A place that loses datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossPlace {
    /// Name.
    pub what: &'static str,
    /// Part of the way.
    pub layer: Layer,
    /// Counters: of IP and UDP by their names in nstat(8), which stand for IPv6 as well (`UdpNoPorts`); of a file of
    /// `/proc/net` after its name (`nf_conntrack drop`); of an interface after a star (`* rx_dropped`).
    pub counters: &'static [&'static str],
    /// Counters and reasons of other places that `counters` and `reasons` contain.
    pub less: &'static [&'static str],
    /// Counters that say that nothing was lost if one of them moved, and names of places that explain the loss.
    pub unless: &'static [&'static str],
    /// File of the counters.
    pub file: &'static str,
    /// Linux version that brought the counters. Empty: all that Rust runs on.
    pub since: &'static str,
    /// The kernel's drop reasons (`enum skb_drop_reason`, since Linux 5.17).
    pub reasons: &'static [&'static str],
    /// True if what tells of it is of all network namespaces of the machine, and each packet that came to one and was
    /// delivered is none of it.
    pub is_of_machine: bool,
    /// True if packets that are not for this host end here every day: no loss by itself.
    pub is_common: bool,
    /// Cause.
    pub why: &'static str,
    /// Command to type next. `IF` is the interface.
    pub next: &'static str,
}

impl LossPlace {
    /// Returns whether it is a full receive buffer.
    pub fn is_full(&self) -> bool {
        self.counters == ["UdpRcvbufErrors"]
    }

    /// Returns whether it counts fragments, which wait for others of their datagram.
    pub fn is_of_fragments(&self) -> bool {
        let mut counters = self.counters.iter();
        counters.any(|counter| counter.starts_with("IpReasm"))
    }

    /// Returns the command to type next, with the name of an interface.
    pub fn next_at(&self, interface: &str) -> String {
        let mut text = self.next.to_owned();
        for (before, after) in [(" ", " "), (" ", ";"), (" ", "\n"), (".", ".")] {
            text = text.replace(
                &format!("{before}IF{after}"),
                &format!("{before}{interface}{after}"),
            );
        }
        match text.strip_suffix(" IF") {
            Some(start) => format!("{start} {interface}"),
            None => text,
        }
    }
}

const PLACE: LossPlace = LossPlace {
    what: "",
    layer: Layer::Ip,
    counters: &[],
    less: &[],
    unless: &[],
    file: "",
    since: "",
    reasons: &[],
    is_of_machine: false,
    is_common: false,
    why: "",
    next: "",
};

/// Counters of datagrams that a policy of IPsec refused at a socket (net/xfrm/xfrm_policy.c, `__xfrm_policy_check`).
const IPSEC: [&str; 4] = [
    "XfrmInNoPols",
    "XfrmInPolBlock",
    "XfrmInPolError",
    "XfrmInTmplMismatch",
];
const SNMP: &str = "/proc/net/snmp, snmp6";
const NETSTAT: &str = "/proc/net/netstat, snmp6";
const LINK: &str = "ip -s -s link";

/// All places, in the order of a datagram's way in.
pub const PLACES: &[LossPlace] = &[
    LossPlace {
        what: "interface without a free buffer",
        layer: Layer::Interface,
        counters: &["* rx_missed_errors"],
        file: LINK,
        why: "the CPU took frames off the interface more slowly than they came",
        next: "udpbench check --interface IF",
        ..PLACE
    },
    LossPlace {
        what: "damaged frames",
        layer: Layer::Interface,
        counters: &["* rx_errors"],
        file: LINK,
        why: "a bad cable or connector, another duplex mode at the other end, or frames that are too long",
        next: "ethtool -S IF",
        ..PLACE
    },
    LossPlace {
        what: "driver of the interface",
        layer: Layer::Interface,
        counters: &["* driver"],
        file: "ethtool -S",
        why: "its own counters name the cause",
        next: "udpbench check --interface IF",
        ..PLACE
    },
    LossPlace {
        what: "XDP program",
        layer: Layer::Link,
        counters: &["* rx_queue_#_xdp_drops"],
        file: "ethtool -S",
        since: "4.20",
        reasons: &["XDP"],
        why: "it is loaded at the interface and decides before the kernel does",
        next: "ip link show dev IF",
        ..PLACE
    },
    LossPlace {
        what: "XDP program (generic)",
        layer: Layer::Link,
        // The kernel has no counter of its drops: frames that came in and never came to IP.
        counters: &["* xdp_generic"],
        less: &[
            "IpExtInNoECTPkts",
            "IpExtInECT1Pkts",
            "IpExtInECT0Pkts",
            "IpExtInCEPkts",
            "* rx_otherhost_dropped",
            "* ingress_drops",
        ],
        file: "ip -s link, /proc/net/netstat",
        why: "it is loaded at the interface and decides before the rest of the kernel does",
        next: "ip link show dev IF",
        ..PLACE
    },
    LossPlace {
        what: "frames that nobody here takes, or longer than the MTU",
        layer: Layer::Link,
        counters: &["* rx_dropped"],
        less: &["softnet dropped"],
        file: LINK,
        reasons: &["UNHANDLED_PROTO", "NOMEM", "PFMEMALLOC", "DEV_READY"],
        is_common: true,
        why: "frames of protocols that nobody here takes (LLDP, STP), longer than the interface's MTU, or without \
              memory for them; or the interface was being set down",
        next: "ip link show dev IF; sudo tcpdump -eni IF -c 20 not ip",
        ..PLACE
    },
    LossPlace {
        what: "standby interface",
        layer: Layer::Link,
        counters: &["* rx_nohandler"],
        file: LINK,
        since: "4.6",
        is_common: true,
        why: "it is the inactive port of a bond",
        next: "ip -d link show dev IF",
        ..PLACE
    },
    LossPlace {
        what: "tc filter of the interface",
        layer: Layer::Link,
        counters: &["* ingress_drops"],
        file: "tc -s qdisc",
        reasons: &[
            "TC_INGRESS",
            "TC_CHAIN_NOTFOUND",
            "TC_RECLASSIFY_LOOP",
            "TC_COOKIE_ERROR",
        ],
        why: "its qdisc ingress or clsact has a filter that drops",
        next: "tc -s filter show dev IF ingress",
        ..PLACE
    },
    LossPlace {
        what: "bridge or TAP device",
        layer: Layer::Link,
        reasons: &[
            "BRIDGE_INGRESS_STP_STATE",
            "LOCAL_MAC",
            "MAC_IEEE_MAC_CONTROL",
            "MAC_INVALID_SOURCE",
            "FULL_RING",
            "TAP_FILTER",
            "NO_TX_TARGET",
        ],
        why: "a port does not forward, or the program behind a TAP device does not read",
        next: "bridge -d link show",
        ..PLACE
    },
    LossPlace {
        what: "frames for other hosts (OTHERHOST)",
        layer: Layer::Link,
        counters: &["* rx_otherhost_dropped"],
        file: LINK,
        since: "5.19",
        reasons: &["OTHERHOST"],
        is_common: true,
        why: "their MAC address is another host's, or their VLAN has no interface here (OTHERHOST). A switch floods \
              such frames; if they are the sender's, it has an old MAC address of this host or the wrong VLAN",
        next: "ip link show dev IF; sudo tcpdump -eni IF -c 5 udp; at the sender: ip neighbour",
        ..PLACE
    },
    LossPlace {
        what: "unicast in broadcast frames",
        layer: Layer::Link,
        reasons: &["UNICAST_IN_L2_MULTICAST"],
        why: "sysctl drop_unicast_in_l2_multicast is set",
        next: "sysctl net.ipv4.conf.IF.drop_unicast_in_l2_multicast",
        ..PLACE
    },
    LossPlace {
        what: "full backlog of a CPU",
        layer: Layer::Backlog,
        counters: &["softnet dropped"],
        file: "/proc/net/softnet_stat",
        reasons: &["CPU_BACKLOG"],
        why: "packets over loopback, veth or RPS wait there for a softirq; all network namespaces share it",
        next: "sudo sysctl -w net.core.netdev_max_backlog=10000",
        ..PLACE
    },
    LossPlace {
        what: "wrong IP header",
        counters: &["IpInHdrErrors"],
        less: &["IpExtInCsumErrors", "IP_CSUM"],
        file: SNMP,
        reasons: &[
            "IP_INHDR",
            "INVALID_PROTO",
            "IPV6_BAD_EXTHDR",
            "IPV6DISABLED",
        ],
        why: "a length or an option is wrong, or the time to live was used up",
        next: "sudo tcpdump -vni IF -c 5 udp",
        ..PLACE
    },
    LossPlace {
        what: "wrong IP header checksum",
        counters: &["IpExtInCsumErrors"],
        file: NETSTAT,
        since: "3.10",
        reasons: &["IP_CSUM"],
        why: "the sender writes a wrong one, or something on the way changes packets",
        next: "sudo tcpdump -vvni IF -c 5 udp",
        ..PLACE
    },
    LossPlace {
        what: "IP packets shorter than they say",
        counters: &["IpExtInTruncatedPkts"],
        file: NETSTAT,
        reasons: &["PKT_TOO_SMALL", "HDR_TRUNC"],
        why: "the sender writes a wrong length, or something on the way cuts frames",
        next: "sudo tcpdump -vni IF -c 5 udp",
        ..PLACE
    },
    LossPlace {
        what: "address that is not of this host",
        counters: &["IpInAddrErrors"],
        file: SNMP,
        reasons: &["IP_INADDRERRORS"],
        why: "the sender is set to an address that no interface here has, or a route here says unreachable or blackhole",
        next: "ip address; ip rule; ip route show table all",
        ..PLACE
    },
    LossPlace {
        what: "no route",
        counters: &["IpExtInNoRoutes"],
        file: NETSTAT,
        reasons: &["IP_INNOROUTES"],
        why: "packets for other hosts, or for an address that has left this one",
        next: "ip route show table all",
        ..PLACE
    },
    LossPlace {
        what: "reverse path filter",
        counters: &["TcpExtIPReversePathFilter"],
        file: "/proc/net/netstat",
        since: "2.6.36",
        reasons: &["IP_RPFILTER"],
        why: "the way back to the sender does not lead over the interface that its packets come in by",
        next: "a route to the sender's ADDRESS: sudo ip route add ADDRESS dev IF; or no such filter: sudo sysctl -w \
               net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.IF.rp_filter=0",
        ..PLACE
    },
    LossPlace {
        what: "refused source address",
        counters: &["rt_cache in_martian_src"],
        less: &["TcpExtIPReversePathFilter", "IP_RPFILTER"],
        file: "/proc/net/stat/rt_cache",
        reasons: &["IP_LOCAL_SOURCE", "IP_INVALID_SOURCE", "IP_LOCALNET"],
        is_of_machine: true,
        why: "the sender has an address of this host (IP_LOCAL_SOURCE), one that nobody can have, or one to which no \
              route leads back: then its ARP requests are refused, and none of its datagrams comes; counted in all \
              network namespaces of this machine",
        next: "who it is: sudo tcpdump -ni IF arp or ip; then ip route get ADDRESS, ip -4 address; sudo sysctl -w \
               net.ipv4.conf.all.log_martians=1; dmesg",
        ..PLACE
    },
    LossPlace {
        what: "impossible destination address",
        counters: &["rt_cache in_martian_dst"],
        file: "/proc/net/stat/rt_cache",
        reasons: &["IP_INVALID_DEST"],
        is_of_machine: true,
        why: "an address of 127.0.0.0/8 or 0.0.0.0/8 came over the network",
        next: "sudo sysctl -w net.ipv4.conf.all.log_martians=1; dmesg",
        ..PLACE
    },
    LossPlace {
        what: "IP protocol that nobody here takes",
        counters: &["IpInUnknownProtos"],
        file: SNMP,
        reasons: &["IP_NOPROTO"],
        is_common: true,
        why: "the packets are neither UDP nor TCP",
        next: "sudo tcpdump -ni IF -c 5 not udp and not tcp",
        ..PLACE
    },
    LossPlace {
        what: "discarded by IP",
        counters: &["IpInDiscards"],
        file: SNMP,
        is_common: true,
        why: "they are of IPv6, which is off on an interface (also by an MTU below 1280), or the kernel had no memory for \
              them",
        next: "sysctl net.ipv6.conf.IF.disable_ipv6; ip link show dev IF; dmesg",
        ..PLACE
    },
    LossPlace {
        what: "full connection table (conntrack)",
        layer: Layer::Firewall,
        counters: &["nf_conntrack drop", "nf_conntrack insert_failed"],
        file: "/proc/net/stat/nf_conntrack",
        why: "the firewall follows connections, and has no room for more",
        next: "sysctl net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max",
        ..PLACE
    },
    LossPlace {
        what: "firewall (NETFILTER_DROP)",
        layer: Layer::Firewall,
        less: &["nf_conntrack drop", "nf_conntrack insert_failed"],
        reasons: &["NETFILTER_DROP"],
        is_of_machine: true,
        why: "a rule of this host drops them, or one of another network namespace of this machine",
        next: "sudo nft list ruleset",
        ..PLACE
    },
    LossPlace {
        what: "security module",
        layer: Layer::Firewall,
        reasons: &["SECURITY_HOOK"],
        why: "its policy forbids them",
        next: "sudo dmesg",
        ..PLACE
    },
    // After the firewall: what drops some fragments of each datagram is why the others wait.
    LossPlace {
        what: "fragments of which none became whole",
        counters: &["IpReasmReqds"],
        less: &["IpReasmFails"],
        // Without memory, those of some datagrams are refused, and their others wait in vain.
        unless: &["IpReasmOKs", "no memory for fragments"],
        file: SNMP,
        why: "fragments come in, and some of each datagram are missing: a firewall on the way drops them, or they are \
              lost",
        next: "sudo tcpdump -vni IF 'ip[6:2] & 0x3fff != 0'; let the sender send no more than the MTU",
        ..PLACE
    },
    LossPlace {
        what: "fragments not whole in time",
        counters: &["IpReasmTimeout"],
        file: SNMP,
        reasons: &["FRAG_REASM_TIMEOUT", "FRAG_TOO_FAR", "DUP_FRAG"],
        why: "some fragments of each datagram are missing after net.ipv4.ipfrag_time (30 s): a firewall drops them, or \
              they are lost",
        next: "sudo nft list ruleset; sudo tcpdump -vni IF 'ip[6:2] & 0x3fff != 0'; let the sender send no more than \
               the MTU",
        ..PLACE
    },
    LossPlace {
        what: "no memory for fragments",
        counters: &["IpReasmFails"],
        less: &["IpReasmTimeout"],
        file: SNMP,
        why: "the memory for fragments is full: its limit is lower than the kernel's 4194304 and too low for what \
              comes at once, or datagrams that never become whole fill it, which IpReasmTimeout counts after 30 s: \
              then what drops the others of their fragments is the cause",
        next: "sysctl net.ipv4.ipfrag_high_thresh net.ipv6.ip6frag_high_thresh; if lower: sudo sysctl -w \
               net.ipv4.ipfrag_high_thresh=4194304 net.ipv6.ip6frag_high_thresh=4194304; else: sudo nft list ruleset; \
               sudo tcpdump -vni IF 'ip[6:2] & 0x3fff != 0'; let the sender send no more than the MTU",
        ..PLACE
    },
    LossPlace {
        what: "closed UDP ports",
        layer: Layer::Udp,
        counters: &["UdpNoPorts"],
        file: SNMP,
        reasons: &["NO_SOCKET"],
        is_common: true,
        why: "the program is not bound to the port or the address that they are for",
        next: "ss -lunp; sudo tcpdump -ni IF -c 5 udp",
        ..PLACE
    },
    LossPlace {
        what: "broadcasts and multicasts that no socket takes",
        layer: Layer::Udp,
        counters: &["UdpIgnoredMulti"],
        file: SNMP,
        since: "4.1",
        is_common: true,
        why: "the program is bound to one address of this host, or has not joined the group",
        next: "let it bind 0.0.0.0, or join the group; groups: ip maddress show dev IF",
        ..PLACE
    },
    LossPlace {
        what: "wrong UDP checksums",
        layer: Layer::Socket,
        counters: &["UdpInCsumErrors"],
        file: SNMP,
        since: "3.10",
        reasons: &["UDP_CSUM", "SKB_CSUM"],
        why: "the sender writes wrong checksums, or a checksum offload of an interface is broken",
        next: "sudo tcpdump -vvni IF -c 5 udp; here: sudo ethtool -K IF rx off",
        ..PLACE
    },
    LossPlace {
        what: "UDP memory used up",
        layer: Layer::Socket,
        counters: &["UdpMemErrors"],
        file: SNMP,
        since: "5.11",
        reasons: &["PROTO_MEM"],
        why: "the queues of all sockets together reached net.ipv4.udp_mem",
        next: "sysctl net.ipv4.udp_mem; grep UDP /proc/net/sockstat",
        ..PLACE
    },
    LossPlace {
        what: "IPsec policy",
        layer: Layer::Socket,
        counters: &IPSEC,
        file: "/proc/net/xfrm_stat",
        reasons: &["XFRM_POLICY"],
        why: "a policy of IPsec forbids them: they came without the protection that it asks for, or are blocked",
        next: "sudo ip xfrm policy; cat /proc/net/xfrm_stat",
        ..PLACE
    },
    LossPlace {
        what: "filter of the socket, or wrong UDP length",
        layer: Layer::Socket,
        counters: &["UdpInErrors"],
        less: &[
            "UdpRcvbufErrors",
            "UdpInCsumErrors",
            "UdpMemErrors",
            IPSEC[0],
            IPSEC[1],
            IPSEC[2],
            IPSEC[3],
        ],
        file: SNMP,
        reasons: &["SOCKET_FILTER"],
        why: "the program, or its cgroup, has a BPF filter (SO_ATTACH_FILTER) that drops; or datagrams are shorter than \
              their UDP header says",
        next: "sudo ss -lunpb; sudo tcpdump -vni IF -c 5 udp",
        ..PLACE
    },
    LossPlace {
        what: "full receive buffers",
        layer: Layer::Socket,
        counters: &["UdpRcvbufErrors"],
        file: SNMP,
        reasons: &["SOCKET_RCVBUFF"],
        why: "a program reads more slowly than datagrams come, or too seldom",
        next: "ss -lunm",
        ..PLACE
    },
    LossPlace {
        what: "way out",
        layer: Layer::Out,
        reasons: &[
            "IP_OUTNOROUTES",
            "NEIGH_CREATEFAIL",
            "NEIGH_FAILED",
            "NEIGH_QUEUEFULL",
            "NEIGH_DEAD",
            "NEIGH_HH_FILLFAIL",
            "BPF_CGROUP_EGRESS",
            "TC_EGRESS",
            "QDISC_DROP",
            "QDISC_OVERLIMIT",
            "QDISC_CONGESTED",
            "CAKE_FLOOD",
            "FQ_BAND_LIMIT",
            "FQ_HORIZON_LIMIT",
            "FQ_FLOW_LIMIT",
            "DUALPI2_STEP_DROP",
            "SKB_GSO_SEG",
            "DEV_HDR",
            "TAP_TXFILTER",
            "PKT_TOO_BIG",
        ],
        why: "a queue of an interface is full, or the next host does not answer",
        next: "tc -s qdisc show dev IF; ip neighbour",
        ..PLACE
    },
];

/// Packets that came to IP and whose end no other counter tells.
pub const IP_WITHOUT_END: LossPlace = LossPlace {
    what: "between IP and UDP, without a counter",
    layer: Layer::Firewall,
    counters: &["IpInReceives", "IpReasmOKs"],
    less: &[
        "IpInDelivers",
        "IpForwDatagrams",
        "Ip6OutForwDatagrams",
        "IpExtInMcastPkts",
        "IpExtInBcastPkts",
        "IpReasmReqds",
        "IpInHdrErrors",
        "IpInAddrErrors",
        "IpExtInNoRoutes",
        "IpInUnknownProtos",
        "IpInDiscards",
        "IpExtInTruncatedPkts",
        "TcpExtIPReversePathFilter",
    ],
    file: SNMP,
    why: "packets came to IP and reached no protocol: mostly a firewall, a multicast group that nobody here has \
          joined, or an impossible address (in_martian)",
    next: "sudo nft list ruleset; ip maddress show dev IF; sudo sysctl -w net.ipv4.conf.all.log_martians=1; dmesg",
    ..PLACE
};

/// Answers of an echo that a firewall of its host refuses to send: the echo itself counts these errors.
pub const REFUSED_ANSWERS: LossPlace = LossPlace {
    what: "its own firewall refuses the answers (EPERM)",
    layer: Layer::Out,
    why: "a rule of the chain OUTPUT drops them",
    next: "sudo nft list ruleset",
    ..PLACE
};

/// Answers of an echo whose host has no way back: the echo itself counts these errors.
pub const ANSWERS_WITHOUT_ROUTE: LossPlace = LossPlace {
    what: "its answers have no route (ENETUNREACH)",
    layer: Layer::Out,
    why: "the route, the address or the interface towards the other end is gone",
    next: "ip route; ip -br address; ip -br link",
    ..PLACE
};

/// Returns the losses of each place by its name, in the order of the way in: first those that are none of every day.
pub fn by_name(packets: &BTreeMap<String, u64>) -> Vec<(&'static LossPlace, u64)> {
    let more = [&IP_WITHOUT_END, &REFUSED_ANSWERS, &ANSWERS_WITHOUT_ROUTE];
    let all = PLACES.iter().chain(more);
    let lost = all.filter_map(|place| Some((place, *packets.get(place.what)?)));
    let mut lost: Vec<_> = lost.collect();
    lost.sort_by_key(|(place, _)| place.is_common);
    lost
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_counter_and_reason_is_of_one_place() {
        let mut seen = BTreeSet::new();
        for place in PLACES {
            for name in place.counters.iter().chain(place.reasons) {
                assert!(seen.insert(*name), "{name}");
            }
        }
    }

    #[test]
    fn each_place_can_be_seen_and_says_what_to_type() {
        for place in PLACES.iter().chain([&IP_WITHOUT_END]) {
            assert!(
                !place.counters.is_empty() || !place.reasons.is_empty(),
                "{}",
                place.what
            );
            assert_eq!(
                place.counters.is_empty(),
                place.file.is_empty(),
                "{}",
                place.what
            );
            assert!(
                !place.why.is_empty() && !place.next.is_empty(),
                "{}",
                place.what
            );
            assert!(!place.next.contains("eth0"), "{}", place.what);
        }
    }
}
