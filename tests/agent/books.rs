//! Every datagram is accounted for, wherever senders and receivers run.

use std::time::Duration;

use udpbench::data::{Case, Sample, Side};
use udpbench::measure::Local;
use udpbench::measure::site::Sites;
use udpbench::sys::files::Root;
use udpbench::sys::reuseport_bpf;

use crate::{Run, agent, case, end, run};

#[test]
fn the_books_close_with_the_senders_in_an_agent() {
    let (child, mut senders) = agent();
    let root = Root::default();
    check_both_ways(&mut Sites::Two {
        receivers: &mut Local::new(&root),
        senders: &mut senders,
    });
    end(child, senders);
}

#[test]
fn the_books_close_with_the_receivers_in_an_agent() {
    let (child, mut receivers) = agent();
    let root = Root::default();
    check_both_ways(&mut Sites::Two {
        receivers: &mut receivers,
        senders: &mut Local::new(&root),
    });
    end(child, receivers);
}

#[test]
fn the_books_close_with_each_half_in_an_agent_of_its_own() {
    let (first, mut receivers) = agent();
    let (second, mut senders) = agent();
    check_both_ways(&mut Sites::Two {
        receivers: &mut receivers,
        senders: &mut senders,
    });
    end(first, receivers);
    end(second, senders);
}

#[test]
fn the_books_close_with_both_halves_in_one_agent() {
    let (child, mut site) = agent();
    check_both_ways(&mut Sites::One(&mut site));
    end(child, site);
}

#[test]
fn the_books_close_however_receivers_share_and_when_their_sockets_overflow() {
    let (child, mut receivers) = agent();
    let root = Root::default();
    let mut sites = Sites::Two {
        receivers: &mut receivers,
        senders: &mut Local::new(&root),
    };
    let mut ways = vec!["separate", "rcvbuf2048"];
    ways.extend(reuseport_bpf::probe().is_ok().then_some("bpf"));
    for way in ways {
        check_case(
            &case(&format!("std:std/4t/300B/connected/v4/{way}")),
            &mut sites,
        );
    }
    end(child, receivers);
}

/// Holds wherever the halves ran.
fn check(case: &Case, sample: &Sample) {
    let (key, books) = (case.key(), sample.books.of_window());
    assert_eq!(sample.fault(), None, "{key}: {:?}", sample.books);
    assert_eq!(books.unaccounted, 0, "{key}: {:?}", sample.books);
    assert!(books.received <= books.sent, "{key}: {books:?}");
    // Of the window's own datagrams, a socket may have dropped all.
    assert!(sample.books.at_end.received > 0, "{key}: {books:?}");
    let pairs = case.threads.senders();
    let sides: Vec<Side> = sample.lanes.iter().map(|lane| lane.side).collect();
    let (sender, receiver) = if case.asks() {
        (Side::Client, Side::Server)
    } else {
        (Side::Sender, Side::Receiver)
    };
    let expected = [vec![sender; pairs], vec![receiver; pairs]].concat();
    assert_eq!(sides, expected, "{key}");
    for lane in &sample.lanes {
        let (sent, received) = (lane.sent_packets, lane.received_packets);
        assert!(lane.side.sends() || sent == 0, "{key}: {lane:?}");
        assert!(lane.side.receives() || received == 0, "{key}: {lane:?}");
        assert!(lane.cpu_ns.is_some(), "{key}: {lane:?}");
    }
    assert!(sample.rcvbuf_bytes > 0 && sample.sndbuf_bytes > 0, "{key}");
    assert!(sample.other_cpu_ns.is_some(), "{key}");
    assert!(sample.coordinator_cpu_ns.is_some(), "{key}");
}

fn check_both_ways(sites: &mut Sites) {
    for engine in ["std:std", "mmsg:mmsg"] {
        let batch = if engine == "mmsg:mmsg" {
            "/batch32"
        } else {
            ""
        };
        for connection in ["connected", "unconnected"] {
            for threads in [2, 4] {
                let key = format!("{engine}/{threads}t/300B/{connection}/v4");
                check_case(&case(&format!("{key}{batch}")), sites);
                check_case(&case(&format!("{key}/ask")), sites);
            }
        }
    }
}

fn check_case(case: &Case, sites: &mut Sites) {
    const WINDOW: Duration = Duration::from_millis(10);
    let key = &case.key();
    let sample = run(case, Run::Window, WINDOW, sites).expect(key);
    check(case, &sample);
    assert!(u128::from(sample.window_ns) >= WINDOW.as_nanos());
    assert_eq!(sample.verified, None);

    let sample = run(case, Run::Verification, WINDOW, sites).expect(key);
    check(case, &sample);
    let verified = sample.verified.expect("somebody looked");
    assert_eq!(verified.packets, sample.books.at_end.received);
    assert_eq!(verified.fault(None), None, "{key}: {verified:?}");
}
