//! Full queues on the path: accepted datagrams count as sent, refused ones as lost.

use udpbench::results::row::{Row, Warning};

use crate::common::lab::{End, Lab};
use crate::common::swept::{Swept, lost};

const LINE: &str = "20mbit burst 10kb limit 30kb";

fn over(queue: &str, words: &str) -> Option<Vec<Row>> {
    let words = format!("--duration 4s --threads 2 --payload 1460 {words}");
    let swept = Swept::over(Lab::builder().tbf(End::Near, queue), &words)?;
    Some(swept.rows)
}

fn packets(count: Option<u64>) -> u64 {
    count.expect("measured")
}

/// Some twenty of 64 requests fit the queue. The others are refused, and waited for in vain for 250 ms.
#[test]
fn refused_requests_are_sent_once_and_unanswered() {
    let words = "--direction up --workload rr --outstanding 64 --engine std,mmsg,tokio";
    let Some(rows) = over(LINE, words) else {
        return;
    };
    for row in &rows {
        assert!(packets(row.unanswered_requests) > 0, "{row:?}");
        // Each refused request is waited for, but for those under way at both edges of the 5 windows.
        let at_edges = 5 * 2 * 64;
        let (dropped, unanswered) = (row.dropped_qdisc_packets, row.unanswered_requests);
        assert!(
            packets(dropped) <= packets(unanswered) + at_edges,
            "{row:?}"
        );
    }
}

#[test]
fn requests_at_a_rate_are_sent_once_and_unanswered_where_the_queue_is_full() {
    let words = "--direction up --workload rr --rate 4k --engine std";
    let Some(rows) = over(LINE, words) else {
        return;
    };
    for row in &rows {
        let asked = packets(row.answered_requests) + packets(row.unanswered_requests);
        assert!(packets(row.unanswered_requests) > asked / 4, "{row:?}");
    }
}

/// They are handed over at their rate, whatever the queue takes.
#[test]
fn a_rate_is_reached_although_most_is_refused() {
    let Some(rows) = over(LINE, "--direction up --rate 4k --engine std,mmsg") else {
        return;
    };
    for row in &rows {
        assert!(packets(row.dropped_qdisc_packets) > 0, "{row:?}");
        let is_short = |it: &Warning| it.code() == "rate-not-kept";
        let sent_pps = row.sent_pps.expect("measured");
        // On a busy machine, threads may be late. That is said from 2 % on.
        let is_said = row.warnings.iter().any(is_short);
        assert!(is_said || sent_pps > 3800.0, "{row:?}");
    }
}

#[test]
fn a_batch_for_which_the_send_buffer_has_no_room_is_no_failure() {
    let words = "--direction up,both --wait spin --engine mmsg,uring";
    // A quarter of a full buffer takes 55 ms to leave: the fullness is asked for after the call.
    let Some(rows) = over("5mbit burst 10kb limit 3mb", words) else {
        return;
    };
    for row in &rows {
        assert_eq!(row.failed_calls, Some(0), "{row:?}");
        assert_eq!(row.refused_packets, Some(0), "{row:?}");
        assert_eq!(row.dropped_qdisc_packets, Some(0), "{row:?}");
    }
}

/// A datagram that came twice does not stand for one that is still under way when the senders stop.
#[test]
fn a_path_that_repeats_and_delays_is_waited_for() {
    let lab =
        Lab::builder().test_wire("count size 300; a>b duplicate every 2; a>b delay all by 20ms");
    let words = "--direction up --engine std --threads 2 --payload 300 --rate 5k --duration 200ms";
    let Some(swept) = Swept::over(lab, words) else {
        return;
    };
    let row = swept.the_row();
    let (sent, received) = (row.sent_packets, row.received_packets);
    assert_eq!(row.unread_packets, Some(0), "{row:?}");
    assert!(received > sent, "{row:?}");
    assert_eq!(lost(row), [0; 8], "{row:?}");
    let repeated = |it: &Warning| it.code() == "left-unread";
    assert!(!row.warnings.iter().any(repeated), "{row:?}");
}
