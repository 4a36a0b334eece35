//! Says which engines send in bursts at a given rate: they wake less often, and what is sent waits.

use super::BoardRanking;
use super::choices::Labels;

/// Names that of these engines that sends in the longest bursts. `None`: none does, or it is not known.
pub(super) fn in_words(board: &BoardRanking, engines: &Labels) -> Option<String> {
    /// Factor by which gaps are longer if datagrams come in bursts.
    const LONGER: f64 = 4.0;
    let gaps = board.rows.iter().filter_map(|((conditions, label), rows)| {
        let paced = rows.iter().find(|row| row.target_pps.is_some())?;
        Some((conditions, label, paced.gap_p99_us?))
    });
    let bursts = gaps.clone().filter_map(|(conditions, label, us)| {
        let alike = gaps.clone().filter(|(other, ..)| *other == conditions);
        let (_, even, least) = alike.min_by(|(.., one), (.., other)| one.total_cmp(other))?;
        let is_burst = engines.contains(label.as_str()) && us > LONGER * least;
        is_burst.then_some((label, us / 1e3, even, least / 1e3))
    });
    let (label, ms, even, least) = bursts.max_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(format!(
        "{label} wakes less often: it sends in bursts {ms:.2} ms apart (p99; {even} {least:.2} ms)"
    ))
}
