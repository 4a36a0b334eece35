//! Tests that impossible events are refused before anything is computed from them.

use std::time::Duration;

use super::*;
use crate::data::{EngineProperties, RoundTrips, ThreadSample, Verified};
use crate::host::placement::Placement;
use crate::plan::{Block, Decision, Plan, Planned, Schedule, Settings};
use crate::results::log::{Run, Window};
use crate::results::row::tests::{case, texts, window};
use crate::results::row::{EndedBy, Environment};

/// Returns a plan of one block with one case.
pub(crate) fn header() -> Header {
    let case = case();
    let settings = Settings {
        window: Duration::from_millis(100),
        ..Settings::default()
    };
    // The CPUs are those of `window`.
    let placement = Placement::from_lists(case.threads, &[0], &[1]).expect("two CPUs");
    let planned = Planned {
        case,
        verdict: Decision::Run(placement, Vec::new()),
    };
    let block = Block {
        key: case.block(),
        cases: vec![planned],
    };
    Header {
        run: Run::default(),
        board_asked: "auto".to_owned(),
        pin_asked: String::new(),
        schedule: Schedule {
            settings,
            rounds: 1000,
            until: None,
            verify: true,
            heat: Duration::ZERO,
            cooldown: None,
            seed: 1,
        },
        plan: Plan {
            engines: vec![EngineProperties::PLAIN],
            blocks: vec![block],
        },
        environment: Environment::default(),
        wire: None,
        earlier_runs: Vec::new(),
    }
}

/// Returns the event of a window of a sweep.
pub(crate) fn event(sample: Sample) -> Event {
    Event::Window(Box::new(Window {
        searched: None,
        side: None,
        tuning: None,
        sample,
    }))
}

/// Returns a replay whose block was begun, without windows.
fn begun() -> Replay {
    let mut replay = Replay::new(header());
    let begun = Event::BlockBegun {
        block: 0,
        warning: None,
    };
    replay.take(&begun).expect("it may begin");
    replay
}

/// Processes an event like one from a file.
fn read(replay: &mut Replay, event: &Event) -> Result<Vec<Row>, String> {
    event.impossible().map_or_else(|| replay.take(event), Err)
}

const MOST: u64 = (1 << 53) - 1;

#[test]
fn windows_whose_sums_would_overflow_are_refused() {
    let mut replay = begun();
    let take = |replay: &mut Replay, round| {
        let mut sample = window(round);
        sample.threads[0].voluntary_switches = Some(MOST);
        replay.take(&event(sample))
    };
    let refused = (1..).find_map(|round| Some((round, take(&mut replay, round).err()?)));
    let (round, problem) = refused.expect("there is an end");
    assert!(round > 100, "{round}: as many are possible");
    let expected =
        "the windows of std:std/2t/300B/connected/v4 counted more than can be: 2^60 or more in all";
    assert_eq!(problem, expected);
    assert_eq!(replay.unfinished().len(), 1, "what came before is kept");
}

#[test]
fn a_window_of_many_threads_whose_sum_would_overflow_is_refused() {
    let mut sample = window(1);
    let thread = ThreadSample {
        received_packets: MOST,
        ..sample.threads[1].clone()
    };
    sample.threads = vec![thread; 4096];
    let problem = read(&mut begun(), &event(sample));
    assert!(problem.is_err_and(|problem| problem.contains("2^60 or more")));
}

#[test]
fn a_window_that_is_measured_once_more_is_counted_and_in_no_row() {
    let repeat = |round, sample: Option<Sample>| Event::Repeated {
        of: Of::case(&case()),
        round,
        reason: "packet counts do not add up".to_owned(),
        is_disturbed: false,
        sample: sample.map(Box::new),
    };
    let mut faulty = window(2);
    faulty.accounting.at_end.sent += 1;
    let mut replay = begun();
    let mut take = |line: &Event| read(&mut replay, line).map(drop);
    assert_eq!(take(&event(window(1))), Ok(()));
    assert_eq!(take(&repeat(2, Some(faulty.clone()))), Ok(()));
    assert_eq!(take(&event(window(2))), Ok(()));
    assert_eq!(take(&repeat(3, None)), Ok(()));
    let rows = replay.unfinished();
    assert_eq!((rows[0].rounds, rows[0].repeated_windows), (2, Some(2)));
    assert_eq!(rows[0].unaccounted_packets, Some(0));
    let said = "bad windows were measured again (repeated_windows), the first as packet counts do not add up";
    assert!(texts(&rows[0]).iter().any(|text| text == said));
}

#[test]
fn counts_of_what_was_verified_have_the_limit_of_all_counts() {
    let mut sample = window(0);
    sample.position = 0;
    let received = sample.accounting.at_end.received;
    let mut take = |duplicated, truncated| {
        sample.verified = Some(Verified {
            packets: received,
            duplicated,
            truncated,
            ..Verified::default()
        });
        read(&mut begun(), &Event::Verified(Box::new(sample.clone())))
    };
    assert_eq!(take(received, received), Ok(Vec::new()));
    let problem = take(1 << 53, u64::MAX).expect_err("their sum would overflow");
    assert!(problem.ends_with("a count of 2^53 or more"), "{problem}");
}

#[test]
fn counts_that_would_underflow_and_buckets_that_do_not_exist_are_refused() {
    let refused = |change: fn(&mut Sample)| {
        let mut sample = window(1);
        change(&mut sample);
        read(&mut begun(), &event(sample)).expect_err("refused")
    };
    let problem = refused(|sample| sample.accounting.at_end.sent = 0);
    assert!(problem.ends_with("counts that decrease"), "{problem}");
    let problem = refused(|sample| sample.window_ns = 0);
    assert!(problem.ends_with("never open"), "{problem}");
    let problem = refused(|sample| {
        let times = serde_json::from_str("[[65535,1]]").expect("a histogram");
        let round_trips = RoundTrips {
            times,
            ..RoundTrips::default()
        };
        sample.round_trips = Some(round_trips);
    });
    assert!(problem.ends_with("buckets that cannot be"), "{problem}");
}

#[test]
fn a_case_has_a_window_per_round_of_the_schedule_while_its_block_is_measured() {
    let mut replay = begun();
    let mut take = |event: &Event| replay.take(event).map(drop);
    for round in [0, 1001] {
        let problem = take(&event(window(round))).expect_err("no such round");
        assert!(problem.contains("rounds 1 to 1000"), "{problem}");
    }
    assert_eq!(take(&event(window(1))), Ok(()));
    let problem = take(&event(window(1))).expect_err("it has it");
    assert!(problem.ends_with("twice"), "{problem}");
    let ended = Event::BlockEnded {
        block: 0,
        by: EndedBy::Rounds,
    };
    assert_eq!(take(&ended), Ok(()));
    for event in [ended, event(window(2))] {
        take(&event).expect_err("it has ended");
    }
}
