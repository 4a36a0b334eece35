//! Columns with counters named by the kernel or a driver.

use std::collections::BTreeMap;

use crate::data::{DirectionCounts, Sample};

/// Returns the kernels' reasons for dropped packets in all windows: `sender: QDISC_DROP 112; receiver: NO_SOCKET 6`.
/// Empty: not requested, or nothing dropped.
pub(super) fn drop_reasons(samples: &[Sample]) -> String {
    in_words(samples, |path| {
        [&path.reasons_at_sender, &path.reasons_at_receiver]
    })
}

/// Returns the counters of lost packets at both interfaces in all windows: `receiver: rx_missed_errors 112`. Empty:
/// none moved.
pub(super) fn of_nics(samples: &[Sample]) -> String {
    in_words(samples, |path| [&path.nic_at_sender, &path.nic_at_receiver])
}

fn in_words(
    samples: &[Sample],
    counters: impl Fn(&DirectionCounts) -> [&BTreeMap<String, u64>; 2],
) -> String {
    // The two directions of a case have the same two machines, so one is enough.
    let paths = samples.iter().filter_map(|sample| sample.paths.first());
    let mut ends: [BTreeMap<&str, u64>; 2] = <_>::default();
    for path in paths {
        for (all, of_window) in ends.iter_mut().zip(counters(path)) {
            for (name, packets) in of_window {
                *all.entry(name).or_default() += packets;
            }
        }
    }
    let ends = ["sender", "receiver"].into_iter().zip(ends);
    let some = ends.filter(|(_, counters)| !counters.is_empty());
    let some = some.map(|(end, counters)| {
        let words = counters.into_iter();
        let words = words.map(|(name, packets)| format!("{name} {packets}"));
        format!("{end}: {}", words.collect::<Vec<_>>().join(", "))
    });
    some.collect::<Vec<_>>().join("; ")
}
