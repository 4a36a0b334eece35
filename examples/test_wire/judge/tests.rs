//! Frames are made here, byte by byte, and judged.

use std::net::Ipv6Addr;

use proptest::prelude::*;

use super::datagram::CLOSED_PORT;
use super::*;

const V4: usize = 14 + 20;
const V6: usize = 14 + 40;

fn us(number: u64) -> Duration {
    Duration::from_micros(number)
}

fn judge(rules: &str) -> Judge {
    Judge::new(&Rules::parse(rules).expect("rules"), Direction::NearToFar)
}

fn udp(payload: &[u8], port: u16) -> Vec<u8> {
    let length = u16::try_from(payload.len() + 8).expect("it fits");
    let words = [4000, port, length, 0].map(u16::to_be_bytes);
    [words.as_flattened(), payload].concat()
}

/// The internet checksum (RFC 1071), which is 0 over what has a right one.
fn sum(parts: &[&[u8]]) -> u16 {
    let mut bytes = parts.concat();
    bytes.resize(bytes.len().next_multiple_of(2), 0);
    let words = bytes
        .chunks(2)
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
    let mut total: u32 = words.sum();
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    !u16::try_from(total).expect("folded")
}

/// Returns the pseudo-header that the UDP checksum also covers.
fn pseudo_header(addresses: &[u8], udp: &[u8]) -> Vec<u8> {
    let length = u16::try_from(udp.len()).expect("it fits").to_be_bytes();
    [addresses, &[0, 17], &length].concat()
}

fn summed(mut udp: Vec<u8>, addresses: &[u8]) -> Vec<u8> {
    let sum = sum(&[&pseudo_header(addresses, &udp), &udp]);
    udp[6..8].copy_from_slice(&sum.to_be_bytes());
    udp
}

const V4_ADDRESSES: [u8; 8] = [10, 0, 0, 1, 10, 0, 0, 2];

fn v4(udp: &[u8], flags_and_offset: u16) -> Vec<u8> {
    let mut header = [0; V4];
    header[12..14].copy_from_slice(&[8, 0]);
    header[14] = 0x45;
    header[18..20].copy_from_slice(&[7, 7]);
    header[20..22].copy_from_slice(&flags_and_offset.to_be_bytes());
    header[23] = 17;
    header[26..34].copy_from_slice(&V4_ADDRESSES);
    [&header, udp].concat()
}

fn v6_addresses() -> Vec<u8> {
    [1, 2]
        .map(|end| Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, end).octets())
        .concat()
}

/// `options`: headers between, of which the first has this number.
fn v6(first: u8, options: &[u8], udp: &[u8]) -> Vec<u8> {
    let mut header = [0; V6];
    header[12..14].copy_from_slice(&[0x86, 0xdd]);
    header[14] = 0x60;
    header[20] = first;
    header[22..54].copy_from_slice(&v6_addresses());
    [&header, options, udp].concat()
}

fn plain(payload_bytes: usize) -> Vec<u8> {
    v4(&udp(&vec![5; payload_bytes], 5000), 0)
}

fn judged(judge: &mut Judge, mut frame: Vec<u8>, now: Duration) -> Verdict {
    judge.judge(&mut frame, now)
}

/// The numbers of those that are dropped, of so many that come one a millisecond.
fn dropped(rules: &str, count: u64) -> Vec<u64> {
    let mut judge = judge(rules);
    let mut is_dropped = |number: &u64| {
        let verdict = judged(&mut judge, plain(100), us(*number * 1000));
        verdict == Verdict::Datagram(Fate::Dropped)
    };
    (1..=count).filter(|number| is_dropped(number)).collect()
}

#[test]
fn exactly_the_numbers_that_were_told_are_dropped() {
    assert_eq!(dropped("a>b drop 3,5-7", 20), [3, 5, 6, 7]);
    assert_eq!(dropped("drop every 6", 20), [6, 12, 18]);
    assert_eq!(dropped("drop 18-", 20), [18, 19, 20]);
    assert!(dropped("b>a drop all", 20).is_empty());
    // Each counts all that came, those that are dropped too.
    assert_eq!(dropped("drop 2; drop every 3", 9), [2, 3, 6, 9]);
}

#[test]
fn only_datagrams_that_count_have_numbers() {
    let mut judge = judge("count size 300-; count port 5000; drop 2");
    let verdicts = [
        judged(&mut judge, plain(64), us(0)),
        judged(&mut judge, v4(&udp(&[0; 300], 6000), 0), us(0)),
        judged(&mut judge, plain(300), us(0)),
        judged(&mut judge, plain(299), us(0)),
        judged(&mut judge, plain(1400), us(0)),
    ];
    let [small, elsewhere, first, below, second] = verdicts;
    assert_eq!([small, elsewhere, below], [Verdict::Uncounted; 3]);
    assert!(matches!(first, Verdict::Datagram(Fate::Passes(_))));
    assert_eq!(second, Verdict::Datagram(Fate::Dropped));
}

#[test]
fn what_is_not_udp_is_left_alone() {
    let mut judge = judge("drop all");
    let mut tcp = plain(100);
    tcp[23] = 6;
    let mut arp = plain(100);
    arp[13] = 6;
    let cut = plain(100)[..30].to_vec();
    let icmp6 = v6(58, &[], &udp(&[0; 8], 1));
    for frame in [tcp, arp, cut, icmp6, Vec::new()] {
        assert_eq!(judged(&mut judge, frame, us(0)), Verdict::Other);
    }
}

