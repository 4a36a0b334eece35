//! Says which engines send in bursts at a given rate: they wake less often, and what is sent waits.

use std::collections::BTreeMap;

use super::choices::Labels;
use super::{BoardRanking, Conditions, RowGroup};
use crate::results::row::Row;

/// The 99th percentile of the time between two datagrams of a flow, in microseconds, by conditions and label.
pub(super) type Gaps = BTreeMap<(Conditions, String), f64>;

/// Collects the gaps of the rows with a given rate.
pub(super) fn gaps<'a>(rows: impl Iterator<Item = &'a Row>) -> Gaps {
    let paced = rows.filter(|row| row.target_pps.is_some());
    let gaps = paced.filter_map(|row| {
        let own = (Conditions::of(&RowGroup::new(row, None)), row.label());
        Some((own, row.gap_p99_us?))
    });
    gaps.collect()
}

/// Names those of these engines that send in bursts. `None`: none does, or it is not known.
pub(super) fn in_words(board: &BoardRanking, engines: &Labels) -> Option<String> {
    /// Factor by which gaps are longer if datagrams come in bursts.
    const LONGER: f64 = 4.0;
    let bursts = board.gaps.iter().filter_map(|((conditions, label), us)| {
        let all = board.gaps.iter().filter(|((of, _), _)| of == conditions);
        let ((_, even), least) = all.min_by(|(_, one), (_, other)| one.total_cmp(other))?;
        let is_burst = engines.contains(label.as_str()) && *us > LONGER * least;
        is_burst.then_some((label, us, even, least))
    });
    let (label, us, even, least) = bursts.max_by(|one, other| one.1.total_cmp(other.1))?;
    let [us, least] = [us, least].map(|us| us / 1e3);
    Some(format!(
        "{label} wakes less often: it sends in bursts {us:.2} ms apart (p99; {even} {least:.2} ms)"
    ))
}
