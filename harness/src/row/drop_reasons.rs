//! The kernel's own reasons for dropping packets, in words.

use std::collections::BTreeMap;

use crate::data::{Path, Sample};

/// `sender: QDISC_DROP 112; receiver: NO_SOCKET 6`, of all windows. Empty: the kernels were not asked, or dropped nothing.
pub(super) fn in_words(samples: &[Sample]) -> String {
    // The other direction, where there is one, has the same two machines.
    let paths = || samples.iter().filter_map(|sample| sample.paths.first());
    let sides = [
        (
            "sender",
            of_all(paths().map(|path: &Path| &path.reasons_at_sender)),
        ),
        (
            "receiver",
            of_all(paths().map(|path| &path.reasons_at_receiver)),
        ),
    ];
    let some = sides.into_iter().filter(|(_, reasons)| !reasons.is_empty());
    let some = some.map(|(side, reasons)| format!("{side}: {reasons}"));
    some.collect::<Vec<_>>().join("; ")
}

fn of_all<'a>(windows: impl Iterator<Item = &'a BTreeMap<String, u64>>) -> String {
    let mut all: BTreeMap<&str, u64> = BTreeMap::new();
    for (reason, packets) in windows.flatten() {
        *all.entry(reason).or_default() += packets;
    }
    let words = all.into_iter();
    let words = words.map(|(reason, packets)| format!("{reason} {packets}"));
    words.collect::<Vec<_>>().join(", ")
}
