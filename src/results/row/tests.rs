//! Tests of rows computed from windows made by hand.

use super::*;
use crate::data::{Accounting, Case, Counts, Sample, Side, ThreadSample};
use crate::host::placement::Placement;
use crate::sys::cpu_speed::CpuSpeed;
use crate::sys::idle_states::{IdleState, IdleTimes};
use crate::sys::run_queue::CpuTaken;
use crate::sys::sensors::SensorReadings;

pub(crate) use self::wire::{path, row_of_a_wire};

/// Returns the case with a key.
pub(crate) fn of_key(key: &str) -> Case {
    Case::of_key(key).expect(key)
}

/// Returns the row with the case of its columns. What only the key has stays.
pub(crate) fn with_case_of_columns(row: Row) -> Row {
    let columns = format!(
        "{}:{}/{}t/{}B/{}/{}",
        row.sender, row.receiver, row.threads, row.payload_bytes, row.connection, row.ip
    );
    let key = row.case.key();
    let besides = key.splitn(6, '/').nth(5);
    let whole = besides.and_then(|besides| Case::of_key(&format!("{columns}/{besides}")));
    let case = whole.or_else(|| Case::of_key(&columns));
    Row {
        case: case.unwrap_or(row.case),
        ..row
    }
}

/// Returns the placement of the threads of [`window`].
pub(crate) fn two_cpus() -> Placement {
    Placement::from_lists(case().threads, &[0], &[1]).expect("two CPUs")
}

/// Returns the texts of a row's warnings.
pub(crate) fn texts(row: &Row) -> Vec<String> {
    row.warnings.iter().map(Warning::to_string).collect()
}

/// Returns a warning with this text.
pub(crate) fn remark(text: &str) -> Warning {
    let text = text.to_owned();
    CaseWarning::Remark { text }.into()
}

pub(crate) fn case() -> Case {
    Case::of_key("std:std/2t/300B/connected/v4").expect("a case")
}

/// Returns a window of 100 ms: 30,000 datagrams of 300 B sent, 20,000 received, and 10,000 dropped.
pub(crate) fn window(round: u32) -> Sample {
    let thread = |side, sent, received, cpu_ns| ThreadSample {
        side,
        cpu: Some(u32::from(side == Side::Receiver)),
        sent_packets: sent,
        refused_packets: 0,
        refusal: None,
        received_packets: received,
        received_bytes: 300 * received,
        would_blocks: 0,
        errors: 0,
        cpu_ns: Some(cpu_ns),
        waited_ns: Some(0),
        taken: Some(CpuTaken::default()),
        voluntary_switches: Some(0),
        involuntary_switches: Some(0),
        pace: None,
        remark: None,
    };
    Sample {
        case: case().key(),
        round,
        position: 1,
        opened_unix_ms: 1_000,
        window_ns: 100_000_000,
        threads: vec![
            thread(Side::Sender, 30_000, 0, 99_000_000),
            thread(Side::Receiver, 0, 20_000, 30_000_000),
        ],
        other_cpu_ns: Some(0),
        coordinator_cpu_ns: Some(0),
        power_uw: None,
        paths: Vec::new(),
        accounting: Accounting {
            at_opening: Counts::default(),
            at_closing: counts(30_000, 20_000, 10_000),
            at_end: counts(30_000, 20_000, 10_000),
            ..Accounting::default()
        },
        rcvbuf_bytes: 4096,
        sndbuf_bytes: 8192,
        climate: SensorReadings {
            first_millic: Some(50_000),
            last_millic: Some(51_250),
            hottest_millic: Some(51_500),
            throttle_bits: Some(0),
            under_voltage: Some(false),
            cooling: Some(false),
            lowest_khz: Some(600_000),
        },
        idle_times: IdleTimes {
            cpus: 2,
            states: vec![IdleState {
                name: "WFI".to_owned(),
                ns: 50_000_000,
            }],
        },
        round_trips: None,
        pacing: None,
        busy_polled: None,
        flow_packets: Vec::new(),
        verified: None,
    }
}

fn counts(sent: u64, received: u64, dropped_socket: u64) -> Counts {
    Counts {
        sent,
        received,
        dropped_socket,
        ..Counts::default()
    }
}

fn make_row(samples: &[Sample], reference: &[Sample], ended: Result<EndedBy, Reason>) -> Row {
    make_row_in(&Environment::default(), samples, reference, ended)
}

