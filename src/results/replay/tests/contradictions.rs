//! Tests that values that a file has twice must agree.

use super::*;
use crate::data::RoundTrips;
use crate::results::log::First;
use crate::results::row::EndedBy;

fn refusal(change: impl FnOnce(&mut Sample)) -> String {
    let mut sample = window(1);
    change(&mut sample);
    let taken = read(&mut begun(), &Event::window(sample));
    taken.expect_err("refused")
}

#[test]
fn threads_that_contradict_the_accounting_are_refused() {
    for change in [
        |sample: &mut Sample| {
            sample.threads[1].received_packets *= 10;
            sample.threads[1].received_bytes *= 10;
        },
        |sample: &mut Sample| sample.accounting.at_closing.received -= 1,
        |sample: &mut Sample| sample.accounting.at_opening.received += 1,
    ] {
        let problem = refusal(change);
        assert!(
            problem.contains(" datagrams received by the threads, but "),
            "{problem}"
        );
    }
    let problem = refusal(|sample| sample.threads[0].sent_packets += 1);
    let expected = "30001 datagrams sent by the threads, but 30000 by the accounting";
    assert!(problem.ends_with(expected), "{problem}");
}

#[test]
fn bytes_that_are_not_those_of_the_datagrams_are_refused() {
    for bytes in [300 * 20_000 + 1, 300 * 20_009, 300 * 2_000, 0] {
        let problem = refusal(|sample| sample.threads[1].received_bytes = bytes);
        let expected = format!("received {bytes} bytes in 20000 datagrams of 300 B");
        assert!(problem.contains(&expected), "{problem}");
    }
    // Two datagrams may lie between the two readings.
    let mut sample = window(1);
    sample.threads[1].received_bytes += 2 * 300;
    assert_eq!(begun().take(&Event::window(sample)), Ok(Vec::new()));
}

/// Accepts bytes of other senders if the kernel may have lost the same number of datagrams, perhaps in the warm-up,
/// so that the counts add up.
#[test]
fn bytes_of_strangers_are_kept_where_the_kernel_may_have_lost_as_many() {
    let mut sample = window(1);
    sample.threads[1].received_bytes += 17;
    sample.accounting.kernel_discards = 1;
    assert!(sample.is_sound());
    assert_eq!(begun().take(&Event::window(sample)), Ok(Vec::new()));
}

/// Accepts bytes of other senders if the counts do not add up, which the row reports.
#[test]
fn bytes_of_strangers_are_kept_where_the_accounting_do_not_close() {
    let mut sample = window(1);
    sample.threads[1].received_packets += 3;
    sample.threads[1].received_bytes += 17;
    sample.accounting.at_closing.received += 3;
    sample.accounting.at_end.received += 3;
    assert!(!sample.is_sound());
    assert_eq!(begun().take(&Event::window(sample)), Ok(Vec::new()));
}

#[test]
fn a_window_shorter_than_the_schedule_has_it_is_refused() {
    let problem = refusal(|sample| sample.window_ns = 99_999_999);
    assert!(problem.contains("shorter than the 100ms"), "{problem}");
    // A busy machine, or one that was suspended, can make the window arbitrarily long.
    let mut sample = window(1);
    sample.window_ns *= 1000;
    assert_eq!(begun().take(&Event::window(sample)), Ok(Vec::new()));
}

#[test]
fn threads_of_another_case_are_refused() {
    for change in [
        |sample: &mut Sample| sample.threads.swap(0, 1),
        |sample: &mut Sample| sample.threads.truncate(1),
        |sample: &mut Sample| sample.threads.extend(sample.threads.clone()),
        |sample: &mut Sample| sample.threads[1].side = Side::Worker,
    ] {
        let problem = refusal(change);
        assert!(problem.contains("the threads are not those"), "{problem}");
    }
    let problem = refusal(|sample| sample.threads[1].sent_packets = 1);
    assert!(
        problem.ends_with("thread 2, a receiver, sent datagrams"),
        "{problem}"
    );
    let problem = refusal(|sample| sample.threads[0].cpu = Some(7));
    assert!(
        problem.contains("thread 1 was pinned to CPU 7"),
        "{problem}"
    );
    let problem = refusal(|sample| sample.threads[0].cpu_ns = Some(11_000_000_000));
    assert!(
        problem.ends_with("a thread ran for 11s in a window of 100ms"),
        "{problem}"
    );
}

