//! Tests that a case that moved nothing has failed, although its counts add up.

use super::*;

/// Returns windows in which the kernel dropped all `sent` datagrams.
fn dead(sent: u64) -> Vec<Sample> {
    let mut samples = six();
    for sample in &mut samples {
        let [sender, receiver] = &mut sample.threads[..] else {
            panic!("two threads")
        };
        sender.sent_packets = sent;
        (receiver.received_packets, receiver.received_bytes) = (0, 0);
        let all = counts(sent, 0, 0);
        (sample.accounting.at_closing, sample.accounting.at_end) = (all, all);
        sample.accounting.kernel_discards = sent;
    }
    samples
}

fn verdict(samples: &[Sample]) -> (Status, String) {
    let row = make_row(samples, &six(), Ok(EndedBy::Rounds));
    (row.status, row.reason.to_string())
}

#[test]
fn a_case_that_received_nothing_failed() {
    let expected = (Status::Failed, "nothing was received".to_owned());
    assert_eq!(verdict(&dead(30_000)), expected);
    let row = make_row(
        &dead(30_000),
        &six(),
        Err(Reason::Interrupted(Interruption::Signal)),
    );
    assert_eq!((row.status, row.received_pps), (Status::Failed, None));
    assert_eq!(
        (row.sent_packets, row.loss_pct),
        (Some(180_000), Some(100.0))
    );
}

#[test]
fn a_case_that_sent_nothing_failed_and_says_how_many_calls_did() {
    let mut samples = dead(0);
    assert_eq!(verdict(&samples).1, "nothing was sent");
    samples[1].threads[0].errors = 7;
    assert_eq!(
        verdict(&samples).1,
        "nothing was sent: 7 system calls failed"
    );
}

#[test]
fn datagrams_without_payload_are_datagrams() {
    let mut samples = six();
    for thread in samples.iter_mut().flat_map(|sample| &mut sample.threads) {
        thread.received_bytes = 0;
    }
    assert_eq!(verdict(&samples).0, Status::Ok);
}

#[test]
fn one_window_that_received_something_is_enough_and_so_is_the_drain_after_it() {
    let mut samples = dead(30_000);
    samples[4] = window(5);
    assert_eq!(verdict(&samples).0, Status::Ok);
    let mut late = dead(30_000);
    late[0].accounting.at_end.received = 30_000;
    late[0].accounting.kernel_discards = 0;
    assert_eq!(verdict(&late).0, Status::Ok);
}

#[test]
fn nothing_measured_is_not_dead() {
    let row = make_row(&[], &[], Err(Reason::Interrupted(Interruption::Signal)));
    assert_eq!(row.status, Status::Interrupted);
}

#[test]
fn a_thread_that_moved_nothing_beside_one_that_did_is_named() {
    let mut samples = six();
    for sample in &mut samples {
        let mut idle = sample.threads.clone();
        idle[0].sent_packets = 0;
        (idle[1].received_packets, idle[1].received_bytes) = (0, 0);
        sample.threads.splice(1..1, [idle[0].clone()]);
        sample.threads.push(idle[1].clone());
    }
    let warnings = make_row(&samples, &six(), Ok(EndedBy::Rounds)).warnings;
    let (idle, all) = (1, 2);
    let senders = CaseWarning::IdleSenders { idle, all };
    let receivers = CaseWarning::IdleReceivers { idle, all };
    assert_eq!(warnings, [senders.into(), receivers.into()]);
    samples[3].threads[1].sent_packets = 1;
    samples[3].threads[3].received_packets = 1;
    let warnings = make_row(&samples, &six(), Ok(EndedBy::Rounds)).warnings;
    assert_eq!(warnings, []);
}
