//! Tests of rates, flows and busy polling.

use super::*;
use crate::data::{Pacing, PolledBy, Side, bucket_of};
use crate::results::row::tests::{six, window};

/// Returns the warning for windows of 100 ms in which `sent` datagrams at a rate of 10,000 per second were sent.
fn kept(key: &str, sent: u64) -> Option<CaseWarning> {
    of_engine("std:std", key, sent)
}

fn of_engine(engines: &str, key: &str, sent: u64) -> Option<CaseWarning> {
    let key = format!("{engines}/2t/125B/connected/v4{key}");
    let case = Case::of_key(&key).expect("a case");
    let mut samples = six();
    for sample in &mut samples {
        sample.threads[0].sent_packets = sent;
    }
    let sender = EngineProperties::known(case.sender).expect("a known engine");
    not_kept(&case, &sender, &samples)
}

#[test]
fn a_rate_that_was_not_kept_is_said() {
    for rate in ["/rate10000", "/rate10Mbit"] {
        assert_eq!(kept(rate, 985), None, "{rate}");
        let said = kept(rate, 970).expect(rate);
        let expected = "9700 datagrams per second were sent instead of 10000 (late_packets)";
        assert!(said.to_string().contains(expected), "{said}");
    }
    assert_eq!(kept("/rate10000", 1015), None);
    let said = kept("/rate10000", 1030).expect("too many");
    assert!(said.to_string().contains("was late before"), "{said}");
    // The standard deviation of 6,000 random arrivals is 77; four times that is 5 %.
    assert_eq!(kept("/rate10000/poisson", 960), None);
    assert!(kept("/rate10000/poisson", 940).is_some());
    assert_eq!(kept("", 1), None, "no rate was given");
    assert_eq!(kept("/rr/rate10000", 1), None, "no flood");
    // One train at both edges.
    assert_eq!(of_engine("gso:gro", "/rate10000", 1000 - 250), None);
    assert!(of_engine("gso:gro", "/rate10000", 1000 - 260).is_some());
}

#[test]
fn late_datagrams_are_those_of_all_windows() {
    let mut samples = six();
    assert_eq!(late(&samples), None);
    for sample in &mut samples {
        sample.pacing = Some(Pacing {
            late: 7,
            ..Pacing::default()
        });
    }
    assert_eq!(late(&samples), Some(42));
}

#[test]
fn gaps_are_those_of_the_stamps_if_each_window_has_some() {
    let of_ns = |ns: u64| {
        let bucket = bucket_of(ns);
        Histogram::of_counts((0..=bucket).map(|it| if it == bucket { 50 } else { 0 }))
    };
    let mut samples = six();
    assert!(Gaps::of(&samples).is_none());
    for sample in &mut samples {
        sample.pacing = Some(Pacing {
            late: 0,
            transmit_gaps: of_ns(100_000),
            call_end_gaps: of_ns(200_000),
        });
    }
    let gaps = Gaps::of(&samples).expect("there are some");
    assert_eq!(gaps.source, "kernel");
    let median = gaps.quantile_us(0.5).expect("300 are enough");
    assert!((median / 100.0 - 1.0).abs() < 0.004, "{median}");
    assert!(gaps.quantile_us(0.99).is_some() && gaps.quantile_us(0.999).is_none());
    if let Some(pacing) = &mut samples[3].pacing {
        pacing.transmit_gaps = Histogram::default();
    }
    let gaps = Gaps::of(&samples).expect("there are some");
    assert_eq!(gaps.source, "calls");
    let longest = gaps.longest_us().expect("there is one");
    assert!((longest / 200.0 - 1.0).abs() < 0.004, "{longest}");
}

/// Returns the warning for windows of 100 ms in which `answered` requests at a rate of 10,000 per second got a
/// response.
fn overload_of(key: &str, answered: [u64; 6]) -> Option<CaseWarning> {
    let case = Case::of_key(&format!("std:std/2t/300B/connected/v4/rr/{key}"));
    let mut samples = six();
    for (sample, answered) in samples.iter_mut().zip(answered) {
        sample.threads[1].received_packets = answered;
    }
    overload(&case.expect("a case"), &samples)
}

