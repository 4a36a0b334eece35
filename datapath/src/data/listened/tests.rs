mod streams;

use super::*;

const MS: u64 = 1_000_000;

fn gap(began_ns: u64, ns: u64) -> Gap {
    Gap {
        began_ns,
        ns,
        dropped: 0,
    }
}

/// Enters datagrams of one byte, numbered by it, with their sources and arrivals in milliseconds.
fn listened(datagrams: &[(u16, u8, u64)], silence_ms: Option<u64>) -> (Listened, ListenWindow) {
    let numbered = "0:1".parse().map(Numbered::Field).ok();
    let mut listened = Listened::new(numbered, silence_ms.map(|ms| ms * MS));
    let mut window = ListenWindow::new();
    listened.begin_window();
    for &(port, number, at_ms) in datagrams {
        let heard = Heard {
            source: Some(([127, 0, 0, 1], port).into()),
            interface: 1,
            bytes: u32::from(port),
            payload: &[number],
            arrived_ns: at_ms * MS,
            dropped: 0,
        };
        listened.enter(&heard, &mut window);
    }
    listened.finish(0);
    listened.close_window(&mut window);
    (listened, window)
}

fn counts(source: &Source) -> SequenceCounts {
    let series = source.series().expect("it has numbers");
    series.expect("they follow").counts
}

#[test]
fn each_source_has_its_own_numbers_and_gaps() {
    let (all, window) = listened(
        &[
            (1, 5, 0),
            (2, 200, 1),
            (1, 7, 3),
            (2, 201, 4),
            (1, 7, 9),
            (1, 8, 9),
        ],
        None,
    );
    let [one, two] = all.sources.known() else {
        panic!("{:?}", all.sources);
    };
    assert_eq!((one.datagrams, one.bytes, counts(one).missing), (4, 4, 1));
    assert_eq!(counts(one).duplicates, 1);
    assert_eq!(one.longest_gap, Some(gap(3 * MS, 6 * MS)));
    assert_eq!((two.datagrams, counts(two).missing), (2, 0));
    assert_eq!((window.datagrams, window.sources), (6, 2));
    assert_eq!(window.longest_gap, Some(gap(4 * MS, 5 * MS)));
    assert_eq!(window.sequence.missing, 1);
    assert_eq!(window.gaps().count(), 5);
    assert_eq!(all.sizes.by_count(), [(1, 4), (2, 2)]);
    assert_eq!(all.sizes.range, Some((1, 2)));
}

#[test]
fn an_address_on_two_interfaces_is_two_sources() {
    let mut listened = Listened::new("0:1".parse().map(Numbered::Field).ok(), None);
    let mut window = ListenWindow::new();
    for (n, interface) in (0..100_u8).flat_map(|n| [(n, 1), (n, 2)]) {
        let heard = Heard {
            source: Some(([10, 0, 0, 1], 7).into()),
            interface,
            bytes: 1,
            payload: &[n],
            arrived_ns: u64::from(n) * MS,
            dropped: 0,
        };
        listened.enter(&heard, &mut window);
    }
    let [one, two] = listened.sources.known() else {
        panic!("{:?}", listened.sources);
    };
    for source in [one, two] {
        assert_eq!(
            (counts(source).received, counts(source).duplicates),
            (100, 0)
        );
    }
}

#[test]
fn a_sender_that_changes_its_port_is_one_source_if_its_numbers_follow() {
    let changing: Vec<(u16, u8, u64)> = (0..200)
        .filter(|n| n % 20 != 7)
        .map(|n| (1000 + u16::from(n), n, n.into()))
        .collect();
    let (all, window) = listened(&changing, None);
    let [source] = all.sources.known() else {
        panic!("{:?}", all.sources);
    };
    assert!(source.changes_port());
    assert_eq!((source.datagrams, all.sources.others), (190, 0));
    assert_eq!((counts(source).missing, counts(source).places), (10, 10));
    assert_eq!(source.longest_gap, Some(gap(6 * MS, 2 * MS)));
    assert_eq!(window.datagrams, 190);
    // 20 senders that begin at once.
    let started: Vec<(u16, u8, u64)> = (0..20_u8)
        .map(|n| (1000 + u16::from(n), 0, n.into()))
        .collect();
    let (all, _) = listened(&started, None);
    assert_eq!(all.sources.known().len(), 20);
}

#[test]
fn a_clock_that_is_set_and_put_back_makes_no_silence() {
    let mut listened = Listened::new(None, Some(20 * MS));
    let mut window = ListenWindow::new();
    let mut stamped = |listened: &mut Listened, at_ms| {
        let heard = Heard {
            source: None,
            interface: 0,
            bytes: 1,
            payload: &[],
            arrived_ns: at_ms * MS,
            dropped: 0,
        };
        listened.enter(&heard, &mut window);
    };
    (1000..1010).for_each(|at| stamped(&mut listened, at));
    listened.set_clock(150_000_000);
    (1160..1170).for_each(|at| stamped(&mut listened, at));
    listened.set_clock(-150_000_000);
    (1020..1030).for_each(|at| stamped(&mut listened, at));
    assert_eq!(listened.silences.count, 0);
    let [source] = listened.sources.known() else {
        panic!("{:?}", listened.sources);
    };
    assert_eq!(source.longest_gap.map(|gap| gap.ns), Some(MS));
    stamped(&mut listened, 1060);
    assert_eq!(listened.silences.longest(20), [gap(1029 * MS, 31 * MS)]);
    assert_eq!(window.longest_gap, Some(gap(1029 * MS, 31 * MS)));
}

