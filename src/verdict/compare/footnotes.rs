//! Remarks below the tables, for facts that their numbers do not show.

use std::collections::BTreeMap;

use super::Comparison;
use crate::verdict::judge::Verdict;
use crate::verdict::judge::percent::percent;

/// Returns the remarks, each once.
pub(crate) fn lines(comparison: &Comparison) -> Vec<String> {
    let mut reasons: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let judgement = &comparison.judgement;
    let cases = judgement
        .cases
        .iter()
        .map(|case| ("cases", &case.answer.verdict));
    let engines = judgement
        .engines
        .iter()
        .map(|engine| ("engines", &engine.whole.verdict));
    for (kind, verdict) in cases.chain(engines) {
        let what = match (verdict, kind) {
            (Verdict::Broken(_), _) => "broken",
            (_, "cases") => "not judged",
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
    lines.extend(comparison.remarks.iter().cloned());
    lines.extend(comparison.machine.map(|change| {
        let change = percent(change);
        format!("The machine: {change} %, the median of the engines not seen to change. It is in no verdict.")
    }));
    lines
}