#[test]
fn above_capacity_is_where_fewer_are_answered_than_chance_would_have_it() {
    for enough in [[1000; 6], [985; 6], [1100, 900, 1000, 1000, 1000, 1000]] {
        assert_eq!(overload_of("rate10000", enough), None, "{enough:?}");
    }
    let too_few = overload_of("rate10000", [970; 6]).expect("3 % fewer");
    let expected =
        "above capacity: of 10000 requests per second 9700 were answered, so no round trips";
    assert_eq!(too_few.to_string(), expected);
    // The standard deviation of 6,000 random arrivals is 77; four times that is 5 %.
    assert_eq!(overload_of("rate10000/poisson", [960; 6]), None);
    assert!(overload_of("rate10000/poisson", [940; 6]).is_some());
    assert_eq!(
        overload_of("outstanding2", [1; 6]),
        None,
        "no rate was given"
    );
}

#[test]
fn requests_that_were_lost_on_the_way_are_no_capacity() {
    let case = Case::of_key("std:std/2t/300B/connected/v4/rr/rate10000").expect("a case");
    let of = |lost: u64| {
        let mut samples = six();
        for sample in &mut samples {
            // One of five requests has no response; one of nine datagrams sent was lost.
            let [client, server] = &mut sample.threads[..] else {
                panic!("two threads");
            };
            (client.side, server.side) = (Side::Client, Side::Server);
            (client.sent_packets, server.sent_packets) = (1000, 800);
            (client.received_packets, server.received_packets) = (800, 800);
            let end = &mut sample.accounting.at_end;
            (end.sent, end.received, end.dropped_socket) = (1800, 1800 - lost, 0);
        }
        let warning = overload(&case, &samples);
        warning.expect("fewer were answered").to_string()
    };
    let answered = "of 10000 requests per second 8000 were answered";
    assert_eq!(
        of(200),
        format!("{answered}, as datagrams were lost on the way, so no round trips")
    );
    assert_eq!(
        of(150),
        format!("above capacity: {answered}, so no round trips")
    );
}

/// Returns the fairness of two windows of 100 ms.
fn fairness_of(flows: &[u64]) -> Option<Fairness> {
    let mut samples = six();
    samples.truncate(2);
    for sample in &mut samples {
        sample.flow_packets = flows.to_vec();
    }
    Fairness::of(&samples)
}

#[test]
fn the_index_is_one_where_all_get_the_same_and_small_where_few_do() {
    let index = |flows: &[u64]| fairness_of(flows).and_then(|fairness| fairness.jains_index);
    assert_eq!(index(&[7, 7, 7, 7]), Some(1.0));
    assert_eq!(index(&[7, 0, 0, 0]), Some(0.25));
    assert_eq!(index(&[1, 2, 3, 4]), Some(0.8333));
    assert_eq!(index(&[0, 0]), None);
    assert!(fairness_of(&[]).is_none());
}

#[test]
fn the_slowest_and_the_fastest_and_who_got_nothing() {
    let fairness = fairness_of(&[30, 10, 0, 0]).expect("many flows");
    assert_eq!(fairness.starved, 2);
    assert_eq!(
        (fairness.slowest_pps, fairness.fastest_pps),
        (Some(0.0), Some(300.0))
    );
}

#[test]
fn a_row_says_what_polled_and_whether_that_had_an_effect() {
    let polled = |by: &[PolledBy], napi_sockets| Sample {
        busy_polled: Some(BusyPolled {
            by: by.iter().copied().collect(),
            sockets: 2,
            napi_sockets,
        }),
        ..window(1)
    };
    let both = [PolledBy::Epoll, PolledBy::Socket];
    let half = [polled(&both, 2), polled(&both, 0)];
    assert_eq!(
        (busy_polled_by(&half), napi_pct(&half)),
        ("socket+epoll".to_owned(), Some(50.0))
    );
    assert_eq!(busy_poll_without_effect(&half), None);
    let loopback = [polled(&both, 0)];
    assert_eq!(
        busy_poll_without_effect(&loopback),
        Some(CaseWarning::NothingToPoll)
    );
    let undone = [polled(&[], 2)];
    assert_eq!(
        busy_poll_without_effect(&undone),
        Some(CaseWarning::BusyPollUndone)
    );
    let off = [window(1)];
    assert_eq!(
        (
            busy_polled_by(&off),
            napi_pct(&off),
            busy_poll_without_effect(&off)
        ),
        (String::new(), None, None)
    );
}
