use super::*;

fn growth(counters: &[(&str, u64)], reasons: &[(&str, u64)]) -> LossCounters {
    let map = |all: &[(&str, u64)]| {
        all.iter()
            .map(|(name, n)| ((*name).to_owned(), *n))
            .collect()
    };
    LossCounters {
        counters: map(counters),
        interfaces: map(&[("wan0 rx_dropped", 0), ("wan0 rx_queue_0_xdp_drops", 0)]),
        reasons: map(reasons),
        links: BTreeMap::new(),
        received: map(&[("lo", 9000), ("wan0", 3000)]),
        softnet: Vec::new(),
        ..LossCounters::default()
    }
}

fn named(growth: &LossCounters) -> Vec<(&str, u64)> {
    let losses = growth.losses().into_iter();
    losses
        .map(|loss| (loss.place.what.as_str(), loss.packets))
        .collect()
}

#[test]
fn counters_of_32_bits_may_pass_their_end() {
    let end = u64::from(u32::MAX);
    assert_eq!(moved(end - 1, 3), 5);
    assert_eq!(moved(end, 0), 1);
    assert_eq!(moved(end, end + 7), 7);
}

#[test]
fn counters_that_begin_anew_have_moved_by_what_they_show() {
    assert_eq!(moved(1_000_000, 7), 7);
    assert_eq!(moved(1 << 31, 7), 7);
    assert_eq!(moved(1 << 40, 7), 7);
    assert_eq!(moved(u64::MAX, 7), 7);
}

#[test]
fn only_counters_of_an_interface_that_moved_are_named() {
    let names = [
        "eth0 rx_dropped",
        "eth0 tx_packets",
        "eth0 tx_dropped",
        "lo rx_dropped",
    ];
    let counts = [0, 8, 7, 5];
    let growth = LossCounters {
        interfaces: names.map(str::to_owned).into_iter().zip(counts).collect(),
        ..LossCounters::default()
    };
    assert_eq!(
        growth.lost_at("eth0"),
        [("tx_dropped".to_owned(), 7)].into()
    );
}

#[test]
fn a_counter_that_contains_others_names_only_the_rest() {
    let errors = [
        ("UdpInErrors", 10),
        ("UdpRcvbufErrors", 3),
        ("UdpInCsumErrors", 2),
        ("UdpMemErrors", 1),
    ];
    let found = growth(&errors, &[]);
    assert_eq!(
        named(&found),
        [
            ("wrong UDP checksums", 2),
            ("UDP memory used up", 1),
            ("filter of the socket, or wrong UDP length", 4),
            ("full receive buffers", 3)
        ]
    );
    assert_eq!(found.losses()[0].interface, "wan0");
}

#[test]
fn a_reason_counts_where_no_counter_can_be_read_as_it_is_of_all_namespaces() {
    let with_counter = growth(&[("TcpExtIPReversePathFilter", 0)], &[("IP_RPFILTER", 7)]);
    assert_eq!(named(&with_counter), []);
    let without = growth(&[], &[("IP_RPFILTER", 7)]);
    assert_eq!(named(&without), [("reverse path filter", 7)]);
    let full_table = growth(&[("nf_conntrack drop", 4)], &[("NETFILTER_DROP", 10)]);
    assert_eq!(
        named(&full_table),
        [
            ("full connection table (conntrack)", 4),
            ("firewall (NETFILTER_DROP)", 6)
        ]
    );
}

#[test]
fn drops_of_the_machine_are_of_this_namespace_only_as_far_as_its_packets_did_not_arrive() {
    let lost = |delivered| {
        let counters = [
            ("IpInReceives", 500),
            ("IpInDelivers", delivered),
            ("rt_cache in_martian_src", 200),
        ];
        LossCounters {
            received: [("lo".to_owned(), 500)].into(),
            ..growth(&counters, &[("NETFILTER_DROP", 300)])
        }
    };
    assert_eq!(named(&lost(500)), []);
    let source = "refused source address";
    let firewall = "firewall (NETFILTER_DROP)";
    let unsure = lost(250);
    assert_eq!(named(&unsure), [(IP_WITHOUT_END.what.as_str(), 250)]);
    let by = &unsure.losses()[0].by;
    let martians = (
        "rt_cache in_martian_src of the whole machine".to_owned(),
        200,
    );
    assert!(by.contains(&martians), "{by:?}");
    assert_eq!(named(&lost(200)), [(firewall, 300)]);
    assert_eq!(named(&lost(300)), [(source, 200)]);
    assert_eq!(named(&lost(0)), [(source, 200), (firewall, 300)]);
    let no_interface = LossCounters {
        received: BTreeMap::new(),
        ..lost(500)
    };
    assert_eq!(named(&no_interface), [(source, 200), (firewall, 300)]);
}

#[test]
fn a_firewall_of_another_network_namespace_is_not_named_beside_a_place_that_explains_all() {
    let counters = [
        ("IpInReceives", 7500),
        ("IpInDelivers", 5242),
        ("TcpExtIPReversePathFilter", 2258),
    ];
    let lost = |received| LossCounters {
        received: [("wan0".to_owned(), received)].into(),
        interfaces: [("wan0 ingress_drops".to_owned(), received - 7500)].into(),
        ..growth(&counters, &[("NETFILTER_DROP", 15_020)])
    };
    // A few frames are for ARP.
    for received in [7500, 7514] {
        let mut lost = lost(7500);
        lost.received.insert("wan0".to_owned(), received);
        assert_eq!(named(&lost), [("reverse path filter", 2258)]);
    }
    let expected = [
        ("tc filter of the interface", 401),
        ("reverse path filter", 2258),
    ];
    assert_eq!(named(&lost(7901)), expected);
}