#[test]
fn the_fragments_of_a_datagram_share_its_fate() {
    const MORE: u16 = 0x2000;
    let mut judge = judge("drop 2");
    let mut first = udp(&[0; 1472], 5000);
    first[4..6].copy_from_slice(&4008_u16.to_be_bytes());
    let rest = [0; 1480];
    assert_eq!(
        judged(&mut judge, v4(&rest, MORE + 185), us(0)),
        Verdict::Stray
    );
    let passes = judged(&mut judge, v4(&first, MORE), us(0));
    let Verdict::Datagram(fate @ Fate::Passes(_)) = passes else {
        panic!("{passes:?}");
    };
    assert_eq!(
        judged(&mut judge, v4(&rest, MORE + 185), us(1)),
        Verdict::Fragment(fate)
    );
    assert_eq!(
        judged(&mut judge, v4(&rest[..100], 370), us(2)),
        Verdict::Fragment(fate)
    );
    let dropped = Fate::Dropped;
    assert_eq!(
        judged(&mut judge, v4(&first, MORE), us(3)),
        Verdict::Datagram(dropped)
    );
    assert_eq!(
        judged(&mut judge, v4(&rest, 185), us(4)),
        Verdict::Fragment(dropped)
    );
}

#[test]
fn fragments_and_options_of_ipv6_are_read() {
    let hop_by_hop = [17, 0, 1, 4, 0, 0, 0, 0];
    let fragment = |offset_and_more: u16| {
        let [high, low] = offset_and_more.to_be_bytes();
        [17, 0, high, low, 0, 0, 0, 9]
    };
    let mut judge = judge("drop all");
    let dropped = Verdict::Datagram(Fate::Dropped);
    let udp = udp(&[0; 64], 5000);
    assert_eq!(judged(&mut judge, v6(17, &[], &udp), us(0)), dropped);
    assert_eq!(judged(&mut judge, v6(0, &hop_by_hop, &udp), us(0)), dropped);
    assert_eq!(
        judged(&mut judge, v6(44, &fragment(1), &udp), us(0)),
        dropped
    );
    let later = judged(&mut judge, v6(44, &fragment(72), &[0; 30]), us(0));
    assert_eq!(later, Verdict::Fragment(Fate::Dropped));
}

#[test]
fn delays_add_up_and_look_at_size_and_silence() {
    let rules = "delay all by 10us; delay size 1400- by 100us; delay silence 5ms by 1ms";
    let mut judge = judge(rules);
    for (now, payload, expected) in [
        (0, 100, 1010),
        (100, 100, 110),
        (200, 1400, 310),
        (5199, 1399, 5209),
        (10199, 1, 11209),
    ] {
        let verdict = judged(&mut judge, plain(payload), us(now));
        let passage = Passage {
            at: us(expected),
            ..Passage::default()
        };
        assert_eq!(verdict, Verdict::Datagram(Fate::Passes(passage)), "{now}");
    }
}

#[test]
fn what_is_above_the_rate_waits_and_then_is_dropped() {
    // A datagram each 100 us; ten at once, of which three may wait.
    let mut limit = judge("limit 10000/s queue 3");
    let mut passed = Vec::new();
    for _ in 0..10 {
        match judged(&mut limit, plain(100), us(50)) {
            Verdict::Datagram(Fate::Passes(passage)) => passed.push(passage.at),
            verdict => assert_eq!(verdict, Verdict::Datagram(Fate::Dropped)),
        }
    }
    assert_eq!(passed, [50, 150, 250, 350].map(us));
    let report = &limit.report()[0];
    assert_eq!(
        (&report["dropped"], &report["changed"]),
        (&6.into(), &3.into())
    );
    assert_eq!(report["numbers"], "5-10");
    let mut police = judge("police 10000/s burst 4");
    let verdicts: Vec<_> = (0..10)
        .map(|_| judged(&mut police, plain(100), us(50)))
        .collect();
    let dropped = verdicts
        .iter()
        .filter(|v| **v == Verdict::Datagram(Fate::Dropped));
    assert_eq!(dropped.count(), 6);
    assert!(matches!(
        judged(&mut police, plain(100), us(150)),
        Verdict::Datagram(Fate::Passes(_))
    ));
}

proptest! {
    #[test]
    fn a_misdirected_datagram_has_a_right_checksum(payload: Vec<u8>, port: u16, with_sum: bool) {
        prop_assume!(payload.len() < 60_000);
        for is_v6 in [false, true] {
            let addresses = if is_v6 { v6_addresses() } else { V4_ADDRESSES.to_vec() };
            let mut udp = udp(&payload, port);
            if with_sum || is_v6 {
                udp = summed(udp, &addresses);
            }
            let had = u16::from_be_bytes([udp[6], udp[7]]);
            let mut frame = if is_v6 { v6(17, &[], &udp) } else { v4(&udp, 0) };
            judge("misdirect 1").judge(&mut frame, us(0));
            let after = &frame[if is_v6 { V6 } else { V4 }..];
            prop_assert_eq!(&after[2..4], &CLOSED_PORT.to_be_bytes());
            if had == 0 {
                prop_assert_eq!(&after[6..8], &[0, 0]);
            } else {
                prop_assert_eq!(sum(&[&pseudo_header(&addresses, after), after]), 0);
            }
            prop_assert_eq!(&after[8..], &payload[..]);
        }
    }

    #[test]
    fn no_bytes_are_a_panic(mut frame: Vec<u8>, kind in prop::sample::select(vec![0x0800_u16, 0x86dd, 0x8100])) {
        if frame.len() > 14 {
            frame[12..14].copy_from_slice(&kind.to_be_bytes());
        }
        judge("misdirect all").judge(&mut frame, us(0));
    }
}
