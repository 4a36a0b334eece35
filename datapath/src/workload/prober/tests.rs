use std::time::Duration;

use super::*;
use crate::workload::echo::Echo;
use crate::workload::probe::{OneWay, PROBE_BYTES};

const PROBING: Probing = Probing {
    gap_ns: 1e6,
    probes: 100,
    payload_bytes: PROBE_BYTES,
    timeout_ns: 200_000_000,
};

fn outcomes(prober: Prober) -> Vec<ProbeOutcome> {
    let mut outcomes = Vec::new();
    prober.run(&StopRequested::default(), |batch| {
        outcomes.extend(batch.outcomes);
    });
    outcomes
}

#[test]
fn each_probe_has_one_outcome_in_the_order_of_their_numbers() {
    let token = [7; 16];
    let error_us = Arc::new(7.into());
    let echo = Echo::bind((Ipv4Addr::LOCALHOST, 0).into(), token, error_us);
    let echo = echo.expect("loopback is up");
    let target = Arc::<Target>::default();
    target.set(echo.address().expect("it is bound"), token);
    std::thread::spawn(move || echo.run(Duration::from_secs(2)));
    let prober = Prober::new(PROBING, Arc::clone(&target)).expect("loopback is up");
    let found = outcomes(prober);
    let due: Vec<u64> = found.iter().map(|it| it.at_ns).collect();
    assert_eq!(due, (0..100).map(|n| n * 1_000_000).collect::<Vec<_>>());
    let returned = found
        .iter()
        .filter(|it| matches!(it.fate, Fate::Returned(_)));
    // A busy machine may leave some unsent, but loses none.
    let unsent = found.iter().filter(|it| it.fate == Fate::Unsent);
    assert_eq!(returned.count() + unsent.count(), 100);
    assert!(target.heard_ns() > 0);
    for ProbeOutcome { fate, .. } in &found {
        let Fate::Returned(it) = fate else { continue };
        let OneWay {
            forward_ns,
            back_ns,
        } = it.one_way;
        assert!(forward_ns > 0 && back_ns > 0, "{it:?}");
        // Both ends have the same clock, and the time in the echo has microseconds.
        let sum = forward_ns + back_ns + 1000 * i64::from(it.state.held_us);
        assert!(
            i64::try_from(it.rtt_ns).is_ok_and(|rtt| rtt == sum),
            "{it:?}"
        );
        assert_eq!(it.state.clock_error_us, 7);
    }
}

#[test]
fn probes_that_nobody_returns_are_lost_and_icmp_says_so() {
    let gone = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
    let address = gone.local_addr().expect("it is bound");
    drop(gone);
    let target = Arc::<Target>::default();
    target.set(address, [7; 16]);
    let prober = Prober::new(PROBING, target).expect("loopback is up");
    let mut unreachable = 0;
    let mut returned = 0;
    prober.run(&StopRequested::default(), |batch| {
        let is_return = |it: &&ProbeOutcome| matches!(it.fate, Fate::Returned(_));
        returned += batch.outcomes.iter().filter(is_return).count();
        unreachable = batch.unreachable;
    });
    assert_eq!(returned, 0);
    assert!(unreachable > 0);
}
