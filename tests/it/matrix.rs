//! Every registered engine over real sockets, in every combination. Every datagram is accounted for, at any speed.

use std::iter;
use std::time::Duration;

use udpbench::data::{Case, Connection, EngineName, Group, Ip, Sample, Sharing, Spread};
use udpbench::engines::{self, Entry};
use udpbench::plan::Settings;
use udpbench::sys::reuseport;

use crate::common::cases::{self, built_and_runnable, case, engines_of, matrix, on_workers};

/// The case with a receive buffer so small that a flood overflows it, whatever the machine.
fn overflowing(case: Case) -> Case {
    Case {
        rcvbuf: 2048.try_into().expect("in range"),
        ..case
    }
}

/// quinn-udp receives 32 aggregates of up to 128 datagrams.
const MOST_PER_CALL: u64 = 32 * 128;

fn measure(case: &Case) -> Sample {
    let settings = Settings {
        warmup: Duration::from_millis(1),
        window: Duration::from_millis(3),
        ..Settings::default()
    };
    cases::window(case, &settings)
}

/// Holds for any engine on any machine. Returns how many datagrams the socket dropped.
fn check_invariants(case: &Case, sample: &Sample) -> u64 {
    let (key, accounting) = (case.key(), sample.accounting.of_window());
    assert_eq!(accounting.unaccounted, 0, "{key}: {:?}", sample.accounting);
    assert!(
        accounting.received <= accounting.sent,
        "{key}: {accounting:?}"
    );
    let (sender, receiver) = engines_of(case);
    if receiver.about.starves.is_none() {
        assert_eq!(accounting.unread, 0, "{key}: {:?}", sample.accounting);
    }
    // Nothing of the warm-up: what the threads did in the window is at most what was done since it opened.
    let (before, end) = (sample.accounting.at_opening, sample.accounting.at_end);
    let sent: u64 = sample
        .threads
        .iter()
        .map(|thread| thread.sent_packets)
        .sum();
    let received: u64 = sample
        .threads
        .iter()
        .map(|thread| thread.received_packets)
        .sum();
    assert_eq!(accounting.sent, end.sent - before.sent, "{key}");
    assert!(sent <= end.sent - before.sent, "{key}: {sample:?}");
    assert!(
        received <= end.received - before.received,
        "{key}: {sample:?}"
    );
    // Every datagram has the payload that was asked for. Packets and bytes are read one after the other,
    // so at either edge a burst may be in one and not yet in the other; those of `null` have no limit.
    let payload = case.payload.bytes() as u64;
    let burst = |entry: &Entry| match entry.about.group {
        Group::Batch | Group::Offload => MOST_PER_CALL * payload,
        _ => payload,
    };
    if sender.about.moves_datagrams {
        for thread in &sample.threads {
            assert_eq!(thread.refused_packets, 0, "{key}: {thread:?}");
            let skew = thread
                .received_bytes
                .abs_diff(thread.received_packets * payload);
            assert!(skew <= 2 * burst(receiver), "{key}: {thread:?}");
        }
    }
    accounting.dropped_socket
}

#[test]
fn the_accounting_closes_over_the_whole_matrix_while_sockets_overflow() {
    for connection in [Connection::Connected, Connection::Unconnected] {
        for ip in [Ip::V4, Ip::V6] {
            let mut cases = matrix(300);
            cases.retain(|case| (case.connection, case.ip) == (connection, ip));
            let drops = |case: &Case| check_invariants(case, &measure(&overflowing(*case)));
            let dropped: u64 = cases.iter().map(drops).sum();
            assert!(
                cases.is_empty() || dropped > 0,
                "{connection} {ip}: nothing overflowed"
            );
        }
    }
}

#[test]
fn the_accounting_closes_at_the_ends_of_the_payload_axis() {
    for payload in [0, 65_507] {
        for case in matrix(payload) {
            check_invariants(&case, &measure(&case));
        }
    }
}