#[test]
fn bursts_are_between_silences() {
    let (all, window) = listened(
        &[
            (1, 0, 0),
            (1, 1, 1),
            (1, 2, 21),
            (1, 3, 22),
            (1, 4, 23),
            (1, 5, 80),
        ],
        Some(20),
    );
    assert_eq!((all.silences.count, window.silences), (2, 2));
    let silences = [gap(MS, 20 * MS), gap(23 * MS, 57 * MS)];
    assert_eq!(all.silences.longest(20), silences);
    let bursts = all.silences.bursts().expect("a length was given");
    assert_eq!((bursts.count, bursts.fewest_datagrams), (3, 1));
    assert_eq!((bursts.most_datagrams, bursts.most_bytes), (3, 3));
}

#[test]
fn of_many_silences_the_longest_are_kept() {
    let mut at = 0;
    let datagrams: Vec<(u16, u8, u64)> = (0..100)
        .map(|n| {
            at += 20 + u64::from(n % 50);
            (1, n, at)
        })
        .collect();
    let (all, _) = listened(&datagrams, Some(20));
    assert_eq!(all.silences.count, 99);
    let longest = all.silences.longest(20);
    assert!(longest.iter().all(|gap| gap.ns >= 60 * MS), "{longest:?}");
    assert_eq!(longest.len(), 20);
    assert!(longest.is_sorted_by_key(|gap| gap.began_ns));
}

#[test]
fn many_sources_and_sizes_take_no_more_memory() {
    let datagrams: Vec<(u16, u8, u64)> = (1..=100).map(|port| (port, 0, 0)).collect();
    let (all, window) = listened(&datagrams, None);
    assert_eq!((all.sources.known().len(), all.sources.others), (64, 36));
    assert_eq!((window.sources, window.of_other_sources), (64, 36));
    assert_eq!((all.sizes.by_count().len(), all.sizes.others), (32, 68));
    assert_eq!((window.datagrams, all.sizes.range), (100, Some((1, 100))));
}

#[test]
fn a_window_is_cleared_but_keeps_its_memory() {
    let (_, mut window) = listened(&[(1, 0, 0), (1, 2, 5)], Some(1));
    window.clear();
    assert_eq!((window.datagrams, window.gaps().count()), (0, 0));
    assert_eq!(window.gaps.len(), BUCKETS);
}

#[test]
fn the_backlog_is_the_full_buffer_and_what_was_dropped() {
    let mut backlog = Backlog::default();
    backlog.queue(8000, 7, 100);
    for arrived in [10, 20, 30, 40] {
        backlog.datagram(arrived);
    }
    // It came after the look at the queue, and so did three more drops.
    backlog.datagram(110);
    backlog.drops(10);
    backlog.empty();
    assert_eq!(backlog.bytes_per_datagram(), Some(2000));
    assert_eq!(backlog.needed_bytes(8192, 0), Some(8192 + 10 * 2000));
    // Those before the count began are as many as any others.
    let mut older = backlog;
    older.older(11);
    assert_eq!(older.needed_bytes(8192, 0), Some(8192 + 11 * 2000));
    // A second, smaller burst changes nothing.
    backlog.queue(2000, 13, 200);
    backlog.datagram(150);
    backlog.empty();
    assert_eq!(backlog.needed_bytes(8192, 0), Some(8192 + 10 * 2000));
    assert_eq!(backlog.most_queued_bytes, 8000);
    assert_eq!(Backlog::default().needed_bytes(8192, 0), None);
    // Large ones may have been dropped, though most are small.
    assert_eq!(backlog.needed_bytes(8192, 9000), Some(8192 + 10 * 9000));
}

#[test]
fn a_gap_in_which_the_socket_dropped_something_is_not_the_senders() {
    let mut listened = Listened::new(None, Some(1));
    let mut window = ListenWindow::new();
    for (arrived_ns, dropped) in [(10, 0), (20, 4), (25, 0)] {
        let heard = Heard {
            source: None,
            interface: 0,
            bytes: 1,
            payload: &[],
            arrived_ns,
            dropped,
        };
        listened.enter(&heard, &mut window);
    }
    let dropped = listened
        .silences
        .longest(20)
        .into_iter()
        .map(|gap| gap.dropped);
    assert_eq!(dropped.collect::<Vec<_>>(), [4, 0]);
    assert_eq!(window.longest_gap.map(|gap| gap.dropped), Some(4));
}

#[test]
fn a_queue_that_several_calls_read_is_counted_to_its_end() {
    let mut backlog = Backlog::default();
    // Before each call of two datagrams, the rest of the queue is smaller.
    let read = |backlog: &mut Backlog, datagrams: u64| {
        for (part, last) in [(3, 1), (2, 2), (1, 200)] {
            let bytes = u32::try_from(part * datagrams * 2000).expect("small");
            backlog.queue(bytes, 0, 100);
            (1..datagrams).for_each(|at| backlog.datagram(at));
            backlog.datagram(last);
        }
        // It came later.
        backlog.datagram(300);
    };
    read(&mut backlog, 3);
    assert_eq!(backlog.bytes_per_datagram(), None, "they are too few");
    read(&mut backlog, 10);
    let bytes = backlog.bytes_per_datagram();
    assert_eq!(bytes, Some(60_000_u64.div_ceil(29)), "one of 30 came later");
}
