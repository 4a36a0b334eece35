//! Remarks below the tables, for facts that their numbers do not show.

use std::collections::{BTreeMap, BTreeSet};

use super::Comparison;
use crate::text::digits::counted;
use crate::verdict::judge::percent::percent;
use crate::verdict::judge::{Obstacle, Verdict};

/// Returns the remarks, each once.
pub(crate) fn lines(comparison: &Comparison) -> Vec<String> {
    let judgement = &comparison.judgement;
    let engines = judgement.engines.iter().map(|engine| &engine.whole.verdict);
    let cases = judgement.cases.iter().map(|case| &case.answer.verdict);
    let kinds = [
        ("engine", engines.collect::<Vec<_>>()),
        ("case", cases.collect()),
    ];
    let mut lines: Vec<String> = Vec::new();
    let mut said: BTreeSet<String> = BTreeSet::new();
    for (noun, verdicts) in kinds {
        let mut reasons: BTreeMap<(&str, String), usize> = BTreeMap::new();
        for verdict in verdicts {
            let what = match verdict {
                Verdict::Broken(_) => "broken",
                Verdict::Undecided(_) => "unclear",
                _ => "not judged",
            };
            let reason = verdict.reason().map(Obstacle::to_string);
            if let Some(reason) = reason.filter(|reason| !said.contains(reason)) {
                *reasons.entry((what, reason)).or_default() += 1;
            }
        }
        said.extend(reasons.keys().map(|(_, reason)| reason.clone()));
        let reasons = reasons.into_iter();
        lines.extend(
            reasons.map(|((what, reason), count)| {
                format!("{} {what}: {reason}", counted(count, noun))
            }),
        );
    }
    lines.extend(comparison.remarks.iter().cloned());
    lines.extend(comparison.machine.map(|change| {
        let change = percent(change);
        format!("The machine: {change} %, the median of what was not seen to change. Changes are without it.")
    }));
    lines
}
