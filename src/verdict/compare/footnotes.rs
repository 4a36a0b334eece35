//! Remarks below the table, for facts that its numbers do not show.

use std::collections::BTreeMap;

use super::pairs::cases_word;
use super::{Against, CaseChange, Options, Threshold, Verdict};

/// Returns the remarks, each once.
pub(crate) fn lines(file: &Against, options: Options) -> Vec<String> {
    let mut reasons: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let cases = file.cases.iter().map(|case| ("cases", &case.verdict));
    let engines = file
        .engines
        .iter()
        .map(|engine| ("engines", &engine.verdict));
    for (kind, verdict) in cases.chain(engines) {
        let what = match (verdict, kind) {
            (Verdict::Broken(_), _) => "broken",
            (_, "cases") => "not comparable",
            _ => "engines not judged",
        };
        if let Some(reason) = verdict.reason() {
            *reasons.entry((what, reason)).or_default() += 1;
        }
    }
    let reasons = reasons.into_iter();
    let mut lines: Vec<String> = reasons
        .map(|((what, reason), count)| match (what, count) {
            ("engines not judged", 1) => format!("1 engine not judged: {reason}"),
            _ => format!("{count} {what}: {reason}"),
        })
        .collect();
    lines.extend(file.engines.iter().filter_map(|engine| {
        let where_changed = engine.where_changed(options)?;
        Some(format!("{}: {where_changed}", engine.label))
    }));
    lines.extend(file.remarks.iter().cloned());
    lines.extend(more_rounds(file, options.threshold));
    lines
}

/// Returns the remark on unclear cases, with the fix. An interval shrinks with the square root of the rounds.
fn more_rounds(file: &Against, threshold: Threshold) -> Option<String> {
    let is_unclear = |case: &&CaseChange| case.verdict == Verdict::Unclear;
    let changes = file
        .cases
        .iter()
        .filter(is_unclear)
        .filter_map(|case| case.change);
    let mut widths: Vec<f64> = changes
        .map(|change| (change.high - change.low) / 2.0)
        .collect();
    widths.sort_unstable_by(f64::total_cmp);
    let half = *widths.get(widths.len() / 2)?;
    let (unclear, half, matters) = (cases_word(widths.len()), 100.0 * half, threshold.percent());
    // At a threshold of 0 nothing can be the same.
    let fix = if matters > 0.0 {
        "; four times the --rounds in both runs would at best halve that"
    } else {
        ""
    };
    Some(format!(
        "{unclear} unclear: median interval +-{half:.1} %, threshold {matters} %{fix}"
    ))
}
