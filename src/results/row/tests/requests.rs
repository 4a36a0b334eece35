//! Tests of rows with requests, in which responses are the result and clients are the senders.

use super::*;
use crate::data::{Histogram, Outstanding, RoundTrips, bucket_of};

/// Returns a window of 100 ms with 1,000 requests. 990 got a response after 50 us, the others never.
fn window_of_requests(round: u32, sides: &[Side]) -> Sample {
    let plain = window(round);
    let thread = |&side: &Side| {
        let (sent, received) = match side {
            Side::Client => (1000, 990),
            Side::Server => (995, 1000),
            Side::Sender => (1000, 0),
            _ => (0, 990),
        };
        ThreadSample {
            side,
            sent_packets: sent,
            received_packets: received,
            received_bytes: 300 * received,
            cpu_ns: Some(10_000_000),
            ..plain.threads[0].clone()
        }
    };
    let mut buckets = vec![0; bucket_of(50_000) + 1];
    buckets[bucket_of(50_000)] = 990;
    Sample {
        threads: sides.iter().map(thread).collect(),
        accounting: Accounting {
            at_closing: counts(1995, 1990, 5),
            at_end: counts(1995, 1990, 5),
            ..Accounting::default()
        },
        round_trips: Some(RoundTrips {
            times: Histogram::of_counts(buckets),
            sum_ns: 990 * 50_000,
            unanswered: 10,
            late: 0,
            wakeups: Histogram::of_counts([vec![0; 100], vec![60]].concat()),
        }),
        ..plain
    }
}

fn row_of_requests(key: &str, sides: &[Side]) -> Row {
    let case = Case::of_key(&format!("std:std/2t/300B/connected/v4/rr{key}")).expect("a case");
    let samples: Vec<Sample> = (1..=6)
        .map(|round| window_of_requests(round, sides))
        .collect();
    let input = RowInput {
        pin: Some(&two_cpus()),
        ended: Ok(EndedBy::Rounds),
        samples: &samples,
        reference: &samples,
        ..RowInput::skipped(&case, String::new())
    };
    Row::new(&input, &Environment::default())
}

#[test]
fn what_clients_get_is_the_result_and_what_servers_get_is_not() {
    let row = row_of_requests("", &[Side::Client, Side::Server]);
    assert_eq!((row.status, row.unaccounted_packets), (Status::Ok, Some(0)));
    assert_eq!(
        (row.received_pps, row.sent_pps),
        (Some(9900.0), Some(10_000.0))
    );
    // 10 ms of each thread per window, for 6,000 requests sent, 6,000 served, and 5,940 responses.
    assert_eq!(row.sender_cpu_ns_per_packet, Some(10_000.0));
    assert_eq!(row.receiver_cpu_ns_per_packet, Some(10_000.0));
    assert_eq!(row.cpu_ns_per_packet, Some(20_202.0));
    assert_eq!(
        (row.answered_requests, row.unanswered_requests),
        (Some(5940), Some(60))
    );
    let us = |found: Option<f64>| found.expect("there are enough");
    assert!(
        (us(row.rtt_p50_us) / 50.0 - 1.0).abs() < 0.004,
        "{:?}",
        row.rtt_p50_us
    );
    assert_eq!((row.rtt_mean_us, row.rtt_p999_us), (Some(50.0), None));
    assert_eq!(
        (row.ratio_to_std, row.outstanding),
        (Some(1.0), Outstanding::DEFAULT.into())
    );
}

#[test]
fn at_a_rate_both_threads_of_a_client_count_and_speed_is_no_result() {
    let row = row_of_requests("/rate10000", &[Side::Sender, Side::Server, Side::Receiver]);
    assert_eq!(row.received_pps, Some(9900.0));
    assert_eq!(row.sender_cpu_ns_per_packet, Some(20_000.0));
    assert_eq!(row.receiver_cpu_ns_per_packet, Some(10_000.0));
    assert_eq!((row.ratio_to_std, row.outstanding), (None, None));
    assert!(row.rtt_p50_us.is_some(), "1 % fewer than asked for");
}
