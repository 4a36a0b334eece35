//! Tests of the warnings in a row.

use super::*;
use crate::host::check::{Problem, Unfit};

#[test]
fn windows_that_mislead_are_named() {
    let warned = |change: fn(&mut Sample)| {
        let mut samples = six();
        change(&mut samples[3]);
        let row = make_row(&samples, &six(), Ok(EndedBy::Rounds));
        texts(&row).join("; ")
    };
    let filling = |windows: usize| {
        let mut samples = six();
        for sample in &mut samples[..windows] {
            sample.accounting.at_closing.received -= 2_000;
        }
        make_row(&samples, &six(), Ok(EndedBy::Rounds)).warnings
    };
    assert_eq!(filling(2), [CaseWarning::QueuesMoved.into()]);
    assert_eq!(filling(1), [], "no estimate is of it");
    let helped = warned(|sample| sample.other_cpu_ns = Some(6 * 12_900_000));
    assert!(helped.contains("used 10 % more CPU time"), "{helped}");
    let hardly_helped = warned(|sample| sample.other_cpu_ns = Some(6 * 1_200_000));
    assert_eq!(hardly_helped, warned(|_| ()), "below 1 % says nothing");
    let unpinned = warned(|sample| sample.threads[1].cpu = None);
    assert!(unpinned.contains("could not be pinned"), "{unpinned}");
    let empty = warned(|sample| sample.threads[1].received_packets = 0);
    assert!(
        empty.contains("nothing was received in a window"),
        "{empty}"
    );
}

#[test]
fn heat_and_slower_clocks_are_named() {
    let pace = |chain_ns| Some(CpuSpeed { cpu: 0, chain_ns });
    let unfit = Problem {
        unfit: Unfit::Conntrack,
        is_remote: false,
    };
    let row_of = |change: &dyn Fn(&mut [Sample])| {
        let mut samples = six();
        change(&mut samples);
        let environment = Environment {
            cpu_speeds: pace(10_000).into_iter().collect(),
            throttles_from_c: Some(80),
            unfit: vec![unfit.clone()],
            ..Environment::default()
        };
        make_row_in(&environment, &samples, &six(), Ok(EndedBy::Rounds))
    };
    let row = row_of(&|_| {});
    assert_eq!(row.warnings, [Warning::Host(unfit.clone())]);
    assert_eq!(row.clock_min_pct, None);
    let slow = |windows: usize, chain_ns| {
        row_of(&move |samples: &mut [Sample]| {
            for sample in &mut samples[..windows] {
                sample.threads[0].pace = pace(chain_ns);
            }
        })
    };
    let row = slow(6, 10_500);
    assert_eq!((row.clock_min_pct, row.warnings.len()), (Some(95.2), 1));
    let warned = |row: &Row, of: &str| {
        row.warnings
            .iter()
            .any(|warning| warning.to_string().contains(of))
    };
    let row = slow(2, 12_500);
    assert_eq!(row.clock_min_pct, Some(80.0));
    assert!(warned(&row, "10 % slower"), "{row:?}");
    // Few slow readings are counted, without a warning.
    let row = slow(1, 12_500);
    assert_eq!(
        (row.clock_min_pct, row.contaminated_windows),
        (Some(80.0), Some(1))
    );
    assert!(!warned(&row, "10 % slower"), "{row:?}");
    let row = row_of(&|samples| samples[3].climate.hottest_millic = Some(80_000));
    assert!(warned(&row, "reached 80 C"), "{row:?}");
    // The throttling was seen in one window and had ended afterwards.
    let row = row_of(&|samples| samples[3].climate.throttle_bits = Some(0x4_0001));
    assert_eq!(row.throttled, "under-voltage+throttled");
    assert!(warned(&row, "under-voltage"), "{row:?}");
    let row = row_of(&|samples| samples[3].climate.cooling = Some(true));
    assert_eq!(row.throttled, "cooled by its clock");
    let row = row_of(&|samples| samples[3].climate.under_voltage = Some(true));
    assert_eq!(row.throttled, "under-voltage");
    // The firmware was not queried, so its throttling is unknown.
    let row = row_of(&|samples| {
        for sample in samples {
            sample.climate.throttle_bits = None;
        }
    });
    assert_eq!(
        (row.throttled, row.warnings.len()),
        ("not by the kernel".to_owned(), 1)
    );
    // A CPU that was not measured at the start has no relative speed.
    let mut samples = six();
    samples[0].threads[0].pace = pace(99);
    let row = make_row(&samples, &[], Ok(EndedBy::Rounds));
    assert_eq!(row.clock_min_pct, None);
}