#[test]
fn any_sender_meets_any_receiver() {
    let moving = || {
        let all = engines::all().filter(|entry| entry.about.moves_datagrams);
        all.filter(|entry| entry.probe().is_ok())
    };
    let is_under_test = |entry: &Entry| built_and_runnable().any(|it| it == entry);
    for sender in moving().filter(|entry| entry.sends()) {
        for receiver in moving().filter(|entry| entry.receives()) {
            if !is_under_test(sender) && !is_under_test(receiver) {
                continue;
            }
            let case = Case {
                connection: Connection::Unconnected,
                ..case(sender, receiver, 2, 26)
            };
            for case in iter::once(case).chain(on_workers(&case)) {
                check_invariants(&case, &measure(&overflowing(case)));
            }
        }
    }
}

#[test]
fn the_accounting_closes_however_receivers_share_the_port() {
    for sharing in [
        Sharing::Reuseport(Spread::Hash),
        Sharing::Reuseport(Spread::Bpf),
        Sharing::Reuseaddr,
        Sharing::Separate,
    ] {
        if sharing == Sharing::Reuseport(Spread::Bpf) && reuseport::probe_bpf().is_err() {
            continue;
        }
        // The engines have no part in it, but the kernel counts what it joins in its own way.
        let mut cases = matrix(26);
        let is_plain = |case: &Case| case.sender == EngineName::REFERENCE;
        cases.retain(|case| is_plain(case) || engines_of(case).1.about.receives_aggregates);
        cases.retain(|case| case.threads.receivers() > 1);
        for case in cases {
            let case = Case {
                sharing: Some(sharing),
                ..overflowing(case)
            };
            check_invariants(&case, &measure(&case));
        }
    }
}

#[test]
fn each_way_to_share_gives_the_receivers_what_it_says() {
    for connection in [Connection::Connected, Connection::Unconnected] {
        for (sharing, reached) in [
            (Sharing::DEFAULT, 3),
            (Sharing::Reuseport(Spread::Bpf), 3),
            (Sharing::Separate, 3),
            (Sharing::Reuseaddr, 1),
        ] {
            if sharing == Sharing::Reuseport(Spread::Bpf) && reuseport::probe_bpf().is_err() {
                continue;
            }
            let std = engines::reference();
            let case = Case {
                sharing: Some(sharing),
                connection,
                ..case(std, std, 6, 300)
            };
            // On a busy machine, not every thread gets its turn in every window.
            let receivers = || {
                let threads = measure(&case).threads.into_iter();
                threads.filter(|thread| thread.received_packets > 0).count()
            };
            let most = (0..50).map(|_| receivers()).find(|&count| count >= reached);
            assert_eq!(most, Some(reached), "{}", case.key());
        }
    }
}

#[test]
fn buffers_are_granted_as_asked_for() {
    let std = engines::reference();
    let case = Case {
        rcvbuf: 65_536.try_into().expect("in range"),
        sndbuf: Some(32_768.try_into().expect("in range")),
        ..case(std, std, 2, 300)
    };
    let sample = measure(&case);
    // The kernel doubles them: socket(7). Emulators do not.
    assert!(
        [65_536, 131_072].contains(&sample.rcvbuf_bytes),
        "{sample:?}"
    );
    assert!(
        [32_768, 65_536].contains(&sample.sndbuf_bytes),
        "{sample:?}"
    );
}

#[test]
fn many_more_threads_than_cpus_do_not_hang() {
    let std = engines::reference();
    for threads in [7, 33] {
        let case = case(std, std, threads, 26);
        check_invariants(&case, &measure(&overflowing(case)));
    }
}

#[test]
fn a_receiver_that_starves_is_seen_to_starve() {
    for entry in engines::all().filter(|entry| entry.about.starves.is_some()) {
        let case = overflowing(case(engines::reference(), entry, 4, 26));
        // A flood over a tiny buffer outruns it at some point: then its queue stays full.
        let starved = (0..100).any(|_| measure(&case).accounting.unread > 0);
        assert!(starved, "{entry} never starved");
    }
}
