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
    let ends = ["sender", "receiver"].iter().enumerate();
    let ends = ends.filter_map(|(n, end)| {
        let all = summed(paths(samples).flat_map(|path| counters(path)[n]));
        let words = all
            .iter()
            .map(|(name, packets)| format!("{name} {packets}"));
        let words: Vec<String> = words.collect();
        (!words.is_empty()).then(|| format!("{end}: {}", words.join(", ")))
    });
    ends.collect::<Vec<_>>().join("; ")
}

/// Returns the path of each window. The two directions of a case have the same two machines, so one is enough.
pub(super) fn paths(samples: &[Sample]) -> impl Iterator<Item = &DirectionCounts> {
    samples.iter().filter_map(|sample| sample.paths.first())
}

/// Adds up counts by name.
pub(super) fn summed<'a, K: Ord>(
    counts: impl IntoIterator<Item = (K, &'a u64)>,
) -> BTreeMap<K, u64> {
    let mut sums = BTreeMap::new();
    for (name, count) in counts {
        *sums.entry(name).or_default() += count;
    }
    sums
}