#[test]
fn rounds_and_positions_follow_the_schedule() {
    assert!(refusal(|sample| sample.round = 0).contains("rounds 1 to 1000"));
    assert!(refusal(|sample| sample.round = 1001).contains("rounds 1 to 1000"));
    for position in [0, 2] {
        let problem = refusal(|sample| sample.position = position);
        assert!(
            problem.ends_with("its block has 1 cases that run"),
            "{problem}"
        );
    }
    let mut replay = begun();
    let mut take = |round| replay.take(&Event::window(window(round)));
    assert_eq!(take(2), Ok(Vec::new()));
    let problem = take(1).expect_err("backwards");
    assert!(problem.ends_with("after a window of round 2"), "{problem}");
}

#[test]
fn a_block_ends_when_its_cases_have_their_windows() {
    let ended = |rounds, by| {
        let mut replay = begun();
        for round in 1..=rounds {
            let taken = replay.take(&Event::window(window(round)));
            assert_eq!(taken, Ok(Vec::new()));
        }
        replay.take(&Event::BlockEnded { block: 0, by })
    };
    assert!(ended(1000, EndedBy::Rounds).is_ok());
    for (rounds, by) in [
        (999, EndedBy::Rounds),
        (1000, EndedBy::Until),
        (1000, EndedBy::MaxTime),
    ] {
        let problem = ended(rounds, by).expect_err("refused");
        assert!(
            problem.contains("the schedule has 1000 rounds"),
            "{problem}"
        );
    }
}

#[test]
fn a_measured_window_verifies_nothing() {
    let problem = refusal(|sample| sample.verified = Some(Verified::default()));
    assert!(problem.contains("20000 received"), "{problem}");
    let problem = refusal(|sample| {
        sample.verified = Some(Verified {
            packets: 20_000,
            ..Verified::default()
        });
    });
    assert!(
        problem.ends_with("before the first round only"),
        "{problem}"
    );
}

fn wrong_header(change: impl FnOnce(&mut Header)) -> String {
    let mut header = begun().header().clone();
    header.environment.seed = header.schedule.seed;
    assert_eq!(header.contradiction(), None);
    change(&mut header);
    header.contradiction().expect("a contradiction")
}

#[test]
fn a_header_agrees_with_itself() {
    let other_threads = |header: &mut Header| {
        header.plan.blocks[0].key.threads = 4.try_into().expect("in range");
    };
    let problem = wrong_header(other_threads);
    assert!(
        problem.starts_with("block 0: its key is 4 threads"),
        "{problem}"
    );
    let twice = |header: &mut Header| header.plan.blocks.extend(header.plan.blocks.clone());
    assert!(wrong_header(twice).ends_with("v4 twice"));
    let unplaced = |header: &mut Header| {
        let one = Placement::unpinned(1.try_into().expect("in range"));
        header.plan.blocks[0].cases[0].verdict = Decision::Run(one, Vec::new());
    };
    assert!(wrong_header(unplaced).contains("one CPU per thread"));
    let shared = |header: &mut Header| {
        header.plan.blocks[0].cases[0].case.sharing = Some(crate::data::Sharing::DEFAULT);
    };
    assert!(wrong_header(shared).contains("two receivers or more"));
    assert!(wrong_header(|header| header.schedule.rounds = 0).contains("0 rounds"));
    assert!(wrong_header(|header| header.schedule.seed = 9).starts_with("the seed is 9"));
    let warmer = |header: &mut Header| header.environment.warmup_ms = 50.0;
    assert!(wrong_header(warmer).starts_with("the warm-up is 0 ms"));
}

#[test]
fn round_trips_where_nobody_asked_are_refused() {
    let problem = refusal(|sample| sample.round_trips = Some(RoundTrips::default()));
    assert!(
        problem.contains("round trips, although nobody asks"),
        "{problem}"
    );
}
