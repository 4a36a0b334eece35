//! Judges results: which engine is best, whether a change is real, and how far the numbers of a run can be believed.
//!
//! `compare` matches two sets of sweeps; `judge` gives the verdicts, also for `ab` and `find tuning`.

pub mod compare;
pub mod judge;
pub mod quality;
pub mod rank;

use std::collections::BTreeMap;

/// Groups values by their keys. The values of a key keep their order.
pub(crate) fn grouped<K: Ord, V>(pairs: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, Vec<V>> {
    let mut groups: BTreeMap<K, Vec<V>> = BTreeMap::new();
    for (key, value) in pairs {
        groups.entry(key).or_default().push(value);
    }
    groups
}
