//! Remarks below the tables, for facts that their numbers do not show.

use std::collections::{BTreeMap, BTreeSet};

use super::Comparison;
use crate::term::digits::counted;
use crate::verdict::judge::Verdict;
use crate::verdict::judge::percent::percent;

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
    let mut said: BTreeSet<&str> = BTreeSet::new();
    for (noun, verdicts) in kinds {
        let mut reasons: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for verdict in verdicts {
            let what = match verdict {
                Verdict::Broken(_) => "broken",
                Verdict::Undecided(_) => "unclear",
                _ => "not judged",
            };
            if let Some(reason) = verdict.reason().filter(|reason| !said.contains(reason)) {
                *reasons.entry((what, reason)).or_default() += 1;
            }
        }
        said.extend(reasons.keys().map(|(_, reason)| *reason));
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
        format!("The machine: {change} %, the median of the engines not seen to change. Changes are without it.")
    }));
    lines
}
