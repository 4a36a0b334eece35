//! Last lines of searches that other programs disturbed.

use std::collections::BTreeMap;
use std::time::Duration;

use super::super::header::LosslessQuestion;
use super::super::header::{FindHeader, SearchQuestion};
use super::super::table::answers;
use super::super::{Record, Search};
use crate::host::placement::Placement;
use crate::plan::{Block, Decision, Plan, Planned, Settings};
use crate::results::log::{Event, Of, Run, Window};
use crate::results::row::Environment;
use crate::results::row::tests::{case, window};
use crate::session::Experiment;
use crate::text::digits::whole;

/// Returns a search without trials, with the threads on these CPUs.
fn record(senders: &[usize], receivers: &[usize]) -> Record {
    let case = case();
    let placement = Placement::from_lists(case.threads, senders, receivers).expect("CPUs");
    let planned = Planned {
        case,
        verdict: Decision::Run(placement, Vec::new()),
    };
    let asked = LosslessQuestion {
        goal_pct: 0.0,
        exceed_pct: 50.0,
        trial: Duration::from_millis(100),
        sum: Duration::from_secs(1),
        width_pct: 1.0,
        recheck: Duration::ZERO,
    };
    let words = ["udpbench", "find", "lossless", "--engine", "std"];
    Record::new(FindHeader {
        run: Run::new("", words.map(str::to_owned).to_vec()),
        question: SearchQuestion::Lossless(asked),
        max_time: Duration::from_secs(50),
        settings: Settings::default(),
        plan: Plan {
            engines: Vec::new(),
            blocks: vec![Block {
                key: case.block(),
                cases: vec![planned],
            }],
        },
        environment: Environment::default(),
        truesizes: BTreeMap::new(),
        wire: None,
    })
}

/// Makes the next trial, which loses a third of its datagrams above 10,000 per second. `waited`: share of it in which
/// other programs had the CPU of the receiver.
fn try_next(record: &mut Record, waited: f64) {
    let next = record.cases[0].next().expect("it is not finished");
    let mut sample = window(1);
    sample.case = next.case.key();
    sample.window_ns = u64::try_from(next.window.as_nanos()).expect("short");
    sample.threads[1].waited_ns = Some(whole(waited * sample.window_ns as f64));
    sample.threads[1].cpu_ns = Some(sample.window_ns);
    let rate = next
        .case
        .rate
        .expect("a rate")
        .per_second(next.case.payload);
    let packets = whole((rate * next.window.as_secs_f64()).ceil());
    let lost = if rate > 10_000.0 { packets / 3 } else { 0 };
    sample.threads[0].sent_packets = packets;
    sample.threads[1].received_packets = packets - lost;
    for counts in [
        &mut sample.accounting.at_closing,
        &mut sample.accounting.at_end,
    ] {
        counts.sent = packets;
        counts.received = packets - lost;
        counts.dropped_socket = lost;
    }
    let event = Event::Window(Box::new(Window {
        searched: Some(case().key()),
        side: None,
        tuning: None,
        sample,
    }));
    record.take(&event).expect("the next trial");
}

fn repeat(record: &mut Record, reason: &str, is_disturbed: bool) {
    let event = Event::Repeated {
        of: Of::case(&case()),
        round: 0,
        reason: reason.to_owned(),
        is_disturbed,
        sample: None,
    };
    record.take(&event).expect("it may be made again");
}

const OTHERS: &str = "lost while other programs took the CPUs of its threads";

#[test]
fn a_search_that_others_spoiled_says_so_before_it_asks_for_more_time() {
    let mut record = record(&[0], &[1]);
    (0..20).for_each(|_| try_next(&mut record, 0.0));
    (0..17).for_each(|_| repeat(&mut record, OTHERS, true));
    repeat(&mut record, "packet counts do not add up", false);
    let report = answers(&record);
    let again = format!("18 trials were made again, 17 of them: {OTHERS}");
    assert!(report.notes.contains(&again), "{}", report.notes);
    let quality = "quality   poor: other programs disturbed it; not finished\n";
    let next = "next      stop what else runs, and mend what this names:\n          udpbench check\n          then search again:";
    for said in [quality, next] {
        assert!(report.answer.contains(said), "{}", report.answer);
    }
    assert!(!report.answer.contains("for longer"), "{}", report.answer);
}

#[test]
fn a_few_trials_that_were_made_again_are_no_doubt() {
    let mut record = record(&[0], &[1]);
    (0..20).for_each(|_| try_next(&mut record, 0.0));
    (0..6).for_each(|_| repeat(&mut record, OTHERS, true));
    // Faults are not the work of other programs.
    (0..6).for_each(|_| repeat(&mut record, "packet counts do not add up", false));
    let answer = answers(&record).answer;
    assert!(answer.contains("search again for longer"), "{answer}");
    assert!(!answer.contains("other programs"), "{answer}");
}

/// Returns the last lines of a finished search.
fn finished(senders: &[usize], receivers: &[usize], waited: f64) -> String {
    let mut record = record(senders, receivers);
    while record.cases[0].next().is_some() {
        try_next(&mut record, waited);
    }
    assert!(matches!(&record.cases[0].search, Search::Lossless(it) if it.found().load.is_some()));
    answers(&record).answer
}

#[test]
fn no_limit_is_named_where_others_or_the_other_end_had_its_cpu() {
    let limit = "; limit: receiver's CPU";
    let answer = finished(&[0], &[1], 0.0);
    assert!(answer.contains(limit), "{answer}");
    for answer in [finished(&[0], &[1], 0.5), finished(&[1], &[1], 0.0)] {
        assert!(
            answer.contains("k/s") && !answer.contains("limit"),
            "{answer}"
        );
    }
}