fn make_row_in(
    environment: &Environment,
    samples: &[Sample],
    reference: &[Sample],
    ended: Result<EndedBy, Reason>,
) -> Row {
    let case = case();
    let input = RowInput {
        pin: Some(&two_cpus()),
        ended,
        samples,
        reference,
        ..RowInput::skipped(&case, String::new())
    };
    Row::new(&input, environment)
}

pub(super) fn six() -> Vec<Sample> {
    (1..=6).map(window).collect()
}

/// Returns an ordinary row, which other tests change.
pub(crate) fn ordinary_row() -> Row {
    make_row(&six(), &six(), Ok(EndedBy::Rounds))
}

/// Returns [`window`] with the CPU time on two workers (70 and 60 ms) instead of the bench threads.
fn window_of_workers(round: u32) -> Sample {
    let mut window = window(round);
    for thread in &mut window.threads {
        (thread.cpu, thread.cpu_ns) = (None, None);
    }
    for cpu_ns in [70_000_000, 60_000_000] {
        window.threads.push(ThreadSample {
            side: Side::Worker,
            cpu_ns: Some(cpu_ns),
            sent_packets: 0,
            ..window.threads[0].clone()
        });
    }
    window
}

#[test]
fn the_cpu_time_of_workers_is_on_nobodys_side() {
    let windows: Vec<Sample> = (1..=6).map(window_of_workers).collect();
    let row = make_row(&windows, &six(), Ok(EndedBy::Rounds));
    assert_eq!(row.sender_cpu_ns_per_packet, None);
    assert_eq!(row.receiver_cpu_ns_per_packet, None);
    assert_eq!(row.cpu_ns_per_packet, Some(6500.0));
    assert_eq!(row.receiver_share_min_pct, Some(100.0));
    assert_eq!(row.received_pps, ordinary_row().received_pps);
}

#[test]
fn a_side_that_no_worker_runs_has_its_own_cpu_time() {
    let mut windows: Vec<Sample> = (1..=6).map(window_of_workers).collect();
    for window in &mut windows {
        window.threads[0].cpu_ns = Some(30_000_000);
    }
    let row = make_row(&windows, &six(), Ok(EndedBy::Rounds));
    assert_eq!(row.sender_cpu_ns_per_packet, Some(1000.0));
    assert_eq!(row.receiver_cpu_ns_per_packet, None);
    assert_eq!(row.cpu_ns_per_packet, Some(8000.0));
}

#[test]
fn the_numbers_are_those_that_a_pocket_calculator_gives() {
    let row = ordinary_row();
    assert_eq!(
        (row.status, row.rounds, row.window_ms),
        (Status::Ok, 6, Some(100.0))
    );
    assert_eq!(row.received_pps, Some(200_000.0));
    assert_eq!(row.sent_pps, Some(300_000.0));
    assert_eq!(row.received_mbps, Some(480.0));
    assert_eq!(row.loss_pct, Some(33.3333));
    assert_eq!(
        (row.sent_packets, row.received_packets),
        (Some(180_000), Some(120_000))
    );
    assert_eq!(row.dropped_socket_packets, Some(60_000));
    assert_eq!(
        (row.dropped_kernel_packets, row.unaccounted_packets),
        (Some(0), Some(0))
    );
    assert_eq!(row.sender_cpu_ns_per_packet, Some(3_300.0));
    assert_eq!(row.receiver_cpu_ns_per_packet, Some(1_500.0));
    assert_eq!(row.cpu_ns_per_packet, Some(6_450.0));
    assert_eq!(
        (row.ratio_to_std, row.cpu_ratio_to_std),
        (Some(1.0), Some(1.0))
    );
    assert_eq!((row.interval_pct, row.cv_pct), (Some(96.9), Some(0.0)));
    assert_eq!(
        (row.receiver_share_min_pct, row.disturbed_windows),
        (Some(100.0), Some(0))
    );
    assert_eq!(
        (row.temp_c_start, row.temp_c_end),
        (Some(50.0), Some(51.25))
    );
    assert_eq!((row.temp_c_max, &*row.throttled), (Some(51.5), "no"));
    assert_eq!(row.freq_low_mhz, Some(600.0));
    assert_eq!(row.started_at, "1970-01-01T00:00:01.000Z");
    assert_eq!(row.warnings, []);
}