#[test]
fn counters_that_are_read_one_after_the_other_make_no_place() {
    let counters = [
        ("rt_cache in_martian_src", 7504),
        ("TcpExtIPReversePathFilter", 7503),
    ];
    assert_eq!(
        named(&growth(&counters, &[])),
        [("reverse path filter", 7503)]
    );
}

#[test]
fn drops_of_a_firewall_are_not_taken_for_what_another_network_namespace_counted_meanwhile() {
    for (martians, expected) in [
        (23_296, IP_WITHOUT_END.what.as_str()),
        (400, IP_WITHOUT_END.what.as_str()),
        (918, "refused source address"),
    ] {
        let counters = [
            ("IpInReceives", 4000),
            ("IpInDelivers", 3082),
            ("rt_cache in_martian_src", martians),
        ];
        let lost = LossCounters {
            received: [("wan0".to_owned(), 4000)].into(),
            ..growth(&counters, &[])
        };
        assert_eq!(named(&lost), [(expected, 918)], "{martians}");
    }
}

#[test]
fn fragments_are_lost_if_none_becomes_whole() {
    let none = growth(&[("IpReasmReqds", 80), ("IpReasmOKs", 0)], &[]);
    assert_eq!(named(&none), [("fragments of which none became whole", 80)]);
    let some = growth(&[("IpReasmReqds", 80), ("IpReasmOKs", 20)], &[]);
    assert_eq!(named(&some), []);
}

#[test]
fn fragments_that_find_no_memory_are_told_from_those_that_wait_in_vain_and_come_after_the_firewall()
{
    let counters = [
        ("IpReasmReqds", 9000),
        ("IpReasmOKs", 20),
        ("IpReasmFails", 6362),
        ("IpReasmTimeout", 362),
    ];
    let lost = growth(&counters, &[("NETFILTER_DROP", 1667)]);
    let expected = [
        ("firewall (NETFILTER_DROP)", 1667),
        ("fragments not whole in time", 362),
        ("no memory for fragments", 6000),
    ];
    assert_eq!(named(&lost), expected);
}

#[test]
fn a_limit_of_memory_that_no_datagram_fits_in_is_no_missing_fragment() {
    let counters = [
        ("IpReasmReqds", 8138),
        ("IpReasmOKs", 0),
        ("IpReasmFails", 8112),
        ("IpReasmTimeout", 0),
    ];
    let lost = growth(&counters, &[]);
    assert_eq!(named(&lost), [("no memory for fragments", 8112)]);
    let next = &lost.losses()[0].place.next;
    let (raise, others) = next.split_once("; else: ").expect("a condition");
    assert!(
        raise.contains("-w net.ipv4.ipfrag_high_thresh=4194304"),
        "{raise}"
    );
    assert!(others.contains("nft"), "{others}");
}

#[test]
fn what_came_to_ip_and_has_no_end_is_said_unless_a_reason_names_it() {
    let counters = [("IpInReceives", 500), ("IpInDelivers", 300)];
    let unnamed = [(IP_WITHOUT_END.what.as_str(), 200)];
    assert_eq!(named(&growth(&counters, &[])), unnamed);
    let by_reason = growth(&counters, &[("NETFILTER_DROP", 195)]);
    assert_eq!(named(&by_reason), [("firewall (NETFILTER_DROP)", 195)]);
}

#[test]
fn a_place_without_counter_and_reason_is_unseen() {
    let seen = growth(&[("UdpNoPorts", 0)], &[("NETFILTER_DROP", 0)]);
    let unseen: Vec<&str> = seen.unseen().map(|place| place.what.as_str()).collect();
    assert!(unseen.contains(&"security module"), "{unseen:?}");
    for place in [
        "closed UDP ports",
        "firewall (NETFILTER_DROP)",
        "XDP program",
    ] {
        assert!(!unseen.contains(&place), "{unseen:?}");
    }
}

#[test]
fn the_files_of_proc_net_stat_are_sums_over_cpus() {
    let text = "entries  found drop\n00000010 00000001 0000000a\n00000010 00000000 00000002\n";
    assert_eq!(of_cpus("nf_conntrack", text)["nf_conntrack drop"], 12);
}

#[test]
fn this_machine_shows_most_places() {
    let counters = LossReader::open("thread-self").read();
    assert!(counters.counters.contains_key("UdpRcvbufErrors"));
    assert!(counters.unseen().count() < PLACES.len() / 2);
}

/// A firewall that drops one packet in a hundred is none that the time of reading explains.
#[test]
fn only_packets_that_may_have_moved_while_counters_were_read_are_no_loss() {
    let lost = |took_ns| {
        let counters = [("IpInReceives", 50_202), ("IpInDelivers", 50_000)];
        let growth = LossCounters {
            at_ns: 5_000_000_000,
            took_ns,
            ..growth(&counters, &[])
        };
        named(&growth)
            .iter()
            .map(|(_, packets)| packets)
            .sum::<u64>()
    };
    assert_eq!(lost(2_000_000), 202);
    assert_eq!(lost(50_000_000), 0);
    assert_eq!(lost(0), 202);
}
