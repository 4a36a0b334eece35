//! Chart of the change of each engine, with its interval.

use maud::Markup;

use super::{Row, what};
use crate::report::chart::{Drawn, Look, Scale, Shape, Track, Tracks, WHOLE};
use crate::stats;
use crate::verdict::judge::percent::estimate;
use crate::verdict::judge::{By, Change, Verdict};

/// Draws the changes, the largest first.
pub(super) fn picture(by: By, rows: &[Row]) -> Markup {
    let judged = rows.iter().filter_map(|row| Some((row, row.1.change?)));
    let mut judged: Vec<(&Row, Change)> = judged.collect();
    judged.sort_by(|one, other| other.1.estimate.total_cmp(&one.1.estimate));
    let tracks = judged
        .iter()
        .filter_map(|(row, found)| track(by, row, *found));
    let tracks: Vec<Track> = tracks.collect();
    Tracks {
        unit: "%",
        caption: &format!("{}: change of each engine", what(by)),
        scale: scale(&judged),
        reference: Some(0.0),
    }
    .draw(&tracks)
}

/// Returns an axis that contains every change. Intervals are cut off at three times the median of their farther ends,
/// so that their width stays visible.
fn scale(judged: &[(&Row, Change)]) -> Scale {
    let reaches = judged
        .iter()
        .map(|(_, change)| 100.0 * change.low.abs().max(change.high.abs()));
    let reaches = reaches.filter(|reach| reach.is_finite()).collect();
    let most = 3.0 * stats::median(reaches).unwrap_or(0.0);
    let ends = judged.iter().flat_map(|(_, change)| {
        let ends = [change.low, change.high].map(|end| (100.0 * end).clamp(-most, most));
        [ends[0], ends[1], 100.0 * change.estimate]
    });
    // Changes of less than a percent are not magnified.
    Scale::linear(ends.chain([-1.0, 1.0]).collect::<Vec<f64>>())
}

/// Returns the track of a change, in percent. `None`: the change is not finite.
fn track(by: By, row: &Row, found: Change) -> Option<Track> {
    let (label, answer) = row;
    let verdict = &answer.verdict;
    let (colour, shape) = match verdict {
        Verdict::Better => (3, Shape::Triangle),
        Verdict::Worse => (8, Shape::Tip),
        _ => (7, Shape::Circle),
    };
    let at = Some(100.0 * found.estimate).filter(|value| value.is_finite())?;
    let look = Look {
        colour,
        shape,
        filled: *verdict != Verdict::Unclear,
    };
    let interval = Drawn::Interval {
        low: 100.0 * found.low,
        high: 100.0 * found.high,
        class: "",
        slot: WHOLE,
    };
    Some(Track {
        label: label.clone(),
        drawn: vec![interval, Drawn::Mark { at, look }],
        values: vec![(estimate(Some(found)), verdict.word(by).to_owned())],
    })
}