#[test]
fn ratios_are_taken_within_a_round() {
    let mut samples = six();
    let mut reference = six();
    // Everything is twice as slow in one round, which the ratio must not show.
    for sample in [&mut samples[2], &mut reference[2]] {
        sample.window_ns *= 2;
        sample.threads[0].cpu_ns = Some(198_000_000);
    }
    reference.reverse();
    let row = make_row(&samples, &reference, Ok(EndedBy::Rounds));
    assert_eq!(
        (row.ratio_to_std_low, row.ratio_to_std_high),
        (Some(1.0), Some(1.0))
    );
    assert_eq!(row.received_pps_low, Some(100_000.0));
    // Without partners there is a warning.
    let row = make_row(&samples, &reference[..2], Ok(EndedBy::Rounds));
    assert!(
        row.warnings.contains(&CaseWarning::NoPartner.into()),
        "{row:?}"
    );
    let row = make_row(&samples, &[], Ok(EndedBy::Rounds));
    assert_eq!((row.ratio_to_std, row.ratio_to_std_low), (None, None));
}

#[test]
fn a_starved_or_faulty_case_has_counts_but_no_speed() {
    let mut starved = six();
    starved[0].accounting.unread = 1;
    starved[0].accounting.at_end.received -= 1;
    // A sender that counts too little may leave datagrams unread, too.
    let mut uncounted = starved.clone();
    uncounted[0].accounting.unread = 100;
    let mut faulty = six();
    // Missing datagrams in one window and unexpected ones in another must not cancel.
    faulty[0].accounting.at_end.received -= 1;
    faulty[1].accounting.at_end.received += 1;
    for (samples, reason) in [
        (starved, "starved"),
        (uncounted, "packet counts do not add up in 1 window"),
        (faulty, "packet counts do not add up in 2 windows"),
    ] {
        let row = make_row(&samples, &six(), Ok(EndedBy::Rounds));
        assert_eq!(row.status, Status::Failed);
        let said = row.reason.to_string();
        assert!(said.starts_with(reason), "{said}");
        assert_eq!((row.received_pps, row.ratio_to_std), (None, None));
        assert_eq!(row.sent_packets, Some(180_000));
    }
}

#[test]
fn an_interrupted_case_says_what_its_rounds_say() {
    let row = make_row(
        &six()[..1],
        &six()[..1],
        Err(Reason::Interrupted(Interruption::Signal)),
    );
    assert_eq!((row.status, row.rounds), (Status::Interrupted, 1));
    assert_eq!(
        (row.received_pps, row.received_pps_low),
        (Some(200_000.0), None)
    );
    let row = make_row(
        &six(),
        &six(),
        Err(Reason::Interrupted(Interruption::Signal)),
    );
    assert_eq!((row.status, row.ended_by.as_str()), (Status::Ok, "signal"));
    let row = make_row(&[], &[], Err(Reason::Interrupted(Interruption::Signal)));
    assert_eq!(
        (row.status, row.rounds, row.sent_packets),
        (Status::Interrupted, 0, None)
    );
    let lost = Interruption::Lost {
        why: "silent for 3 s".to_owned(),
    };
    for (why, name, reason) in [
        (Interruption::Signal, "signal", "ended by a signal"),
        (lost, "other-host", "the other host is gone: silent for 3 s"),
        (
            Interruption::Unknown,
            "unknown",
            "the log ends before the case does",
        ),
    ] {
        let row = make_row(&[], &[], Err(Reason::Interrupted(why)));
        assert_eq!(
            (row.ended_by.as_str(), row.reason.to_string().as_str()),
            (name, reason)
        );
    }
}

#[test]
fn what_is_missing_in_one_window_and_too_much_in_another_does_not_cancel() {
    let mut samples = six();
    samples[0].accounting.at_end.received += 1;
    samples[1].accounting.at_end.received -= 1;
    let row = make_row(&samples, &six(), Ok(EndedBy::Rounds));
    assert_eq!(row.status, Status::Failed);
    let failure = Failure::CountsDiffer {
        windows: 2,
        datagrams: 2,
    };
    assert_eq!(row.reason, Reason::Failed(failure));
}

mod contamination;
mod dead;
mod energy;
mod requests;
mod stalls;
mod warnings;
mod wire;
