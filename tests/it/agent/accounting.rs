//! Accounting: every datagram is accounted for, on whichever agents senders and receivers run.

use std::time::Duration;

use udpbench::data::{Case, Direction, Sample, Side};
use udpbench::sys::reuseport;
use udpbench::trial::agents::Agents;

use super::{case, end, far_agent, run, spec, with_agents};

#[test]
fn the_accounting_closes_on_one_host() {
    with_agents(None, |agents| check_all(None, agents));
}

#[test]
fn the_accounting_closes_with_the_senders_on_the_other_host() {
    let (child, mut senders) = far_agent();
    with_agents(Some(&mut senders), |agents| {
        check_all(Some(Direction::Down), agents);
    });
    end(child, senders);
}

#[test]
fn the_accounting_closes_with_the_receivers_on_the_other_host() {
    let (child, mut receivers) = far_agent();
    with_agents(Some(&mut receivers), |agents| {
        check_all(Some(Direction::Up), agents);
    });
    end(child, receivers);
}

#[test]
fn the_accounting_closes_however_receivers_share_and_when_their_sockets_overflow() {
    let (child, mut receivers) = far_agent();
    let mut ways = vec!["separate", "rcvbuf2048"];
    ways.extend(reuseport::probe_bpf().is_ok().then_some("bpf"));
    with_agents(Some(&mut receivers), |agents| {
        for way in ways {
            let case = case(&format!("std:std/4t/300B/connected/v4/{way}"));
            let direction = Some(Direction::Up);
            check_case(&Case { direction, ..case }, agents);
        }
    });
    end(child, receivers);
}

/// Holds wherever its ends ran.
fn check(case: &Case, sample: &Sample) {
    let (key, accounting) = (case.key(), sample.account());
    assert_eq!(sample.fault(), None, "{key}: {:?}", sample.accounting);
    assert_eq!(accounting.unaccounted, 0, "{key}: {:?}", sample.accounting);
    assert!(
        accounting.received <= accounting.sent,
        "{key}: {accounting:?}"
    );
    // Of the window's own datagrams, a socket may have dropped all.
    assert!(
        sample.accounting.at_end.received > 0,
        "{key}: {accounting:?}"
    );
    let pairs = case.threads.senders();
    let sides: Vec<Side> = sample.threads.iter().map(|thread| thread.side).collect();
    let (sender, receiver) = if case.is_rr() {
        (Side::Client, Side::Server)
    } else {
        (Side::Sender, Side::Receiver)
    };
    let expected = [vec![sender; pairs], vec![receiver; pairs]].concat();
    assert_eq!(sides, expected, "{key}");
    for thread in &sample.threads {
        let (sent, received) = (thread.sent_packets, thread.received_packets);
        assert!(thread.side.sends() || sent == 0, "{key}: {thread:?}");
        assert!(thread.side.receives() || received == 0, "{key}: {thread:?}");
        assert!(thread.cpu_ns.is_some(), "{key}: {thread:?}");
    }
    assert!(sample.rcvbuf_bytes > 0 && sample.sndbuf_bytes > 0, "{key}");
    assert!(sample.other_cpu_ns.is_some(), "{key}");
    assert!(sample.coordinator_cpu_ns.is_some(), "{key}");
}

fn check_all(direction: Option<Direction>, agents: &mut Agents) {
    for engine in ["std:std", "mmsg:mmsg"] {
        let batch = if engine == "mmsg:mmsg" {
            "/batch32"
        } else {
            ""
        };
        for connection in ["connected", "unconnected"] {
            for threads in [2, 4] {
                let key = format!("{engine}/{threads}t/300B/{connection}/v4");
                for kind in [batch, "/rr"] {
                    let case = case(&format!("{key}{kind}"));
                    check_case(&Case { direction, ..case }, agents);
                }
            }
        }
    }
}

fn check_case(case: &Case, agents: &mut Agents) {
    const WINDOW: Duration = Duration::from_millis(10);
    let key = &case.key();
    let trial = spec(case, WINDOW);
    let sample = run(&trial, agents).expect(key);
    check(case, &sample);
    assert!(u128::from(sample.window_ns) >= WINDOW.as_nanos());
    assert_eq!(sample.verified, None);

    let sample = trial.verify(|trial| run(trial, agents)).expect(key);
    check(case, &sample);
    let verified = sample.verified.expect("somebody looked");
    assert_eq!(verified.packets, sample.accounting.at_end.received);
    assert_eq!(verified.fault(None), None, "{key}: {verified:?}");
}
