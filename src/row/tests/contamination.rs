//! Windows in which something happened that says nothing of the case.

use super::*;

#[test]
fn a_contaminated_window_is_left_out_where_five_clean_ones_remain() {
    // Ten times as fast, and switched out: whatever it is, it is not the case.
    let contaminate = |sample: &mut Sample| {
        sample.lanes[1].received_packets *= 10;
        sample.lanes[1].involuntary_switches = Some(1);
    };
    let mut samples = six();
    contaminate(&mut samples[2]);
    let row = make_row(&samples, &six(), Outcome::Complete(EndedBy::Rounds));
    assert_eq!(
        (row.contaminated_windows, row.left_out_windows),
        (Some(1), Some(1))
    );
    assert_eq!((row.rounds, row.ratio_pairs), (6, Some(5)));
    assert_eq!(row.received_pps_high, Some(200_000.0));
    assert_eq!(row.ratio_to_std_high, Some(1.0));
    // Five values hold their median a little less surely, and every datagram is in the books.
    assert_eq!(row.interval_pct, Some(93.8));
    assert_eq!(row.sent_packets, Some(180_000));

    contaminate(&mut samples[3]);
    let row = make_row(&samples, &six(), Outcome::Complete(EndedBy::Rounds));
    assert_eq!(
        (row.contaminated_windows, row.left_out_windows),
        (Some(2), Some(0))
    );
    assert_eq!(row.received_pps_high, Some(2_000_000.0));
    let warned = |text: &str| row.warnings.iter().any(|warning| warning.contains(text));
    assert!(
        warned("fewer than 5 clean windows") && warned("preempted"),
        "{row:?}"
    );
}

#[test]
fn what_is_left_out_is_in_no_ratio_however_few_pairs_are_clean() {
    let (mut samples, mut reference) = (six(), six());
    samples[2].lanes[1].received_packets *= 100;
    samples[2].lanes[1].involuntary_switches = Some(1);
    reference[1].lanes[1].received_packets /= 10;
    reference[1].lanes[1].involuntary_switches = Some(1);
    let row = make_row(&samples, &reference, Outcome::Complete(EndedBy::Rounds));
    assert_eq!((row.left_out_windows, row.ratio_pairs), (Some(1), Some(5)));
    assert_eq!(row.ratio_to_std_high, Some(10.0));
}

#[test]
fn lanes_that_workers_may_have_switched_out_are_not_contaminated() {
    let mut samples = six();
    for sample in &mut samples {
        sample.lanes[0].involuntary_switches = Some(3);
        let worker = LaneSample {
            side: Side::Worker,
            cpu: None,
            ..sample.lanes[0].clone()
        };
        sample.lanes.push(worker);
    }
    let row = make_row(&samples, &six(), Outcome::Complete(EndedBy::Rounds));
    assert_eq!(
        (row.contaminated_windows, row.disturbed_windows),
        (Some(0), Some(0))
    );
}

#[test]
fn a_ratio_is_clean_only_if_both_its_windows_are() {
    let mut reference = six();
    reference[0].lanes[1].received_packets /= 10;
    reference[0].lanes[1].involuntary_switches = Some(1);
    let row = make_row(&six(), &reference, Outcome::Complete(EndedBy::Rounds));
    assert_eq!(
        (row.contaminated_windows, row.left_out_windows),
        (Some(0), Some(0))
    );
    assert_eq!(
        (row.ratio_pairs, row.ratio_to_std_high),
        (Some(5), Some(1.0))
    );
    reference[1].lanes[1].involuntary_switches = Some(1);
    let row = make_row(&six(), &reference, Outcome::Complete(EndedBy::Rounds));
    assert_eq!(
        (row.ratio_pairs, row.ratio_to_std_high),
        (Some(6), Some(10.0))
    );
    let of_reference = "contaminated windows of the reference are in the ratios";
    assert_eq!(row.warnings, [of_reference]);
}

#[test]
fn lanes_that_share_a_cpu_switch_each_other_out() {
    let mut samples = six();
    for lane in &mut samples[0].lanes {
        (lane.cpu, lane.involuntary_switches) = (Some(0), Some(7));
    }
    let row = make_row(&samples, &six(), Outcome::Complete(EndedBy::Rounds));
    assert_eq!(row.contaminated_windows, Some(0));
}

#[test]
fn two_lanes_that_share_a_cpu_are_judged_together() {
    let mut samples = six();
    for sample in &mut samples {
        sample.lanes[1].cpu = Some(0);
        sample.lanes[0].cpu_ns = Some(68_000_000);
    }
    let row = make_row(&samples, &six(), Outcome::Complete(EndedBy::Rounds));
    assert_eq!(row.disturbed_windows, Some(0));
}
