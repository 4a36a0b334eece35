//! Forest plot: the change of each engine and its parts, with their intervals and the margin that does not matter.

use maud::Markup;

use super::{Row, look, what};
use crate::report::chart::{Drawn, Scale, Track, Tracks};
use crate::stats;
use crate::verdict::judge::table::{estimate, interval};
use crate::verdict::judge::{By, Question};

/// Draws the changes in their order.
pub(super) fn forest(question: Question, rows: &[Row]) -> Markup {
    let by = question.by;
    let margin = 100.0 * question.threshold.fraction();
    let tracks = rows.iter().filter_map(|row| track(by, row));
    let tracks: Vec<Track> = tracks.collect();
    Tracks {
        columns: &["change %", "verdict"],
        caption: &format!("{}: change of each engine", what(by)),
        scale: scale(rows, margin),
        reference: Some(0.0),
        band: Some((-margin, margin)),
    }
    .draw(&tracks)
}

/// Returns an axis that contains every change and twice the margin. Intervals are cut off at three times the median of
/// their farther ends, so that their width stays visible.
fn scale(rows: &[Row], margin: f64) -> Scale {
    let changes = || rows.iter().filter_map(|row| row.answer.change);
    let reaches = changes().map(|change| 100.0 * change.low.abs().max(change.high.abs()));
    let reaches = reaches.filter(|reach| reach.is_finite()).collect();
    let most = 3.0 * stats::median(reaches).unwrap_or(0.0);
    let ends = changes().flat_map(|change| {
        let ends = [change.low, change.high].map(|end| (100.0 * end).clamp(-most, most));
        [ends[0], ends[1], 100.0 * change.estimate]
    });
    Scale::linear(
        ends.chain([-2.0 * margin, 2.0 * margin])
            .collect::<Vec<f64>>(),
    )
}

/// Returns the track of a change, in percent. `None`: there is no finite change.
fn track(by: By, row: &Row) -> Option<Track> {
    let change = row.answer.change?;
    let verdict = &row.answer.verdict;
    let at = Some(100.0 * change.estimate).filter(|value| value.is_finite())?;
    let drawn = Drawn::Interval {
        low: 100.0 * change.low,
        high: 100.0 * change.high,
    };
    Some(Track {
        label: row
            .part
            .map_or_else(|| row.engine.to_owned(), |part| part.to_string()),
        is_part: row.part.is_some(),
        drawn: vec![
            drawn,
            Drawn::Mark {
                at,
                look: look(verdict),
            },
        ],
        values: vec![
            (estimate(Some(change)), interval(Some(change))),
            (verdict.word(by).to_owned(), String::new()),
        ],
    })
}
